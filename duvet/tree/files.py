"""The protocol for reading files, with implementations on disk and in memory."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterator, Mapping
from typing import Protocol

from msgspec import Struct

from duvet.errors import NotRegularError, UnreadableError, describe_os_error
from duvet.text import quote_text, shorten_text

IS_FOLDER = "Is a directory (os error 21)"  # The message for a folder in place of a file.


class TreeEntry(Protocol):
    """os.DirEntry implements this."""

    @property
    def name(self) -> str: ...

    def is_dir(self) -> bool: ...

    def is_symlink(self) -> bool: ...


def is_folder(entry: TreeEntry) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


class Tree(Protocol):
    """Files below a root; paths are relative to the root or absolute, with forward slashes."""

    def read(self, path: str) -> bytes:
        """Return the bytes of a regular file; raise UnreadableError if it can't be read."""

    def is_file(self, path: str) -> bool: ...

    def exists(self, path: str) -> bool:
        """Return whether the path exists; a broken symlink does."""

    def entries(self, folder: str) -> Iterator[TreeEntry]:
        """Yield the entries of a folder in any order, none without such a folder; raise UnreadableError for other faults."""

    def identity(self, folder: str) -> object:
        """Return a value that is equal for all paths of the same folder, to detect loops."""


CACHE_FOLDER, STORE_FOLDER = ".duvet/cache", ".duvet/knowledge"
OWN_FOLDERS = (CACHE_FOLDER, STORE_FOLDER)  # The folders of duvet's own data, which trees leave out.

_NAMES = frozenset(folder.rpartition("/")[2] for folder in OWN_FOLDERS)

# Without O_NONBLOCK, opening a FIFO waits for a writer forever.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class DiskTree:
    """The files on disk under a folder."""

    def __init__(self, root: str = "") -> None:
        self.root = root
        # On POSIX, this is much faster than `os.path.join`, which a look for changes would call for every file.
        self._start = os.path.join(root, "") if root and os.name == "posix" else ""

    def at(self, path: str) -> str:
        if self._start and not path.startswith("/"):
            return self._start + path
        return os.path.join(self.root, path) if self.root else path or "."

    def read(self, path: str) -> bytes:
        return self.read_with_status(path)[0]

    def read_with_status(self, path: str) -> tuple[bytes, os.stat_result]:
        handle, info = self.open_file(path)
        try:
            # A file object would query the size and the position again.
            data = os.read(handle, info.st_size + 1)
            if len(data) == info.st_size:
                return data, info
            parts = [data]
            while parts[-1]:
                parts.append(os.read(handle, 1 << 20))
            return b"".join(parts), info
        except OSError as error:
            raise UnreadableError(describe_os_error(error), path=path) from error
        finally:
            os.close(handle)

    def open_file(self, path: str) -> tuple[int, os.stat_result]:
        try:
            handle = os.open(self.at(path), _READ)
            info = os.fstat(handle)
        except (OSError, ValueError) as error:
            raise UnreadableError(describe_os_error(error), path=path) from error
        if stat.S_ISREG(info.st_mode):
            return handle, info
        os.close(handle)
        raise NotRegularError(IS_FOLDER if stat.S_ISDIR(info.st_mode) else "not a regular file", path=path)

    def is_file(self, path: str) -> bool:
        return os.path.isfile(self.at(path))

    def is_own(self, path: str) -> bool:
        if path.rpartition("/")[2] not in _NAMES:
            return False
        return is_own_folder(path) or is_own_folder(os.path.realpath(self.at(path)).replace(os.sep, "/"))

    def exists(self, path: str) -> bool:
        return not self.is_own(path) and os.path.lexists(self.at(path))

    def entries(self, folder: str) -> Iterator[TreeEntry]:
        if self.is_own(folder):
            return
        try:
            with os.scandir(self.at(folder)) as found:
                for entry in found:
                    # Results must not depend on duvet's own folders.
                    if entry.name not in _NAMES or not self.is_own(f"{folder}/{entry.name}"):
                        yield entry
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise UnreadableError(describe_os_error(error), path=folder) from error

    def identity(self, folder: str) -> object:
        info = self.status(folder)
        return (info.st_dev, info.st_ino)

    def status(self, path: str) -> os.stat_result:
        try:
            return os.stat(self.at(path))
        except (OSError, ValueError) as error:
            raise UnreadableError(describe_os_error(error), path=path) from error


