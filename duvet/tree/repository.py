"""What git keeps of a repository, read as files: no git is started."""

from __future__ import annotations

import posixpath
import re

from duvet.errors import DuvetError
from duvet.tree.protocol import Tree

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REFERENCE = "ref: "
_MOST_REFERENCES = 5


class Repository:
    """The repository around a folder, whose tree has paths that are relative to the folder."""

    def __init__(self, tree: Tree, root: str) -> None:
        self.tree = tree
        self.start = f"{root.rstrip('/')}/"
        """The folder, with a slash at its end."""

    def spelt(self, path: str) -> str:
        """An absolute path as the tree is asked for it."""
        return path.removeprefix(self.start)

    def top(self, folder: str) -> str | None:
        """The top of the working tree that a folder is in; both end with a slash."""
        at = folder
        while not self.tree.exists(self.spelt(f"{at}.git")):
            if at == "/":
                return None
            at = at[: at.rindex("/", 0, -1) + 1]
        return at

    def own(self, top: str) -> str:
        """The folder in which git keeps what is of this working tree alone; empty where there is none."""
        path = f"{top}.git"
        # Of a submodule, and of a further working tree.
        return self._named_in(path, "gitdir: ") if self.tree.is_file(self.spelt(path)) else path

    def shared(self, own: str) -> str:
        """The folder that all working trees share."""
        return self._named_in(f"{own}/commondir", "") or own if own else ""

    def head(self, top: str) -> str:
        """The commit that is checked out; empty where there is none, or where its name can't be read."""
        own = self.own(top)
        if not own:
            return ""
        shared, found = self.shared(own), self._text(f"{own}/HEAD")
        for _ in range(_MOST_REFERENCES):
            if not found.startswith(_REFERENCE):
                break
            name = found.removeprefix(_REFERENCE).strip()
            found = self._text(f"{shared}/{name}") or self._packed(shared, name)
        found = found.strip()
        return found if _COMMIT.fullmatch(found) else ""

    def _packed(self, shared: str, name: str) -> str:
        """A branch that has no file of its own."""
        lines = self._text(f"{shared}/packed-refs").splitlines()
        return next((line.partition(" ")[0] for line in lines if line.partition(" ")[2] == name), "")

    def _named_in(self, file: str, start: str) -> str:
        """The folder that a file of git names, relative to its own."""
        text = self._text(file)
        name = text.removeprefix(start).removesuffix("\n")
        return posixpath.normpath(posixpath.join(posixpath.dirname(file), name)) if text else ""

    def _text(self, file: str) -> str:
        try:
            return self.tree.read(self.spelt(file)).decode(errors="surrogateescape")
        except DuvetError:
            return ""
