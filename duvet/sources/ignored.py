"""A tree without what git ignores."""

from __future__ import annotations

from collections.abc import Iterator

from pathspec import GitIgnoreSpec

from duvet.errors import DuvetError
from duvet.sources.tree import Entry, Tree


class UnignoredTree:
    """Another tree, less what its `.gitignore` files name and less `.git` itself."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._specs: dict[str, GitIgnoreSpec | None] = {}

    def read(self, path: str) -> bytes:
        return self.tree.read(path)

    def is_file(self, path: str) -> bool:
        return self.tree.is_file(path) and not self._ignores(path, is_folder=False)

    def exists(self, path: str) -> bool:
        return self.tree.exists(path) and not self._ignores(path, is_folder=False)

    def entries(self, folder: str) -> Iterator[Entry]:
        for entry in self.tree.entries(folder):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name != ".git" and not self._ignores(path, is_folder=entry.is_dir()):
                yield entry

    def identity(self, folder: str) -> object:
        return self.tree.identity(folder)

    def _ignores(self, path: str, *, is_folder: bool) -> bool:
        """The nearest file that says something about the path decides, as git has it."""
        parts = path.split("/")
        for depth in range(len(parts) - 1, -1, -1):
            spec = self._spec("/".join(parts[:depth]))
            if spec is not None:
                verdict = spec.check_file("/".join(parts[depth:]) + ("/" if is_folder else ""))
                if verdict.include is not None:
                    return bool(verdict.include)
        return False

    def _spec(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            path = f"{folder}/.gitignore" if folder else ".gitignore"
            try:
                lines = self.tree.read(path).decode(errors="replace").splitlines()
                self._specs[folder] = GitIgnoreSpec.from_lines(lines)
            except DuvetError:
                self._specs[folder] = None
        return self._specs[folder]
