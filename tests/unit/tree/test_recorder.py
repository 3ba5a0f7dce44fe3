import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace

from duvet.errors import UnreadableError
from duvet.tree import recorder
from duvet.tree.files import DiskTree

Change = Callable[[Path], object]
LATER = time.time_ns() + 3600 * 10**9
"""A time at which nothing that a test writes is fresh any more."""
TIMES = pytest.mark.parametrize("now", [0, LATER], ids=["by content", "by time"])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "a.rs").write_text("one")
    (tmp_path / "src" / "b.rs").write_text("two")
    (tmp_path / "link").symlink_to("src")
    return tmp_path


def record(root: Path, now: int = LATER) -> recorder.RecordedTree:
    return recorder.RecordedTree(DiskTree(str(root)), now)


def asked(root: Path, now: int = LATER) -> recorder.RecordedTree:
    tree = record(root, now)
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


def same(tree: recorder.RecordedTree, now: int = LATER) -> bool:
    return recorder.check_unchanged(tree.record, recorder.RecordedTree(tree.disk, now)) is not None


def altered(tree: recorder.RecordedTree) -> list[str]:
    return list(recorder.find_altered_paths(tree.record, tree))


def rewrite(path: Path, text: str) -> None:
    info = path.stat()
    path.write_text(text)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def replace_folder(path: Path) -> None:
    path.rename(path.with_name("old"))
    path.mkdir()


def swap_link(root: Path) -> None:
    """Change the target of the symlink without changing its folder's status."""
    info = root.stat()
    (root / "other").mkdir()
    os.utime(root, ns=(info.st_atime_ns, info.st_mtime_ns))
    shutil.rmtree(root / "src")


A = "src/a.rs"
CHANGES: dict[str, tuple[Change, list[str], list[str]]] = {
    "a file is longer": (lambda root: (root / A).write_text("three"), [A], []),
    "a file is as long and as old": (lambda root: rewrite(root / A, "ONE"), [A], []),
    "a file is touched": (lambda root: os.utime(root / A), [A], []),
    "a file is replaced": (lambda root: (root / A).rename(root / "src" / "b.rs"), [A, A], ["src"]),
    "a file is a folder": (lambda root: make_folder(root / A), [A, A], ["src"]),
    "a file more": (lambda root: (root / "src" / "c.rs").touch(), [], ["src"]),
    "a file less": (lambda root: (root / "src" / "b.rs").unlink(), ["src/b.rs"], ["src"]),
    "another name": (lambda root: (root / "src" / "b.rs").rename(root / "src" / "c.rs"), ["src/b.rs"], ["src"]),
    "an absent file is there": (lambda root: (root / "gone.rs").touch(), ["gone.rs"], [""]),
    "a file that was looked for is there": (lambda root: (root / "c.rs").touch(), ["c.rs"], [""]),
    "an absent folder is there": (lambda root: (root / "nowhere").mkdir(), [], ["nowhere", ""]),
    "a link is gone": (lambda root: (root / "link").unlink(), ["link"], [""]),
    "a link leads to nothing": (swap_link, [A, A, "src/b.rs", "link", "src"], ["src", ""]),
}


@TIMES
@pytest.mark.parametrize(("change", "paths", "folders"), CHANGES.values(), ids=CHANGES)
def test_a_changed_file_invalidates_a_recording(
    change: Change, paths: list[str], folders: list[str], now: int, root: Path
) -> None:
    tree = asked(root, now)
    assert same(tree, now) and same(tree)
    assert altered(tree) == list(recorder.find_refilled_folders(tree.record, tree)) == []
    change(root)
    assert not same(tree) and not same(tree, now)
    assert (altered(tree), list(recorder.find_refilled_folders(tree.record, tree))) == (paths, folders)


def test_other_paths_and_a_selection_of_answers(root: Path) -> None:
    tree = asked(root)
    # Files that were not read may change.
    (root / "src" / "b.rs").write_text("another")
    (root / "src" / "deep" / "d.rs").write_text("more")
    assert same(tree)
    (root / A).unlink()
    (root / "c.rs").touch()
    for paths, found in ((["c.rs", "gone.rs", "no question"], ["c.rs"]), (["src"], [])):
        assert list(recorder.find_altered_paths(tree.record.select(paths), tree)) == found
    # A folder that was to be read as a file is gone.
    (root / "folder").mkdir()
    tree = record(root)
    with pytest.raises(UnreadableError):
        tree.read("folder")
    assert altered(tree) == []
    (root / "folder").rmdir()
    assert altered(tree) == ["folder"]
    (root / "folder").touch()
    assert altered(tree) == ["folder"]