def is_own_folder(path: str) -> bool:
    return any(f"/{path}".endswith(f"/{folder}") for folder in OWN_FOLDERS)


def find_read_fault(disk: DiskTree, path: str) -> str:
    try:
        disk.read(path)
    except UnreadableError as error:
        return error.message
    return ""


class MemoryEntry(Struct, frozen=True):
    name: str
    is_folder: bool

    def is_dir(self) -> bool:
        return self.is_folder

    def is_symlink(self) -> bool:
        return False


class MemoryTree:
    """Files in memory, optionally overlaid on another tree."""

    def __init__(self, files: Mapping[str, bytes], below: Tree | None = None) -> None:
        self.files = {_normalise(path): data for path, data in files.items()}
        self.below = below
        self._folders: dict[str, dict[str, bool]] = {"": {}}
        for path in self.files:
            at, is_folder = path, False
            while at not in ("", "/"):
                folder, name = posixpath.split(at)
                if name == "..":
                    break
                self._folders.setdefault(folder, {})[name] = is_folder
                at, is_folder = folder, True

    def read(self, path: str) -> bytes:
        plain = _normalise(path)
        found = self.files.get(plain)
        if found is not None:
            return found
        if self.below is not None:
            return self.below.read(path)
        if plain in self._folders:
            raise NotRegularError(IS_FOLDER, path=path)
        raise UnreadableError("No such file or directory (os error 2)", path=path)

    def is_file(self, path: str) -> bool:
        return _normalise(path) in self.files or (self.below is not None and self.below.is_file(path))

    def exists(self, path: str) -> bool:
        plain = _normalise(path)
        here = plain in self.files or plain in self._folders
        return here or (self.below is not None and self.below.exists(path))

    def entries(self, folder: str) -> Iterator[TreeEntry]:
        own = self._folders.get(_normalise(folder), {})
        for name, is_folder in own.items():
            yield MemoryEntry(name, is_folder)
        if self.below is not None:
            yield from (entry for entry in self.below.entries(folder) if entry.name not in own)

    def identity(self, folder: str) -> object:
        if self.below is not None and self.below.exists(folder):
            return self.below.identity(folder)
        return _normalise(folder)


def _normalise(path: str) -> str:
    if path.startswith(".") or path.endswith("/") or "//" in path or "/." in path:
        plain = posixpath.normpath(path)
        return "" if plain == "." else plain
    return path


def leads_into_folder(root: str, path: str) -> bool:
    top, real = os.path.realpath(root), os.path.realpath(path)
    return real == top or real.startswith(os.path.join(top, ""))


class FolderMembership:
    def __init__(self, root: str, disk: DiskTree) -> None:
        self.root = os.path.realpath(root)
        self.disk = disk
        self.folders: dict[str, bool] = {}  # Whether each folder that was asked for is inside.

    def has(self, path: str) -> bool:
        at = self.disk.at(path)
        return self.has_folder(posixpath.dirname(path)) and not (
            os.path.islink(at) and not leads_into_folder(self.root, at)
        )

    def has_folder(self, folder: str) -> bool:
        if folder not in self.folders:
            self.folders[folder] = leads_into_folder(self.root, self.disk.at(folder))
        return self.folders[folder]


SPECIAL_CHARACTERS = r'\x00-\x1f\x7f\\:*?"<>|'
"""The characters that some systems don't allow in names, for use in a character class."""
_RESERVED = r"(?i:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)"
_LONGEST, _LONGEST_NAME = 1024, 255


def is_reserved(name: str) -> bool:
    return re.match(_RESERVED, name) is not None


def find_file_ending(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()


def find_path_fault(path: str) -> str:
    if path.startswith("/"):
        return "it is absolute"
    if len(path) > _LONGEST or re.search(f"[{SPECIAL_CHARACTERS}]", path):
        return "it is too long or contains a character that some systems don't allow"
    faults = (find_name_fault(part) for part in path.split("/") if part not in ("", "."))
    return next(filter(None, faults), "")


def find_name_fault(part: str) -> str:
    if part == "..":
        return "it contains `..`"
    if part.startswith("."):
        return f"{quote_text(shorten_text(part))} is a hidden name"
    if part != part.rstrip(". ") or part != part.lstrip() or is_reserved(part):
        return f"{quote_text(shorten_text(part))} is not a valid name on some systems"
    return "a name in it is too long" if len(part.encode()) > _LONGEST_NAME else ""
