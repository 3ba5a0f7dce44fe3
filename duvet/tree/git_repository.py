"""The git repository around a folder, and its current commit."""

from __future__ import annotations

import posixpath
import re

from duvet.errors import DuvetError
from duvet.tree.files import Tree

COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_REFERENCES = 5


class GitRepository:
    """The git repository around a folder, examined without running git."""

    def __init__(self, tree: Tree, root: str) -> None:
        self.tree = tree
        self.start = f"{root.rstrip('/')}/"  # The folder, with a slash at its end.

    def spelt(self, path: str) -> str:
        return path.removeprefix(self.start)

    def top(self, folder: str) -> str | None:
        """Return the top folder of the working tree around a folder, or None; both paths end with a slash."""
        at = folder
        while not self.tree.exists(self.spelt(f"{at}.git")):
            if at == "/":
                return None
            at = at[: at.rindex("/", 0, -1) + 1]
        return at

    def own(self, top: str) -> str:
        """Return the git folder of this working tree; empty if `.git` is a file that can't be read."""
        path = f"{top}.git"
        # A submodule or a linked working tree has a file instead of the folder.
        return self._read_folder_name(path, "gitdir: ") if self.tree.is_file(self.spelt(path)) else path

    def shared(self, own: str) -> str:
        return self._read_folder_name(f"{own}/commondir", "") or own if own else ""

    def head(self, top: str) -> str:
        own = self.own(top)
        if not own:
            return ""
        shared, found = self.shared(own), self._read_text(f"{own}/HEAD")
        for _ in range(_MOST_REFERENCES):
            if not found.startswith("ref: "):
                break
            name = found.removeprefix("ref: ").strip()
            found = self._read_text(f"{shared}/{name}")
            if not found:
                # The branch is in the packed references.
                lines = self._read_text(f"{shared}/packed-refs").splitlines()
                found = next((line.partition(" ")[0] for line in lines if line.partition(" ")[2] == name), "")
        found = found.strip()
        return found if COMMIT.fullmatch(found) else ""

    def _read_folder_name(self, file: str, start: str) -> str:
        text = self._read_text(file)
        name = text.removeprefix(start).removesuffix("\n")
        return posixpath.normpath(posixpath.join(posixpath.dirname(file), name)) if text else ""

    def _read_text(self, file: str) -> str:
        try:
            return self.tree.read(self.spelt(file)).decode(errors="surrogateescape")
        except DuvetError:
            return ""
