"""Files held in memory."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from duvet.errors import NotRegularError, UnreadableError
from duvet.tree.protocol import IS_FOLDER, Entry, Tree

_NOTHING = "No such file or directory (os error 2)"


class MemoryEntry:
    """A name in a folder that is held in memory."""

    def __init__(self, name: str, is_folder: bool) -> None:
        self.name = name
        self._is_folder = is_folder

    def is_dir(self) -> bool:
        return self._is_folder

    def is_symlink(self) -> bool:
        return False


class MemoryTree:
    """Files held in memory, laid over another tree or alone."""

    def __init__(self, files: Mapping[str, bytes], below: Tree | None = None) -> None:
        self.files = {_plain(path): data for path, data in files.items()}
        self.below = below
        self._folders: dict[str, dict[str, bool]] = {"": {}}
        for path in self.files:
            self._place(path)

    def _place(self, path: str) -> None:
        is_folder = False
        while path not in ("", "/"):
            folder, name = posixpath.split(path)
            if name == "..":
                return
            self._folders.setdefault(folder, {})[name] = is_folder
            path, is_folder = folder, True

    def read(self, path: str) -> bytes:
        plain = _plain(path)
        found = self.files.get(plain)
        if found is not None:
            return found
        if self.below is not None:
            return self.below.read(path)
        if plain in self._folders:
            raise NotRegularError(IS_FOLDER, path=path)
        raise UnreadableError(_NOTHING, path=path)

    def is_file(self, path: str) -> bool:
        return _plain(path) in self.files or (self.below is not None and self.below.is_file(path))

    def exists(self, path: str) -> bool:
        plain = _plain(path)
        here = plain in self.files or plain in self._folders
        return here or (self.below is not None and self.below.exists(path))

    def entries(self, folder: str) -> Iterator[Entry]:
        own = self._folders.get(_plain(folder), {})
        for name, is_folder in own.items():
            yield MemoryEntry(name, is_folder)
        if self.below is not None:
            yield from (entry for entry in self.below.entries(folder) if entry.name not in own)

    def identity(self, folder: str) -> object:
        if self.below is not None and self.below.exists(folder):
            return self.below.identity(folder)
        return _plain(folder)


def _plain(path: str) -> str:
    """One spelling for each path; the empty one for the root."""
    if path.startswith(".") or path.endswith("/") or "//" in path or "/." in path:
        plain = posixpath.normpath(path)
        return "" if plain == "." else plain
    return path
