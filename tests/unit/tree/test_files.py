import os
from pathlib import Path

import pytest

from duvet.errors import NotRegularError, UnreadableError
from duvet.tree.files import DiskTree, MemoryTree, Tree, is_folder

FILES = {"a.rs": b"a", "src/b.rs": b"b", "src/d/c.rs": b"c"}


@pytest.fixture(params=["disk", "memory", "over", "beside"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    """Return the same files on disk, in memory, in memory over others on disk, and half in each."""
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


def test_spellings_of_files_and_folders(tree: Tree) -> None:
    for path in ("src/b.rs", "./src/b.rs", "src//b.rs", "src/./b.rs", "src/d/../b.rs"):
        assert (tree.read(path), tree.is_file(path), tree.exists(path)) == (b"b", True, True)
    for path in ("src", "./src/", "src/d", "", "."):
        assert (tree.is_file(path), tree.exists(path or ".")) == (False, True)
        with pytest.raises(NotRegularError, match=r"Is a directory \(os error 21\)$"):
            tree.read(path)
    assert listed(tree, "") == [("a.rs", False, False), ("src", True, False)]
    assert listed(tree, "src/") == listed(tree, "src") == [("b.rs", False, False), ("d", True, False)]
    assert listed(tree, "src/b.rs") == []
    assert tree.identity("src/d") == tree.identity("./src/d/") != tree.identity("src")


def test_a_missing_path_is_not_found(tree: Tree) -> None:
    for path in ["b.rs", "src/nothing", "s", "src/b.rs/x", ".rs"]:
        assert (tree.is_file(path), tree.exists(path), list(tree.entries(path))) == (False, False, [])
        with pytest.raises(UnreadableError) as caught:
            tree.read(path)
        assert caught.value.message in ("No such file or directory (os error 2)", "Not a directory (os error 20)")


def test_a_memory_tree_accepts_absolute_paths() -> None:
    tree = MemoryTree({"/p/a.rs": b"a", "../q/b.rs": b"b", "c.rs": b"c"})
    assert (tree.read("/p/a.rs"), tree.read("../q/b.rs"), tree.exists("p")) == (b"a", b"b", False)
    folders = [[name for name, _, _ in listed(tree, folder)] for folder in ("", "/", "/p", "../q")]
    assert folders == [["c.rs"], ["p"], ["a.rs"], ["b.rs"]]


def test_files_that_are_no_regular_files(tmp_path: Path) -> None:
    odd = {
        "pipe": "not a regular file",
        "loop": "Too many levels of symbolic links (os error 40)",
        "gone": "No such file or directory (os error 2)",
        "a\0b": "paths can't contain NUL characters",
        "x" * 300: "File name too long (os error 36)",
    }
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "gone").symlink_to("nothing")
    tree = DiskTree(str(tmp_path))
    for path, message in odd.items():
        with pytest.raises(UnreadableError) as caught:
            tree.read(path)
        assert caught.value.message == message
    assert [tree.exists(path) for path in ("loop", "gone", "pipe")] == [True, True, True]
    # A link that can't be followed is no folder.
    assert not any(is_folder(entry) for entry in tree.entries(""))
    for ask in (tree.identity, lambda path: list(tree.entries(path))):
        with pytest.raises(UnreadableError, match="Too many levels"):
            ask("loop")
