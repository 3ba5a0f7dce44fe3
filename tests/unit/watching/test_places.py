"""The folders that a record makes worth hearing of, and what is made of events in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.project.changes import EventHints, WatchedPlaces
from duvet.tree.file_events import MODIFIED_EVENT, FolderEvent
from duvet.tree.files import DiskTree
from duvet.tree.recorder import TreeRecord, make_file_stamp
from tests.cli.made import make

ADDED = 1


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make(tmp_path, {"project/src/a.rs": "", "project/docs/old/spec.md": "", "specs/spec.md": "", "other/b.rs": ""})
    (tmp_path / "project" / "link").symlink_to("../other")
    (tmp_path / "project" / "b.rs").symlink_to("../other/b.rs")
    return tmp_path / "project"


def places(root: Path, *absent: str) -> WatchedPlaces:
    """Those of files that were to be read."""
    return WatchedPlaces(TreeRecord(absent=dict.fromkeys(absent)), DiskTree(str(root)))


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


HINTS: dict[str, tuple[FolderEvent, EventHints]] = {
    "a file": ((MODIFIED_EVENT, "project/src/a.rs"), EventHints({"src/a.rs"})),
    "another file": ((ADDED, "project/src/b.rs"), EventHints({"src/b.rs"}, listing=True)),
    "a file where no name was listed": ((ADDED, "project/other.md"), EventHints({"other.md"})),
    "a file behind a link": ((MODIFIED_EVENT, "other/b.rs"), EventHints({"b.rs", "link/b.rs"})),
    "a folder around": ((ADDED, "project/src"), EventHints({"src"}, whole=True)),
    "a folder that a link leads to": ((ADDED, "other"), EventHints(set(), whole=True)),
    "a link to a folder": ((ADDED, "project/link"), EventHints({"link"}, whole=True)),
    "a folder elsewhere": ((ADDED, "elsewhere"), EventHints(set())),
}


@pytest.mark.parametrize("event, expected", HINTS.values(), ids=HINTS)
def test_hints(event: FolderEvent, expected: EventHints, root: Path) -> None:
    disk = DiskTree(str(root))
    listed = {"src": make_file_stamp(disk.marks("src"))}
    record = TreeRecord(folders=listed, absent=dict.fromkeys(("src/a.rs", "link/b.rs", "b.rs")))
    kind, path = event
    assert WatchedPlaces(record, disk).hints([(kind, f"{root.parent}/{path}")]) == expected
