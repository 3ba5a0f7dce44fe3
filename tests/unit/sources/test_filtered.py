"""A tree without some of its paths."""

from __future__ import annotations

from pathlib import Path

from duvet.sources.glob import compile_pattern, expand_pattern
from duvet.sources.scan import FilteredTree
from duvet.tree.files import DiskTree, MemoryTree

TREE = FilteredTree(MemoryTree({"a.rs": b"a", "b/c.rs": b"c", "/d/e": b"e"}), lambda path, is_folder: "b" in path)


def test_what_is_hidden_is_not_found() -> None:
    assert [entry.name for entry in TREE.entries("")] == ["a.rs"]
    assert [TREE.exists(path) for path in ("a.rs", "b", "b/c.rs", "nothing")] == [True, False, False, False]
    assert [TREE.is_file(path) for path in ("a.rs", "b/c.rs", "nothing")] == [True, False, False]


def test_what_is_named_can_be_read() -> None:
    assert TREE.read("b/c.rs") == b"c"


def test_paths_are_whole() -> None:
    seen: list[tuple[str, bool]] = []
    view = FilteredTree(TREE.tree, lambda path, is_folder: seen.append((path, is_folder)))
    for folder in ("", "b", "/", "/d"):
        assert list(view.entries(folder)) != []
    assert seen == [("a.rs", False), ("b", True), ("b/c.rs", False), ("/d", True), ("/d/e", False)]


def test_loops_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "loop").symlink_to(".")
    view = FilteredTree(DiskTree(str(tmp_path)), lambda path, is_folder: False)
    problems: list[str] = []
    assert expand_pattern(compile_pattern("**/a"), view, lambda problem: problems.append(problem.path)) == ["a"]
    assert problems == ["loop"]
