"""A small project that is followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.cli.made import KETTLE, make
from tests.unit.watching.following import Following

Follow = Callable[..., Following]


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    """A project, with folders around it and in it that are none of its inputs."""
    make(tmp_path / "elsewhere", {"deep/x.rs": "", "y.rs": ""})
    return make(tmp_path / "kettle", {**KETTLE, "docs/notes.md": "", "node_modules/a/b/c.rs": ""})


@pytest.fixture
def follow(kettle: Path) -> Iterator[Follow]:
    """Follows the project until the end of the test."""
    followed: list[Following] = []

    def begin(environ: Mapping[str, str] | None = None) -> Following:
        followed.append(Following(kettle, environ))
        return followed[-1]

    yield begin
    for one in followed:
        one.changes.__exit__(None, None, None)
