"""The files of a git revision, read from git's objects: nothing is checked out."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from duvet.errors import NotRegularError, UnreadableError, describe
from duvet.tree.disk import is_own
from duvet.tree.git_objects import Node
from duvet.tree.git_paths import Outside, Paths, Place
from duvet.tree.protocol import IS_FOLDER, Entry, Tree

Answer = TypeVar("Answer")


class GitEntry:
    """A name in a folder of a commit."""

    def __init__(self, name: str, is_link: bool, is_folder: Callable[[], bool]) -> None:
        self.name = name
        self._is_link = is_link
        self._is_folder = is_folder

    def is_dir(self) -> bool:
        return self._is_folder()

    def is_symlink(self) -> bool:
        return self._is_link


class GitTree:
    """The files of a revision; what is outside the repository is on the disk, as ever."""

    def __init__(self, paths: Paths, disk: Tree) -> None:
        self.paths = paths
        self.disk = disk
        self.taken: dict[str, None] = {}
        """The files that were read from the disk."""
        self._lent: tuple[frozenset[str], str] = (frozenset(), "")

    def lend(self, files: frozenset[str], folder: str) -> None:
        """Take these files, and all in this folder, from the disk where the revision lacks them."""
        self._lent = files, folder

    def read(self, path: str) -> bytes:
        def today(outside: str) -> bytes:
            data = self.disk.read(outside)
            if not _is_of_git(outside):
                self.taken[path] = None
            return data

        return self._asked(path, self._read, today)

    def _read(self, path: str) -> bytes:
        try:
            ##= man/spec/diff.md#reading
            ##% Files of a revision MUST be read from the objects of git, without a checkout, and MUST give the same trace as
            ##% on disk.
            place = self.paths.find(path)
            if place.node.is_folder:
                raise NotRegularError(IS_FOLDER, path=path)
            return self.paths.content(place)
        except (OSError, ValueError) as error:
            raise UnreadableError(describe(error), path=path) from error

    def is_file(self, path: str) -> bool:
        return self._asked(path, self._is_file, self.disk.is_file)

    def _is_file(self, path: str) -> bool:
        place = self._found(path)
        return place is not None and not place.node.is_folder

    def exists(self, path: str) -> bool:
        return self._asked(path, self._exists, self.disk.exists)

    def _exists(self, path: str) -> bool:
        place = self._found(path, follow=False)
        return place is not None and not is_own(place.path)

    def entries(self, folder: str) -> Iterator[Entry]:
        return self._asked(folder, lambda _: iter(self._entries(folder)), self.disk.entries)

    def _entries(self, folder: str) -> list[Entry]:
        try:
            place = self.paths.find(folder)
            if not place.node.is_folder or is_own(place.path):
                return []
            nodes = self.paths.inside(place)
        except (OSError, ValueError) as error:
            if isinstance(error, (FileNotFoundError, NotADirectoryError)):
                return []
            raise UnreadableError(describe(error), path=folder) from error
        return [
            GitEntry(name, node.is_link, partial(self._is_folder, posixpath.join(folder, name), node))
            for name, node in nodes.items()
            if not is_own(posixpath.join(place.path, name))
        ]

    def _is_folder(self, path: str, node: Node) -> bool:
        if not node.is_link:
            return node.is_folder
        return self._asked(path, self._leads_to_folder, self._is_folder_today)

    def _leads_to_folder(self, path: str) -> bool:
        place = self._found(path)
        return place is not None and place.node.is_folder

    def _is_folder_today(self, path: str) -> bool:
        return self.disk.exists(path) and not self.disk.is_file(path)

    def identity(self, folder: str) -> object:
        return self._asked(folder, self._identity, self.disk.identity)

    def _identity(self, folder: str) -> object:
        try:
            return self.paths.find(folder).path
        except (OSError, ValueError) as error:
            raise UnreadableError(describe(error), path=folder) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        ##= man/spec/diff.md#reading
        ##% The process that reads objects MUST end with the run, however that ends.
        self.close()

    def close(self) -> None:
        """Let go of the repository."""
        self.paths.objects.close()

    def _found(self, path: str, *, follow: bool = True) -> Place | None:
        try:
            return self.paths.find(path, follow=follow)
        except (OSError, ValueError):
            return None

    def _asked(self, path: str, then: Callable[[str], Answer], today: Callable[[str], Answer]) -> Answer:
        """The answer of the revision, or that of the disk about what is not in the repository."""
        try:
            return today(path) if _is_of_git(path) or self._is_lent(path) else then(path)
        except Outside as outside:
            return today(outside.path)

    def _is_lent(self, path: str) -> bool:
        ##= man/spec/diff.md#reading
        ##% A specification that the revision lacks MUST be taken as it is on disk, and that MUST be said.
        ##= man/spec/diff.md#reading
        ##% A source that the revision lacks MUST NOT be taken from disk.
        files, folder = self._lent
        plain = posixpath.normpath(path)
        if plain not in files and not (folder and plain.startswith(f"{folder}/")):
            return False
        return not self._exists(path) and self.disk.is_file(path)


def _is_of_git(path: str) -> bool:
    """Whether a path leads to what git keeps for itself, of which there is no other state."""
    return "/.git/" in f"/{path}/"
