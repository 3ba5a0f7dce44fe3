"""Files that are read twice, and written to in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.tree.files import DiskTree
from duvet.tree.recorder import FileChangedError, RecordedTree


def test_what_has_changed_can_be_begun_anew_with(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("first")
    tree = RecordedTree(DiskTree(str(tmp_path)), pinned={})
    assert tree.read("a") == tree.read_again("a") == b"first"
    path.write_text("second")
    with pytest.raises(FileChangedError, match="it has changed meanwhile") as raised:
        tree.read_again("a")
    path.write_text("third")
    again = RecordedTree(DiskTree(str(tmp_path)), pinned={"a": raised.value.look})
    assert again.read("a") == again.read_again("a") == b"second"
    # What is kept is about the text that was read: who looks later sees that it is another.
    seen = again.record.files["a"]
    assert again.compare_stamp("a", seen) is not None
    assert RecordedTree(DiskTree(str(tmp_path))).compare_stamp("a", seen) is None


def test_who_can_not_begin_anew_reads_on(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("first")
    tree = RecordedTree(DiskTree(str(tmp_path)))
    assert tree.read("a") == b"first"
    path.write_text("second")
    assert tree.read_again("a") == b"second"
