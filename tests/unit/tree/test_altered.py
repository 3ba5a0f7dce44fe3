"""Which answers on a record are no more what they were."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from duvet.errors import UnreadableError
from duvet.tree.files import DiskTree
from duvet.tree.recorder import RecordedTree, digest_content, find_altered_paths, find_refilled_folders


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a").write_text("one")
    (tmp_path / "src" / "odd").mkdir()
    (tmp_path / "link").symlink_to("src")
    return tmp_path


def asked(root: Path) -> RecordedTree:
    """A tree that has been asked one question of each kind."""
    tree = RecordedTree(DiskTree(str(root)))
    for path in ("src/a", "src/odd", "absent"):
        with suppress(UnreadableError):
            tree.read(path)
    assert [entry.is_dir() for entry in tree.entries("") if entry.name == "link"] == [True]
    assert [list(tree.entries(folder)) for folder in ("nowhere",)] == [[]]
    assert tree.is_file("src/a") and not tree.exists("other")
    tree.identity("")
    return tree


CHANGES: dict[str, tuple[Callable[[Path], object], list[str], list[str]]] = {
    "nothing": (lambda root: None, [], []),
    "a file": (lambda root: (root / "src" / "a").write_text("ONE"), ["src/a"], []),
    "a file is gone": (lambda root: (root / "src" / "a").unlink(), ["src/a", "src/a"], []),
    "a file that was absent": (lambda root: (root / "absent").touch(), ["absent"], [""]),
    "a file that nobody had seen": (lambda root: (root / "other").touch(), ["other"], [""]),
    "a folder that was absent": (lambda root: (root / "nowhere").mkdir(), [], ["nowhere", ""]),
    "a file in place of a folder": (lambda root: (root / "src" / "odd").rmdir(), ["src/odd"], []),
    "a link": (lambda root: (root / "link").unlink(), ["link"], [""]),
}


@pytest.mark.parametrize("change, answers, folders", CHANGES.values(), ids=CHANGES)
def test_a_change(change: Callable[[Path], object], answers: list[str], folders: list[str], root: Path) -> None:
    tree = asked(root)
    change(root)
    assert list(find_altered_paths(tree.record, tree)) == answers
    assert list(find_refilled_folders(tree.record, tree)) == folders


def test_some_paths(root: Path) -> None:
    tree = asked(root)
    (root / "src" / "a").unlink()
    (root / "other").touch()
    assert list(find_altered_paths(tree.record.select(["other", "absent", "no question"]), tree)) == ["other"]
    assert list(find_altered_paths(tree.record.select(["src"]), tree)) == []


def test_two_looks_that_differ(root: Path) -> None:
    """Which of them went into the work can't be told, so it is done again."""
    tree = asked(root)
    (root / "src" / "a").write_text("another")
    tree.read("src/a")
    (root / "src" / "b").touch()
    assert [entry.name for entry in tree.entries("src") if entry.name == "b"] == ["b"]
    assert list(find_altered_paths(tree.record, tree)) == ["src/a"]


def test_what_the_work_itself_has_written(root: Path) -> None:
    tree = asked(root)
    for name in ("src/a", "absent", "other"):
        (root / name).write_text("written")
        tree.note_written(name, digest_content(b"written"))
    assert list(find_altered_paths(tree.record, tree)) == []
    os.utime(root / "other")
    assert list(find_altered_paths(tree.record, tree)) == ["other"]


def test_what_the_work_itself_has_removed(root: Path) -> None:
    tree = asked(root)
    (root / "src" / "a").unlink()
    tree.note_removed("src/a")
    assert list(find_altered_paths(tree.record, tree)) == []
    (root / "src" / "a").touch()
    assert list(find_altered_paths(tree.record, tree)) == ["src/a"]


def test_newer_answers(root: Path) -> None:
    tree = asked(root)
    (root / "src" / "a").write_text("another")
    (root / "nowhere").mkdir()
    newer = asked(root)
    tree.record.update(newer.record)
    assert tree.record == newer.record
