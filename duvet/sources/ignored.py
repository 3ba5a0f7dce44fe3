"""The paths that git ignores."""

from __future__ import annotations

import posixpath
import re

from duvet.errors import DuvetError
from duvet.sources.gitignore import Says, reads
from duvet.tree.protocol import Tree
from duvet.tree.repository import Repository

_FOLDER = re.compile(r"(?<=[^/])(?:/|\Z)")


class Ignored:
    """What is named by the `.gitignore` files of a repository and by its own list, and `.git` itself."""

    def __init__(self, tree: Tree, root: str) -> None:
        self.tree = tree
        self._repository = Repository(tree, root)
        self._files: dict[str, Says | None] = {}
        self._folders: dict[str, tuple[bool, str]] = {}
        """Whether a folder is ignored, and the top of its repository."""
        self._tops: dict[str, str] = {}

    def hides(self, path: str, is_folder: bool) -> bool:
        """Whether git ignores the path, or a folder that it is in."""
        whole = posixpath.join(self._repository.start, path)
        if "/." in whole:
            whole = posixpath.normpath(whole)
        folder = whole.rpartition("/")[0]
        known = self._folders.get(folder)
        if known is None:
            top = self._top(f"{folder}/")
            above = (whole[: end.end()] for end in _FOLDER.finditer(f"{folder}/"))
            is_hidden = any(self._is_named(one, top) for one in above if len(one) > len(top))
            known = self._folders[folder] = is_hidden, top
        return known[0] or self._is_named(f"{whole}/" if is_folder else whole, known[1])

    def _is_named(self, path: str, top: str) -> bool:
        """The nearest file that says something about the path decides; folders end with a slash."""
        start = len(path)
        while start > len(top):
            start = path.rfind("/", 0, start - 1) + 1
            if path[start:].rstrip("/") == ".git":
                return True
            verdict = self._verdict(f"{path[:start]}.gitignore", path[start:])
            if verdict is not None:
                return verdict
        ##= man/spec/trace.md#sources
        ##% What the repository itself is told to ignore, in its `info/exclude`, MUST be left out unless a `.gitignore`
        ##% file says otherwise.
        own = self._own(top)
        return bool(own and self._verdict(f"{own}/info/exclude", path[len(top) :]))

    def _verdict(self, file: str, path: str) -> bool | None:
        if file not in self._files:
            try:
                self._files[file] = reads(self.tree.read(self._repository.spelt(file)))
            except DuvetError:
                self._files[file] = None
        says = self._files[file]
        return says(path) if says else None

    def _top(self, folder: str) -> str:
        """The top of the repository; without one, the working directory, or for what is elsewhere that of the disk."""
        ##= man/spec/trace.md#sources
        ##% The `.gitignore` files of the folders above MUST count up to the top of the repository.
        inside = folder.startswith(self._repository.start)
        found = self._repository.top(self._repository.start if inside else folder)
        return found or (self._repository.start if inside else "/")

    def _own(self, top: str) -> str:
        """The folder of the repository that all its working trees share; empty where there is none."""
        if top not in self._tops:
            self._tops[top] = self._repository.shared(self._repository.own(top))
        return self._tops[top]
