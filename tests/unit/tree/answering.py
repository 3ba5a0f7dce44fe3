"""Trees of git revisions, and what a tree says to each question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from duvet.errors import DuvetError
from duvet.tree.files import DiskTree, Tree, is_folder
from duvet.tree.git import GitRevisions, GitTree
from tests.histories import ENVIRON


@contextmanager
def tree_of(folder: Path, revision: str = "HEAD") -> Iterator[GitTree]:
    revisions = GitRevisions(str(folder), ENVIRON)
    found = revisions.find(revision)
    assert found is not None
    with revisions.tree(found, DiskTree(str(folder))) as tree:
        yield tree


def answers(tree: Tree, path: str) -> list[Any]:
    """What a tree says to each question about a path."""
    return [
        *map(_heard, (lambda: tree.read(path), lambda: tree.is_file(path), lambda: tree.exists(path))),
        *([] if "\0" in path else [_heard(lambda: listed(tree, path))]),
    ]


def _heard(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except DuvetError as error:
        return type(error), error.message


def listed(tree: Tree, path: str) -> list[tuple[str, bool, bool]]:
    found = (entry for entry in tree.entries(path) if entry.name != ".git")
    return sorted((entry.name, is_folder(entry), entry.is_symlink()) for entry in found)
