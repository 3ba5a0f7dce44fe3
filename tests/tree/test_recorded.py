"""Whether a record notices whatever would change an answer, and nothing else."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from duvet.errors import UnreadableError
from duvet.tree.disk import DiskTree
from duvet.tree.recorded import RecordedTree
from duvet.tree.seen import digest
from duvet.tree.unchanged import unchanged

LATER = time.time_ns() + 3600 * 10**9
"""A time at which nothing that a test writes is fresh any more."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "a.rs").write_text("one")
    (tmp_path / "src" / "b.rs").write_text("two")
    (tmp_path / "link").symlink_to("src")
    return tmp_path


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
    return unchanged(tree.record, RecordedTree(tree.disk, now)) is not None


def rewrite(path: Path, text: str) -> None:
    """Change a file and leave its size and its time as they were."""
    info = path.stat()
    path.write_text(text)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def make_folder(path: Path) -> None:
    """Put a folder in the place of a file."""
    path.unlink()
    path.mkdir()


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
    ##% A file that changed within two seconds of being read, or after, MUST be compared by its content.
    info = (root / "src" / "a.rs").stat()
    second = 10**9
    for now, content in ((info.st_ctime_ns + second, digest(b"one")), (info.st_ctime_ns + 3 * second, b"")):
        tree = asked(root, now)
        assert tree.record.files["src/a.rs"].digest == content
        assert bool(tree.record.folders["src"].digest) is bool(content)


def test_what_was_compared_by_content_is_trusted_in_the_end(root: Path) -> None:
    tree = asked(root, 0)
    renewed = unchanged(tree.record, RecordedTree(tree.disk, LATER))
    assert renewed is not None and renewed is not tree.record
    assert {one.digest for one in (*renewed.files.values(), *renewed.folders.values())} == {b""}
    assert unchanged(renewed, RecordedTree(tree.disk, LATER)) is renewed
    again = unchanged(tree.record, RecordedTree(tree.disk, 0))
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
    ##= man/spec/cache.md#freshness
    ##= type=test
    ##% An answer that a fault went into, such as a file that can't be read or a download that fails, MUST NOT be kept.
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
    assert tree.still("src/a.rs", seen) == seen and tree.record.files == {"src/a.rs": seen}
    assert tree.still("src/b.rs", seen) is None and tree.still("gone.rs", seen) is None


def test_the_cache_is_no_part_of_a_tree(root: Path) -> None:
    ##= man/spec/cache.md#keeping
    ##= type=test
    ##% Patterns MUST NOT match what is in the cache.
    folder = root / "sub" / ".duvet" / "cache"
    folder.mkdir(parents=True)
    (folder / "sources").touch()
    tree = RecordedTree(DiskTree(str(root)), LATER)
    for one in (tree, tree.disk):
        assert list(one.entries("sub/.duvet/cache")) == list(one.entries("sub/.duvet")) == []
        assert not one.exists("sub/.duvet/cache")
    assert list(tree.record.folders) == ["sub/.duvet"]
    (root / "led").symlink_to("sub/.duvet")
    assert list(tree.entries("led/cache")) == list(tree.entries("led")) == []
    (root / "my.duvet" / "cache").mkdir(parents=True)
    (root / "my.duvet" / "cache" / "mine.rs").touch()
    assert [entry.name for entry in tree.entries("my.duvet/cache")] == ["mine.rs"]


QUESTIONS: dict[str, tuple[Callable[[RecordedTree], object], Callable[[Path], object]]] = {
    "a file": (lambda tree: tree.read("src/a.rs"), lambda root: (root / "src" / "a.rs").write_text("ONE")),
    "a folder": (lambda tree: list(tree.entries("src")), lambda root: (root / "src" / "c.rs").touch()),
    "a regular file": (lambda tree: tree.is_file("src/a.rs"), lambda root: make_folder(root / "src" / "a.rs")),
    "anything": (lambda tree: tree.exists("c.rs"), lambda root: (root / "c.rs").touch()),
    "identity": (lambda tree: tree.identity("src"), lambda root: replace_folder(root / "src")),
    "where a link leads": (
        lambda tree: [entry.is_dir() for entry in tree.entries("") if entry.name == "link"],
        lambda root: (root / "src").rename(root / "elsewhere"),
    ),
}


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


def test_a_folder_that_came_between_two_looks(root: Path) -> None:
    tree = RecordedTree(DiskTree(str(root)), LATER)
    assert list(tree.entries("new")) == []
    (root / "new").mkdir()
    with tree.recording():
        assert list(tree.entries("new")) == []
    assert not same(tree)


@pytest.mark.parametrize("ask", [DiskTree.exists, DiskTree.is_file, DiskTree.read])
def test_a_file_that_was_asked_for_before_it_was_written(ask: Callable[..., object], root: Path) -> None:
    """Who asks again hears something else."""
    tree = RecordedTree(DiskTree(str(root)), LATER)
    with suppress(UnreadableError):
        getattr(tree, ask.__name__)("out")
    (root / "out").write_text("done")
    tree.wrote("out", digest(b"done"))
    assert not same(tree)


@pytest.mark.parametrize("ask", [DiskTree.exists, DiskTree.is_file])
def test_a_file_that_was_asked_for_before_it_was_removed(ask: Callable[..., object], root: Path) -> None:
    tree = RecordedTree(DiskTree(str(root)), LATER)
    getattr(tree, ask.__name__)("src/a.rs")
    (root / "src" / "a.rs").unlink()
    tree.removed("src/a.rs")
    assert not same(tree)


def replace_folder(path: Path) -> None:
    """Put another folder in its place."""
    path.rename(path.with_name("old"))
    path.mkdir()


@pytest.mark.parametrize("within", [False, True], ids=["in one piece of work", "in work within work"])
@pytest.mark.parametrize("now", [0, LATER], ids=["by content", "by time"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_change_between_two_looks(name: str, now: int, within: bool, root: Path) -> None:
    ##= man/spec/cache.md#freshness
    ##= type=test
    ##% An answer MUST NOT be kept where an input changed between two looks at it.
    ask, change = QUESTIONS[name]
    tree = RecordedTree(DiskTree(str(root)), now)
    ask(tree)
    ask(tree)
    assert same(tree, now)
    change(root)
    if within:
        with tree.recording() as inner:
            ask(tree)
        assert inner.settled
    else:
        ask(tree)
    assert not tree.record.settled and not same(tree, now)


def test_a_file_that_changed_between_two_looks_is_nothing_to_remember(root: Path) -> None:
    tree = RecordedTree(DiskTree(str(root)), LATER)
    tree.read("src/a.rs")
    (root / "src" / "a.rs").write_text("ONE")
    tree.read("src/a.rs")
    assert tree.seen == {"src/a.rs": None}
    tree.read("src/a.rs")
    assert tree.seen == {"src/a.rs": None}


def test_what_was_written(root: Path) -> None:
    tree = RecordedTree(DiskTree(str(root)), LATER)
    (root / "out").write_text("done")
    tree.wrote("out", digest(b"done"))
    assert same(tree)
    (root / "out").write_text("gone")
    assert not same(tree)
    assert tree.wrote("nowhere/out", b"") is None
    assert not tree.record.settled
