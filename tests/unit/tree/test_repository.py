"""The commit that is checked out, as files of git tell it, against what git says."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.tree.files import DiskTree, MemoryTree
from duvet.tree.git import GitRepository
from tests.histories import commit, git, history


def head(folder: Path) -> str | None:
    """The commit; None outside a repository."""
    found = GitRepository(DiskTree(str(folder)), str(folder))
    top = found.top(found.start)
    return None if top is None else found.head(top)


def test_a_branch(tmp_path: Path) -> None:
    folder = history(tmp_path / "a", {"deep/x": "1"})
    first = git(folder, "rev-parse", "HEAD")
    assert head(folder) == head(folder / "deep") == first
    assert commit(folder) == head(folder) == git(folder, "rev-parse", "HEAD")


def test_a_packed_branch(tmp_path: Path) -> None:
    folder = history(tmp_path / "a", {"x": "1"})
    git(folder, "branch", "other/main")
    git(folder, "tag", "--annotate", "--message=x", "v1")
    git(folder, "pack-refs", "--all", "--prune")
    assert not (folder / ".git/refs/heads/main").exists()
    assert head(folder) == git(folder, "rev-parse", "HEAD")
    assert commit(folder) == head(folder)


def test_no_branch(tmp_path: Path) -> None:
    folder = history(tmp_path / "a", {"x": "1"})
    git(folder, "checkout", "--quiet", "--detach")
    assert head(folder) == git(folder, "rev-parse", "HEAD")


def test_a_further_working_tree(tmp_path: Path) -> None:
    folder = history(tmp_path / "a", {"x": "1"})
    git(folder, "worktree", "add", "--quiet", "-b", "further", "../b")
    other = commit(tmp_path / "b")
    assert head(tmp_path / "b") == other != head(folder)


def test_a_submodule(tmp_path: Path) -> None:
    folder = history(tmp_path / "a", {"x": "1"})
    history(tmp_path / "b", {"y": "1"})
    git(folder, "submodule", "--quiet", "add", "../b", "inner")
    assert head(folder / "inner") == git(folder / "inner", "rev-parse", "HEAD") != head(folder)


def test_sha256(tmp_path: Path) -> None:
    folder = history(tmp_path / "a", {"x": "1"}, "--object-format=sha256")
    assert head(folder) == git(folder, "rev-parse", "HEAD")


def test_no_commit_yet(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    assert head(tmp_path) == ""


def test_no_repository(tmp_path: Path) -> None:
    assert head(tmp_path) is None


@pytest.mark.parametrize(
    "files",
    [
        {},
        {".git": b"nothing"},
        {".git": b"gitdir: elsewhere\n"},
        {".git/HEAD": b"\xff"},
        {".git/HEAD": b"ref: HEAD\n"},
        {".git/HEAD": b"0123456\n"},
        {".git/HEAD": b"ref: refs/heads/main\n", ".git/packed-refs": b"# pack-refs\nx refs/heads/main\n"},
    ],
)
def test_what_can_not_be_read(files: dict[str, bytes]) -> None:
    assert GitRepository(MemoryTree(files), "/project").head("/project/") == ""
