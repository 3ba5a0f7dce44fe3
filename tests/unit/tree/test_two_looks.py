"""Answers that change from one look to the next are nothing to rely on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from duvet.errors import UnreadableError
from duvet.tree.files import DiskTree
from duvet.tree.recorder import RecordedTree, digest_content
from tests.unit.tree.asking import LATER, make_folder, replace_folder, same

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
    tree.note_written("out", digest_content(b"done"))
    assert not same(tree)


@pytest.mark.parametrize("ask", [DiskTree.exists, DiskTree.is_file])
def test_a_file_that_was_asked_for_before_it_was_removed(ask: Callable[..., object], root: Path) -> None:
    tree = RecordedTree(DiskTree(str(root)), LATER)
    getattr(tree, ask.__name__)("src/a.rs")
    (root / "src" / "a.rs").unlink()
    tree.note_removed("src/a.rs")
    assert not same(tree)


@pytest.mark.parametrize("within", [False, True], ids=["in one piece of work", "in work within work"])
@pytest.mark.parametrize("now", [0, LATER], ids=["by content", "by time"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_change_between_two_looks(name: str, now: int, within: bool, root: Path) -> None:
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
