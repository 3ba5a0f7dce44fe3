"""Trees that have been asked, and what is done to their files in between."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from duvet.errors import UnreadableError
from duvet.tree.files import DiskTree
from duvet.tree.recorder import RecordedTree, check_unchanged

LATER = time.time_ns() + 3600 * 10**9
"""A time at which nothing that a test writes is fresh any more."""


def asked(root: Path, now: int = LATER) -> RecordedTree:
    """A tree that has been asked one question of each kind."""
    tree = RecordedTree(DiskTree(str(root)), now)
    assert tree.read("src/a.rs") == b"one"
    assert sorted(entry.name for entry in tree.entries("src")) == ["a.rs", "b.rs", "deep"]
    assert [entry.is_dir() for entry in tree.entries("") if entry.name == "link"] == [True]
    assert list(tree.entries("nowhere")) == []
    with pytest.raises(UnreadableError):
        tree.read("gone.rs")
    assert tree.is_file("src/a.rs") and not tree.is_file("src")
    assert tree.exists("src/b.rs") and not tree.exists("c.rs")
    tree.identity("src")
    return tree


def same(tree: RecordedTree, now: int = LATER) -> bool:
    return check_unchanged(tree.record, RecordedTree(tree.disk, now)) is not None


def rewrite(path: Path, text: str) -> None:
    """Change a file and leave its size and its time as they were."""
    info = path.stat()
    path.write_text(text)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def make_folder(path: Path) -> None:
    """Put a folder in the place of a file."""
    path.unlink()
    path.mkdir()


def replace_folder(path: Path) -> None:
    """Put another folder in its place."""
    path.rename(path.with_name("old"))
    path.mkdir()
