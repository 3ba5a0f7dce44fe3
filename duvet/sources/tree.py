"""The reading protocol: every input of a trace comes through a Tree."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator, Mapping
from typing import Protocol

from duvet.errors import NotRegularError, UnreadableError, describe

_FOLDER = "Is a directory (os error 21)"
_CHUNK = 1 << 20
_NOTHING = "No such file or directory (os error 2)"


class Entry(Protocol):
    """A name in a folder; os.DirEntry is one."""

    @property
    def name(self) -> str:
        """The last part of the path."""

    def is_dir(self) -> bool:
        """Whether it is a folder, or a link to one."""

    def is_symlink(self) -> bool:
        """Whether it is a link."""


def is_folder(entry: Entry) -> bool:
    """Whether it is a folder or a link to one; what can't be told is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


class Tree(Protocol):
    """Files below a root. Paths are relative to the root, or absolute, with forward slashes."""

    def read(self, path: str) -> bytes:
        """The bytes of a regular file; UnreadableError where there is none."""

    def is_file(self, path: str) -> bool:
        """Whether a regular file is there."""

    def exists(self, path: str) -> bool:
        """Whether anything is there, be it a link that leads nowhere."""

    def entries(self, folder: str) -> Iterator[Entry]:
        """What a folder holds, in no order; nothing where there is no folder."""

    def identity(self, folder: str) -> object:
        """What two paths to one folder have in common, to see loops."""


class DiskTree:
    """The files on disk below a folder."""

    def __init__(self, root: str = "") -> None:
        self.root = root

    def at(self, path: str) -> str:
        return os.path.join(self.root, path) if self.root else path or "."

    def read(self, path: str) -> bytes:
        try:
            ##= man/spec/trace.md#sources
            ##% What is no regular file, such as a pipe, MUST be reported and MUST NOT be waited for.
            # Without O_NONBLOCK, opening a FIFO waits for a writer for ever.
            handle = os.open(self.at(path), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
            try:
                return _content(handle, path)
            finally:
                os.close(handle)
        except (OSError, ValueError) as error:
            raise UnreadableError(describe(error), path=path) from error

    def is_file(self, path: str) -> bool:
        return os.path.isfile(self.at(path))

    def exists(self, path: str) -> bool:
        return os.path.lexists(self.at(path))

    def entries(self, folder: str) -> Iterator[Entry]:
        try:
            with os.scandir(self.at(folder)) as found:
                yield from found
        except OSError as error:
            if isinstance(error, (FileNotFoundError, NotADirectoryError)):
                return
            raise UnreadableError(describe(error), path=folder) from error

    def identity(self, folder: str) -> object:
        try:
            info = os.stat(self.at(folder))
        except OSError as error:
            raise UnreadableError(describe(error), path=folder) from error
        return (info.st_dev, info.st_ino)


def _content(handle: int, path: str) -> bytes:
    info = os.fstat(handle)
    mode = info.st_mode
    ##= man/spec/trace.md#sources
    ##% What is no regular file, such as a pipe, MUST be reported and MUST NOT be waited for.
    if not stat.S_ISREG(mode):
        raise NotRegularError(_FOLDER if stat.S_ISDIR(mode) else "not a regular file", path=path)
    # A file object would ask for the size again, and where it stands.
    data = os.read(handle, info.st_size + 1)
    if len(data) == info.st_size:
        return data
    parts = [data]
    while parts[-1]:
        parts.append(os.read(handle, _CHUNK))
    return b"".join(parts)


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
            raise NotRegularError(_FOLDER, path=path)
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
