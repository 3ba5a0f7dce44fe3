"""The paths that git ignores."""

from __future__ import annotations

import re

from duvet.errors import DuvetError
from duvet.sources.gitignore import Says, reads
from duvet.tree.protocol import Tree

_FOLDER = re.compile(r"(?<=[^/])(?:/|\Z)")


class Ignored:
    """What the `.gitignore` files of a tree name, and `.git` itself."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._files: dict[str, Says | None] = {}
        self._folders: dict[str, bool] = {}

    def hides(self, path: str, is_folder: bool) -> bool:
        """Whether git ignores the path, or a folder that it is in."""
        folder = path.rpartition("/")[0]
        if folder not in self._folders:
            above = (folder[: end.start()] for end in _FOLDER.finditer(folder))
            self._folders[folder] = any(self._is_named(f"{one}/") for one in above)
        return self._folders[folder] or self._is_named(f"{path}/" if is_folder else path)

    def _is_named(self, path: str) -> bool:
        """The nearest file that says something about the path decides; folders end with a slash."""
        start = len(path)
        while start:
            start = path.rfind("/", 0, start - 1) + 1
            if path.startswith(("/", "../"), start):
                break
            if path[start:].rstrip("/") == ".git":
                return True
            says = self._file(path[:start])
            verdict = says(path[start:]) if says else None
            if verdict is not None:
                return verdict
        return False

    def _file(self, folder: str) -> Says | None:
        if folder not in self._files:
            try:
                self._files[folder] = reads(self.tree.read(f"{folder}.gitignore"))
            except DuvetError:
                self._files[folder] = None
        return self._files[folder]
