"""The files on disk below a folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from duvet.errors import NotRegularError, UnreadableError, describe
from duvet.tree.protocol import IS_FOLDER, Entry

CACHE_FOLDER, STORE_FOLDER = ".duvet/cache", ".duvet/knowledge"
OWN_FOLDERS = (CACHE_FOLDER, STORE_FOLDER)
"""What duvet keeps there for itself is no part of any tree."""

_NAMES = frozenset(folder.rpartition("/")[2] for folder in OWN_FOLDERS)

_CHUNK = 1 << 20
# Without O_NONBLOCK, opening a FIFO waits for a writer for ever.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class DiskTree:
    """The files on disk below a folder."""

    def __init__(self, root: str = "") -> None:
        self.root = root

    def at(self, path: str) -> str:
        return os.path.join(self.root, path) if self.root else path or "."

    def read(self, path: str) -> bytes:
        return self.read_with_marks(path)[0]

    def read_with_marks(self, path: str) -> tuple[bytes, os.stat_result]:
        """The bytes of a file, and what it looked like just before they were read."""
        handle, info = self.opened(path)
        try:
            return _content(handle, info), info
        except OSError as error:
            raise UnreadableError(describe(error), path=path) from error
        finally:
            os.close(handle)

    def opened(self, path: str) -> tuple[int, os.stat_result]:
        """A handle to read a regular file with, and what the file looks like."""
        try:
            ##= man/spec/trace.md#sources
            ##% What is no regular file, such as a pipe, MUST be reported and MUST NOT be waited for.
            handle = os.open(self.at(path), _READ)
            info = os.fstat(handle)
        except (OSError, ValueError) as error:
            raise UnreadableError(describe(error), path=path) from error
        if stat.S_ISREG(info.st_mode):
            return handle, info
        os.close(handle)
        raise NotRegularError(IS_FOLDER if stat.S_ISDIR(info.st_mode) else "not a regular file", path=path)

    def is_file(self, path: str) -> bool:
        return os.path.isfile(self.at(path))

    def is_own(self, path: str) -> bool:
        """Whether a folder is duvet's own, in this project or in another, by this name or by that of a link."""
        if path.rpartition("/")[2] not in _NAMES:
            return False
        real = os.path.realpath(self.at(path)).replace(os.sep, "/")
        return any(map(is_own, (path, real)))

    def exists(self, path: str) -> bool:
        return not self.is_own(path) and os.path.lexists(self.at(path))

    def entries(self, folder: str) -> Iterator[Entry]:
        if self.is_own(folder):
            return
        try:
            with os.scandir(self.at(folder)) as found:
                for entry in found:
                    # The folder of a cache is there only because of the cache.
                    if entry.name not in _NAMES or not self.is_own(f"{folder}/{entry.name}"):
                        yield entry
        except OSError as error:
            if isinstance(error, (FileNotFoundError, NotADirectoryError)):
                return
            raise UnreadableError(describe(error), path=folder) from error

    def identity(self, folder: str) -> object:
        info = self.marks(folder)
        return (info.st_dev, info.st_ino)

    def marks(self, path: str) -> os.stat_result:
        """What a file or folder looks like."""
        try:
            return os.stat(self.at(path))
        except (OSError, ValueError) as error:
            raise UnreadableError(describe(error), path=path) from error


def is_own(path: str) -> bool:
    """Whether a folder of this path is one of those that duvet keeps for itself."""
    ##= man/spec/cache.md#keeping
    ##% Patterns MUST NOT match what is in the cache.
    ##= man/spec/knowledge.md#store
    ##% Patterns MUST NOT match what is in the folder `.duvet/knowledge`.
    return any(f"/{path}".endswith(f"/{folder}") for folder in OWN_FOLDERS)


def fault(disk: DiskTree, path: str) -> str:
    """Why a path can't be read as a file; empty where it can."""
    try:
        disk.read(path)
    except UnreadableError as error:
        return error.message
    return ""


def _content(handle: int, info: os.stat_result) -> bytes:
    # A file object would ask for the size again, and where it stands.
    data = os.read(handle, info.st_size + 1)
    if len(data) == info.st_size:
        return data
    parts = [data]
    while parts[-1]:
        parts.append(os.read(handle, _CHUNK))
    return b"".join(parts)
