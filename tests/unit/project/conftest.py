"""A small project whose changes are followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Timer

import pytest

from duvet.errors import DuvetError
from duvet.project.changes import ChangeWatcher
from duvet.project.project import Project
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree
from tests.cli.sample_project import KETTLE, make

Follow = Callable[..., "Following"]
LONGEST = 60  # Seconds after which a change that has not been noticed never will be.


class Following:
    """Reads a project, and notices its changes."""

    def __init__(self, folder: Path, environ: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.changes = ChangeWatcher(environ)
        self.read()

    def read(self) -> None:
        self.changes.follow(self.project())

    def project(self) -> Project:
        """The project as it was last read."""
        root = "" if self.folder == Path() else str(self.folder)
        cache = DiskCache(DiskTree(root), {})
        project = Project(root, environ=cache.environ, tree=cache.tree, memory=cache)
        with suppress(DuvetError):
            assert project.trace
        cache.save()
        return project

    def next(self) -> tuple[str, ...] | None:
        """Return what changed; None if nothing was noticed."""
        timer = Timer(LONGEST, self.changes.stop)
        timer.start()
        try:
            return self.changes.wait()
        finally:
            timer.cancel()


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    """Make a project with folders, around it and inside, that are not its inputs."""
    make(tmp_path / "elsewhere", {"deep/x.rs": "", "y.rs": ""})
    return make(tmp_path / "kettle", {**KETTLE, "docs/notes.md": "", "node_modules/a/b/c.rs": ""})


@pytest.fixture
def follow(kettle: Path) -> Iterator[Follow]:
    """Follow the project until the end of the test."""
    followed: list[Following] = []

    def begin(environ: Mapping[str, str] | None = None) -> Following:
        followed.append(Following(kettle, environ))
        return followed[-1]

    yield begin
    for one in followed:
        one.changes.__exit__(None, None, None)