def test_recent_times_are_not_trusted(root: Path) -> None:
    changed, second = (root / A).stat().st_ctime_ns, 10**9
    for now, content in ((changed + second, recorder.digest_content(b"one")), (changed + 3 * second, b"")):
        files, folders = asked(root, now).record.files, asked(root, now).record.folders
        assert (files[A].digest, bool(folders["src"].digest)) == (content, bool(content))


def test_files_compared_by_content_are_trusted_later(root: Path) -> None:
    tree = asked(root, 0)
    assert tree.read("src/b.rs") == b"two"
    # This file was compared by its times already.
    tree.record.files["src/b.rs"] = replace(tree.record.files["src/b.rs"], digest=b"")
    renewed = recorder.check_unchanged(tree.record, record(root))
    assert renewed is not None and renewed is not tree.record and renewed.files.keys() == tree.record.files.keys()
    assert {one.digest for one in (*renewed.files.values(), *renewed.folders.values())} == {b""}
    assert recorder.check_unchanged(renewed, record(root)) is renewed
    assert recorder.check_unchanged(tree.record, record(root, 0)) is tree.record
    # The clock stands still, so only the content differs.
    (root / A).write_text("ONE")
    info, was = (root / A).stat(), tree.record.files[A]
    tree.record.files[A] = type(was)(3, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, was.digest)
    assert not same(tree)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_failed_read_is_not_recorded(root: Path) -> None:
    os.mkfifo(root / "pipe.rs")
    tree = asked(root)
    with pytest.raises(UnreadableError):
        tree.read("pipe.rs")
    assert not tree.record.settled and not same(tree)


def test_work_within_work_and_recalled_stamps(root: Path) -> None:
    tree = record(root)
    tree.read(A)
    with tree.recording() as inner:
        tree.read("src/b.rs")
    assert (list(inner.files), list(tree.record.files)) == (["src/b.rs"], [A, "src/b.rs"])
    seen, later = tree.record.files[A], record(root)
    assert later.recall_stamp(A, seen) == seen and later.record.files == {A: seen}
    assert later.recall_stamp("src/b.rs", seen) is None and later.recall_stamp("gone.rs", seen) is None


def test_duvets_own_data_is_not_part_of_a_tree(root: Path) -> None:
    (root / "led").symlink_to("sub/.duvet")
    for name in ("cache", "knowledge"):
        for folder in ("sub/.duvet", "my.duvet"):
            (root / folder / name).mkdir(parents=True)
            (root / folder / name / "mine.rs").touch()
        tree = recorder.RecordedTree(DiskTree(str(root)), LATER)
        for one in (tree, tree.disk):
            assert list(one.entries(f"sub/.duvet/{name}")) == list(one.entries("sub/.duvet")) == []
            assert not one.exists(f"sub/.duvet/{name}")
        assert list(tree.record.folders) == ["sub/.duvet"]
        assert list(tree.entries(f"led/{name}")) == list(tree.entries("led")) == []
        assert [entry.name for entry in tree.entries(f"my.duvet/{name}")] == ["mine.rs"]


def test_each_stamp_of_a_file_reveals_a_change(root: Path) -> None:
    tree = asked(root)
    for mark, looks in product(("size", "modified", "changed", "inode"), (tree.record.files, tree.record.folders)):
        path, seen = next(iter(looks.items()))
        other = replace(seen, **{mark: getattr(seen, mark) + 1})
        assert same(tree)
        looks[path] = other
        assert not same(tree)
        looks[path] = seen


def test_files_that_the_work_writes_and_removes_are_no_changes(root: Path) -> None:
    tree = asked(root)
    for name in (A, "gone.rs", "c.rs"):
        (root / name).write_text("written")
        tree.note_written(name, recorder.digest_content(b"written"))
    assert altered(tree) == []
    os.utime(root / "c.rs")
    assert altered(tree) == ["c.rs"]
    (root / A).unlink()
    tree.note_removed(A)
    assert altered(tree) == ["c.rs"]
    (root / A).touch()
    assert altered(tree) == ["c.rs", A]


