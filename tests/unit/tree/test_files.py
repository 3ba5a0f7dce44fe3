"""Trees on disk and in memory, which behave alike."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duvet.errors import NotRegularError, UnreadableError
from duvet.tree.files import DiskTree, MemoryTree, Tree, TreeEntry, is_folder

FILES = {"a.rs": b"a", "src/b.rs": b"b", "src/d/c.rs": b"c"}
TREES = ["disk", "memory", "over", "beside"]


@pytest.fixture(params=TREES)
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    """The same files on disk, in memory, in memory over others on disk, and half in each."""
    in_memory = {"memory": FILES, "over": FILES, "beside": {"src/d/c.rs": b"c"}}.get(request.param, {})
    for path in (tmp_path / name for name in FILES):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"other" if request.param == "over" else path.stem[-1:].encode())
    disk = DiskTree(str(tmp_path))
    if request.param == "disk":
        return disk
    return MemoryTree(in_memory, None if request.param == "memory" else disk)


def listed(tree: Tree, folder: str) -> list[tuple[str, bool, bool]]:
    return sorted((one.name, one.is_dir(), one.is_symlink()) for one in tree.entries(folder))


@pytest.mark.parametrize("path", ["src/b.rs", "./src/b.rs", "src//b.rs", "src/./b.rs", "src/d/../b.rs"])
def test_a_file_has_many_spellings(tree: Tree, path: str) -> None:
    assert (tree.read(path), tree.is_file(path), tree.exists(path)) == (b"b", True, True)


@pytest.mark.parametrize("path", ["src", "./src/", "src/d", "", "."])
def test_a_folder(tree: Tree, path: str) -> None:
    assert (tree.is_file(path), tree.exists(path or ".")) == (False, True)
    with pytest.raises(NotRegularError) as caught:
        tree.read(path)
    assert str(caught.value).endswith("Is a directory (os error 21)")


@pytest.mark.parametrize("path", ["b.rs", "src/nothing", "s", "src/b.rs/x", ".rs"])
def test_nothing_is_there(tree: Tree, path: str) -> None:
    assert (tree.is_file(path), tree.exists(path), list(tree.entries(path))) == (False, False, [])
    with pytest.raises(UnreadableError) as caught:
        tree.read(path)
    assert caught.value.message in ("No such file or directory (os error 2)", "Not a directory (os error 20)")


def test_entries(tree: Tree) -> None:
    assert listed(tree, "") == [("a.rs", False, False), ("src", True, False)]
    assert listed(tree, "src/") == listed(tree, "src") == [("b.rs", False, False), ("d", True, False)]
    assert listed(tree, "src/b.rs") == []


def test_identity_sees_through_spellings(tree: Tree) -> None:
    assert tree.identity("src/d") == tree.identity("./src/d/") != tree.identity("src")


def test_absolute_paths_in_memory() -> None:
    tree = MemoryTree({"/p/a.rs": b"a", "../q/b.rs": b"b", "c.rs": b"c"})
    assert (tree.read("/p/a.rs"), tree.read("../q/b.rs"), tree.exists("p")) == (b"a", b"b", False)
    folders = [[name for name, _, _ in listed(tree, folder)] for folder in ("", "/", "/p", "../q")]
    assert folders == [["c.rs"], ["p"], ["a.rs"], ["b.rs"]]


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "gone").symlink_to("nothing")
    tree = DiskTree(str(tmp_path))
    messages = []
    for path in ("pipe", "loop", "gone", "a\0b", "x" * 300):
        with pytest.raises(UnreadableError) as caught:
            tree.read(path)
        messages.append(caught.value.message)
    assert messages == [
        "not a regular file",
        "Too many levels of symbolic links (os error 40)",
        "No such file or directory (os error 2)",
        "a path can't hold a NUL",
        "File name too long (os error 36)",
    ]
    assert [tree.exists(path) for path in ("loop", "gone", "pipe")] == [True, True, True]


def test_a_link_that_cant_be_followed_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    tree = DiskTree(str(tmp_path))
    entries: list[TreeEntry] = list(tree.entries(""))
    assert [is_folder(one) for one in entries] == [False]
    with pytest.raises(UnreadableError, match="Too many levels"):
        tree.identity("loop")
    with pytest.raises(UnreadableError, match="Too many levels"):
        list(tree.entries("loop"))
