"""The tree of a git revision gives the answers of a checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.errors import DuvetError
from duvet.tree.files import DiskTree
from tests.cli.made import make
from tests.histories import commit, git, history
from tests.unit.tree.answering import answers, listed, tree_of

PATHS = [
    *("", ".", "..", "../..", "src", "src/", "src//b.rs", "./src/./b.rs", "src/d/../b.rs", "src/.", "src/d/.."),
    *("a.rs", "a.rs/", "a.rs/.", "a.rs/..", "a.rs/x", "crlf.rs", "lfs.bin", "src/-x 'y\n\té.rs", "nothing", "no/thing"),
    *("link", "link/", "link/b.rs", "link/..", "link/../a.rs", "up", "up/", "deep", "../top.md", "../../sub/a.rs"),
    *("loop", "loop/x", "gone", "gone/", "out", "out/", "../../beside.md", "../../r/sub/a.rs", "whole/dev", "a\0b"),
]


@pytest.mark.parametrize("path", PATHS)
def test_the_same_answers_as_on_disk(path: str, checkout: Path) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST read a revision from git's objects, without a checkout, and find the same trace there as on
    ##% disk, also in a git hook.
    with tree_of(checkout) as tree:
        assert answers(tree, path) == answers(DiskTree(str(checkout)), path)


@pytest.mark.parametrize("path", ["", "src/b.rs", "link/../up", "../top.md", "nothing"])
def test_absolute_paths(path: str, checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "other name").symlink_to(checkout.parent)
    for folder in (checkout, tmp_path / "other name" / "sub"):
        with tree_of(folder) as tree:
            assert answers(tree, str(folder / path)) == answers(DiskTree(), str(folder / path))
            assert tree.taken == {}


def test_a_loop_of_folders_is_seen(checkout: Path) -> None:
    (checkout / "src" / "back").symlink_to("..")
    commit(checkout)
    with tree_of(checkout) as tree:
        assert tree.identity("src/back/src") == tree.identity("link") != tree.identity("src/back")
        assert tree.identity("/") == DiskTree().identity("/")
        with pytest.raises(DuvetError, match="Too many levels"):
            tree.identity("loop")


def test_the_disk_is_not_looked_at(checkout: Path) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST take a specification that the revision lacks from disk, and say so, but MUST NOT do this for
    ##% sources.
    with tree_of(checkout) as tree:
        before = [answers(tree, path) for path in PATHS if "whole" not in path]
    (checkout / "src" / "b.rs").write_text("changed")
    (checkout / "nothing").write_text("new")
    (checkout / "a.rs").unlink()
    with tree_of(checkout) as tree:
        tree.lend(frozenset(), ".duvet/specifications")
        assert [answers(tree, path) for path in PATHS if "whole" not in path] == before
        assert set(tree.taken) == {"out", "../../beside.md"}


def test_what_git_keeps_for_itself_is_that_of_today(checkout: Path) -> None:
    with tree_of(checkout) as tree:
        for path in ("../.git", "../.git/info/exclude", f"{checkout.parent}/.git/info/exclude", ".git"):
            assert answers(tree, path) == answers(DiskTree(str(checkout)), path)
        assert tree.taken == {}


def test_what_is_lent(checkout: Path) -> None:
    make(checkout, {"spec.md": "spec", "downloads/x/y.txt": "text", "downloads/src.rs": "new", "a.rs": "changed"})
    with tree_of(checkout) as tree:
        tree.lend(frozenset({"spec.md", "a.rs", "absent.md"}), "downloads")
        assert [tree.is_file(path) for path in ("spec.md", "./spec.md", "absent.md", "other.md")] == [1, 1, 0, 0]
        assert (tree.read("spec.md"), tree.read("downloads/x/y.txt"), tree.read("a.rs")) == (b"spec", b"text", b"a")
        assert tree.exists("downloads/x/y.txt") and not tree.exists("downloads")
        assert list(tree.entries("downloads")) == []
        assert tree.taken == {"spec.md": None, "downloads/x/y.txt": None}


def test_a_cache_that_is_committed_is_no_part_of_the_tree(checkout: Path) -> None:
    make(checkout, {".duvet/cache/x": "x", ".duvet/config.toml": ""})
    commit(checkout)
    with tree_of(checkout) as tree:
        assert listed(tree, ".duvet") == [("config.toml", False, False)] == listed(DiskTree(str(checkout)), ".duvet")
        assert not tree.exists(".duvet/cache") and listed(tree, ".duvet/cache") == []


def test_line_ends_are_those_of_the_repository(checkout: Path) -> None:
    make(checkout, {"../.gitattributes": "*.txt text eol=crlf\n", "lines.txt": "one\r\ntwo\r\n"})
    commit(checkout)
    with tree_of(checkout) as tree:
        assert (tree.read("lines.txt"), tree.read("crlf.rs")) == (b"one\ntwo\n", b"one\r\ntwo\r\n")


def test_a_submodule_is_an_empty_folder(checkout: Path, tmp_path: Path) -> None:
    other = history(tmp_path / "other", {"x.rs": "x"})
    git(checkout, "submodule", "--quiet", "add", str(other), "module")
    commit(checkout)
    assert (checkout / "module" / "x.rs").exists()
    with tree_of(checkout) as tree:
        assert ("module", True, False) in listed(tree, "")
        assert (listed(tree, "module"), tree.exists("module/x.rs")) == ([], False)