def test_files_written_by_the_run_are_recorded(root: Path) -> None:
    tree = record(root)
    for text, expected in (("done", True), ("gone", False)):
        (root / "out").write_text(text)
        if expected:
            tree.note_written("out", recorder.digest_content(b"done"))
        assert same(tree) is expected
    assert tree.note_written("nowhere/out", b"") is None and not tree.record.settled


def test_newer_answers_replace_older_ones(root: Path) -> None:
    tree = record(root)
    newer = record(root)
    for one, text in ((tree, "one"), (newer, "another")):
        (root / A).write_text(text)
        assert (one.read(A), one.exists("c.rs")) == (text.encode(), False)
    tree.record.update(newer.record)
    assert tree.record == newer.record


QUESTIONS: dict[str, tuple[Callable[[recorder.RecordedTree], object], Change]] = {
    "a file": (lambda tree: tree.read(A), lambda root: (root / A).write_text("ONE")),
    "a folder": (lambda tree: list(tree.entries("src")), lambda root: (root / "src" / "c.rs").touch()),
    "a regular file": (lambda tree: tree.is_file(A), lambda root: make_folder(root / A)),
    "anything": (lambda tree: tree.exists("c.rs"), lambda root: (root / "c.rs").touch()),
    "identity": (lambda tree: tree.identity("src"), lambda root: replace_folder(root / "src")),
    "where a link leads": (
        lambda tree: [entry.is_dir() for entry in tree.entries("") if entry.name == "link"],
        lambda root: (root / "src").rename(root / "elsewhere"),
    ),
}


@pytest.mark.parametrize("within", [False, True], ids=["in one piece of work", "in work within work"])
@TIMES
@pytest.mark.parametrize(("ask", "change"), QUESTIONS.values(), ids=QUESTIONS)
def test_a_change_between_two_looks_leaves_nothing_to_rely_on(
    ask: Callable[[recorder.RecordedTree], object], change: Change, now: int, within: bool, root: Path
) -> None:
    tree = record(root, now)
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


def test_a_folder_that_came_between_two_looks(root: Path) -> None:
    tree = record(root)
    assert list(tree.entries("new")) == []
    (root / "new").mkdir()
    assert not same(tree)
    with tree.recording():
        assert list(tree.entries("new")) == []
    assert not same(tree)


def test_two_looks_that_differ(root: Path) -> None:
    """It is unknown which answer the work used, so the work is repeated."""
    tree = asked(root)
    for text in ("another", "ONE"):
        (root / A).write_text(text)
        tree.read(A)
    assert altered(tree) == [A] and tree.seen[A] is None
    (root / "src" / "c.rs").touch()
    assert "c.rs" in [entry.name for entry in tree.entries("src")]


@pytest.mark.parametrize("ask", [DiskTree.exists, DiskTree.is_file, DiskTree.read])
def test_a_file_that_was_asked_for_before_it_was_written_or_removed(ask: Callable[..., object], root: Path) -> None:
    tree = record(root)
    with suppress(UnreadableError):
        getattr(tree, ask.__name__)("out")
    (root / "out").write_text("done")
    tree.note_written("out", recorder.digest_content(b"done"))
    assert not same(tree)
    if ask is not DiskTree.read:
        tree = record(root)
        getattr(tree, ask.__name__)(A)
        (root / A).unlink()
        tree.note_removed(A)
        assert not same(tree)


def test_a_file_that_changed_can_be_begun_anew_with(root: Path) -> None:
    disk, path = DiskTree(str(root)), root / A
    tree, other = recorder.RecordedTree(disk, pinned={}), recorder.RecordedTree(disk)
    assert tree.read(A) == tree.read_again(A) == other.read(A) == b"one"
    path.write_text("second")
    with pytest.raises(recorder.FileChangedError, match="the file changed while it was being read") as raised:
        tree.read_again(A)
    assert other.read_again(A) == b"second"
    path.write_text("third")
    again = recorder.RecordedTree(disk, pinned={A: raised.value.look})
    assert again.read(A) == again.read_again(A) == b"second"
    # The record is about the text that was read: a later look sees that it is another.
    seen = again.record.files[A]
    assert again.compare_stamp(A, seen) is not None and recorder.RecordedTree(disk).compare_stamp(A, seen) is None
