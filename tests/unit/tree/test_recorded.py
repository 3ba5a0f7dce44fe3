"""Whether a record notices whatever would change an answer, and nothing else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from duvet.errors import UnreadableError
from duvet.tree.files import DiskTree
from duvet.tree.recorder import RecordedTree, check_unchanged, digest_content
from tests.unit.tree.asking import LATER, asked, make_folder, replace_folder, rewrite, same


def swap_link(root: Path) -> None:
    """Lead the link elsewhere without a trace in its folder."""
    info = root.stat()
    (root / "other").mkdir()
    os.utime(root, ns=(info.st_atime_ns, info.st_mtime_ns))
    shutil.rmtree(root / "src")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file is longer": lambda root: (root / "src" / "a.rs").write_text("three"),
    "a file is as long and as old": lambda root: rewrite(root / "src" / "a.rs", "ONE"),
    "a file is touched": lambda root: os.utime(root / "src" / "a.rs"),
    "a file is replaced": lambda root: (root / "src" / "a.rs").rename(root / "src" / "b.rs"),
    "a file is a folder": lambda root: make_folder(root / "src" / "a.rs"),
    "a file more": lambda root: (root / "src" / "c.rs").touch(),
    "a file less": lambda root: (root / "src" / "b.rs").unlink(),
    "a file by another name": lambda root: (root / "src" / "b.rs").rename(root / "src" / "c.rs"),
    "what was absent is there": lambda root: (root / "gone.rs").touch(),
    "a folder that was absent is there": lambda root: (root / "nowhere").mkdir(),
    "a link leads to nothing": swap_link,
}


@pytest.mark.parametrize("now", [0, LATER], ids=["by content", "by time"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change(name: str, now: int, root: Path) -> None:
    tree = asked(root, now)
    assert same(tree)
    CHANGES[name](root)
    assert not same(tree)


def test_what_nobody_asked_for_may_change(root: Path) -> None:
    tree = asked(root)
    (root / "src" / "b.rs").write_text("another")
    (root / "src" / "deep" / "d.rs").write_text("more")
    assert same(tree)


def test_times_that_prove_nothing(root: Path) -> None:
    ##= man/spec/cache.md#freshness
    ##= type=test
    ##% duvet MUST compare the content of a file that changed less than two seconds before it was read, or later.
    info = (root / "src" / "a.rs").stat()
    second = 10**9
    for now, content in ((info.st_ctime_ns + second, digest_content(b"one")), (info.st_ctime_ns + 3 * second, b"")):
        tree = asked(root, now)
        assert tree.record.files["src/a.rs"].digest == content
        assert bool(tree.record.folders["src"].digest) is bool(content)


def test_what_was_compared_by_content_is_trusted_in_the_end(root: Path) -> None:
    tree = asked(root, 0)
    renewed = check_unchanged(tree.record, RecordedTree(tree.disk, LATER))
    assert renewed is not None and renewed is not tree.record
    assert {one.digest for one in (*renewed.files.values(), *renewed.folders.values())} == {b""}
    assert check_unchanged(renewed, RecordedTree(tree.disk, LATER)) is renewed
    again = check_unchanged(tree.record, RecordedTree(tree.disk, 0))
    assert again is tree.record


def test_marks_that_are_equal_by_chance(root: Path) -> None:
    """A clock that stands still: all marks are the same, and only the content tells."""
    path = root / "src" / "a.rs"
    tree = asked(root, 0)
    path.write_text("ONE")
    info = path.stat()
    was = tree.record.files["src/a.rs"]
    tree.record.files["src/a.rs"] = type(was)(3, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, was.digest)
    assert not same(tree)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_fault_is_no_answer(root: Path) -> None:
    os.mkfifo(root / "pipe.rs")
    tree = asked(root)
    with pytest.raises(UnreadableError):
        tree.read("pipe.rs")
    assert not tree.record.settled and not same(tree)


def test_work_within_work(root: Path) -> None:
    tree = RecordedTree(DiskTree(str(root)), LATER)
    tree.read("src/a.rs")
    with tree.recording() as inner:
        tree.read("src/b.rs")
    assert list(inner.files) == ["src/b.rs"]
    assert list(tree.record.files) == ["src/a.rs", "src/b.rs"]


def test_a_file_that_is_still_the_same(root: Path) -> None:
    seen = asked(root).record.files["src/a.rs"]
    tree = RecordedTree(DiskTree(str(root)), LATER)
    assert tree.recall_stamp("src/a.rs", seen) == seen and tree.record.files == {"src/a.rs": seen}
    assert tree.recall_stamp("src/b.rs", seen) is None and tree.recall_stamp("gone.rs", seen) is None


@pytest.mark.parametrize("name", ["cache", "knowledge"])
def test_what_duvet_keeps_is_no_part_of_a_tree(root: Path, name: str) -> None:
    folder = root / "sub" / ".duvet" / name
    folder.mkdir(parents=True)
    (folder / "sources").touch()
    tree = RecordedTree(DiskTree(str(root)), LATER)
    for one in (tree, tree.disk):
        assert list(one.entries(f"sub/.duvet/{name}")) == list(one.entries("sub/.duvet")) == []
        assert not one.exists(f"sub/.duvet/{name}")
    assert list(tree.record.folders) == ["sub/.duvet"]
    (root / "led").symlink_to("sub/.duvet")
    assert list(tree.entries(f"led/{name}")) == list(tree.entries("led")) == []
    (root / "my.duvet" / name).mkdir(parents=True)
    (root / "my.duvet" / name / "mine.rs").touch()
    assert [entry.name for entry in tree.entries(f"my.duvet/{name}")] == ["mine.rs"]


@pytest.mark.parametrize("mark", ["size", "modified", "changed", "inode"])
def test_each_mark_tells(mark: str, root: Path) -> None:
    tree = asked(root)
    for looks in (tree.record.files, tree.record.folders):
        path, seen = next(iter(looks.items()))
        other = replace(seen, **{mark: getattr(seen, mark) + 1})
        assert same(tree)
        looks[path] = other
        assert not same(tree)
        looks[path] = seen


def test_a_folder_that_is_another_one(root: Path) -> None:
    tree = RecordedTree(DiskTree(str(root)), LATER)
    tree.identity("src")
    assert same(tree)
    replace_folder(root / "src")
    assert not same(tree)


def test_what_was_written(root: Path) -> None:
    tree = RecordedTree(DiskTree(str(root)), LATER)
    (root / "out").write_text("done")
    tree.note_written("out", digest_content(b"done"))
    assert same(tree)
    (root / "out").write_text("gone")
    assert not same(tree)
    assert tree.note_written("nowhere/out", b"") is None
    assert not tree.record.settled
