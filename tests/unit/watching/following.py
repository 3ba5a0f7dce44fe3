"""A project that is read again after each change, as a server does it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Timer

from duvet.errors import DuvetError
from duvet.project.changes import ChangeWatcher
from duvet.project.project import Project
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree

LONGEST = 60
"""Seconds after which a change that has not been noticed never will be."""


class Following:
    """Reads a project, and hears of changes to it."""

    def __init__(self, folder: Path, environ: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.changes = ChangeWatcher(environ)
        self.read()

    def read(self) -> None:
        """Read all of it, and follow it."""
        self.changes.follow(self.project())

    def project(self) -> Project:
        """The project, as it was read just now."""
        root = "" if self.folder == Path() else str(self.folder)
        cache = DiskCache(DiskTree(root), {})
        project = Project(root, environ=cache.environ, tree=cache.tree, memory=cache)
        with suppress(DuvetError):
            assert project.trace
        cache.save()
        return project

    def next(self) -> tuple[str, ...] | None:
        """What has changed; None where nothing is noticed."""
        timer = Timer(LONGEST, self.changes.stop)
        timer.start()
        try:
            return self.changes.wait()
        finally:
            timer.cancel()
