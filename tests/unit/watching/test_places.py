"""The folders that a record makes worth hearing of, and what is made of events in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.tree.disk import DiskTree
from duvet.tree.record import Record
from duvet.tree.seen import marks
from duvet.watching.notices import MODIFIED, Event
from duvet.watching.places import Hints, Places
from tests.cli.made import make

ADDED = 1


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make(tmp_path, {"project/src/a.rs": "", "project/docs/old/spec.md": "", "specs/spec.md": "", "other/b.rs": ""})
    (tmp_path / "project" / "link").symlink_to("../other")
    (tmp_path / "project" / "b.rs").symlink_to("../other/b.rs")
    return tmp_path / "project"


def places(root: Path, *absent: str) -> Places:
    """Those of files that were to be read."""
    return Places(Record(absent=dict.fromkeys(absent)), DiskTree(str(root)))


FOLDERS = {
    "src/a.rs": {"", "src"},
    "docs/new/spec.md": {"", "docs"},
    "docs/old/spec.md": {"", "docs", "docs/old"},
    "../specs/spec.md": {"", "..", "../specs"},
    "link/b.rs": {"", "../other"},
    "b.rs": {"", "../other"},
}


@pytest.mark.parametrize("path, expected", FOLDERS.items(), ids=FOLDERS)
def test_folders(path: str, expected: set[str], root: Path) -> None:
    assert places(root, path).folders == {str((root / name).resolve()) for name in expected}


def test_a_path_from_the_top(root: Path) -> None:
    """Folders that hold the project are watched as far down as both are in."""
    path = f"{root.parent}/specs/spec.md"
    assert places(root, path).folders == {str(root), str(root.parent), f"{root.parent}/specs"}


def test_folders_that_come_after_all(root: Path) -> None:
    found = places(root, "docs/new/spec.md")
    assert not found.grown()
    (root / "docs" / "new").mkdir()
    assert found.grown()
    assert not places(root, "docs/new/spec.md").grown()


HINTS: dict[str, tuple[Event, Hints]] = {
    "a file": ((MODIFIED, "project/src/a.rs"), Hints({"src/a.rs"})),
    "another file": ((ADDED, "project/src/b.rs"), Hints({"src/b.rs"}, listing=True)),
    "a file where no name was listed": ((ADDED, "project/other.md"), Hints({"other.md"})),
    "a file behind a link": ((MODIFIED, "other/b.rs"), Hints({"b.rs", "link/b.rs"})),
    "a folder around": ((ADDED, "project/src"), Hints({"src"}, whole=True)),
    "a folder that a link leads to": ((ADDED, "other"), Hints(set(), whole=True)),
    "a link to a folder": ((ADDED, "project/link"), Hints({"link"}, whole=True)),
    "a folder elsewhere": ((ADDED, "elsewhere"), Hints(set())),
}


@pytest.mark.parametrize("event, expected", HINTS.values(), ids=HINTS)
def test_hints(event: Event, expected: Hints, root: Path) -> None:
    disk = DiskTree(str(root))
    listed = {"src": marks(disk.marks("src"))}
    record = Record(folders=listed, absent=dict.fromkeys(("src/a.rs", "link/b.rs", "b.rs")))
    kind, path = event
    assert Places(record, disk).hints([(kind, f"{root.parent}/{path}")]) == expected
