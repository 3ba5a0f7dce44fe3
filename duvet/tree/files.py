"""The reading protocol, and its trees of files on disk and in memory."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterator, Mapping
from typing import Protocol

from duvet.errors import NotRegularError, UnreadableError, describe_os_error
from duvet.text import quote_text, shorten_text

IS_FOLDER = "Is a directory (os error 21)"
"""What is said where a file is wanted and a folder stands."""


class TreeEntry(Protocol):
    """A name in a folder; os.DirEntry is one."""

    @property
    def name(self) -> str:
        """The last part of the path."""

    def is_dir(self) -> bool:
        """Whether it is a folder, or a link to one."""

    def is_symlink(self) -> bool:
        """Whether it is a link."""


def is_folder(entry: TreeEntry) -> bool:
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

    def entries(self, folder: str) -> Iterator[TreeEntry]:
        """What a folder holds, in no order; nothing where there is no folder."""

    def identity(self, folder: str) -> object:
        """What two paths to one folder have in common, to see loops."""


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
            raise UnreadableError(describe_os_error(error), path=path) from error
        finally:
            os.close(handle)

    def opened(self, path: str) -> tuple[int, os.stat_result]:
        """A handle to read a regular file with, and what the file looks like."""
        try:
            ##= man/spec/trace.md#sources
            ##% duvet MUST report a source that is not UTF-8 with the offset of the first wrong byte, and one that is
            ##% not a regular file without waiting for it.
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
        """Whether a folder is duvet's own, in this project or in another, by this name or by that of a link."""
        if path.rpartition("/")[2] not in _NAMES:
            return False
        real = os.path.realpath(self.at(path)).replace(os.sep, "/")
        return any(map(is_own_folder, (path, real)))

    def exists(self, path: str) -> bool:
        return not self.is_own(path) and os.path.lexists(self.at(path))

    def entries(self, folder: str) -> Iterator[TreeEntry]:
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
            raise UnreadableError(describe_os_error(error), path=folder) from error

    def identity(self, folder: str) -> object:
        info = self.marks(folder)
        return (info.st_dev, info.st_ino)

    def marks(self, path: str) -> os.stat_result:
        """What a file or folder looks like."""
        try:
            return os.stat(self.at(path))
        except (OSError, ValueError) as error:
            raise UnreadableError(describe_os_error(error), path=path) from error


def is_own_folder(path: str) -> bool:
    """Whether a folder of this path is one of those that duvet keeps for itself."""
    ##= man/spec/cache.md#storage
    ##% duvet MUST hide the cache and the index from git and from source patterns, and MUST NOT write through a symbolic
    ##% link there.
    return any(f"/{path}".endswith(f"/{folder}") for folder in OWN_FOLDERS)


def find_read_fault(disk: DiskTree, path: str) -> str:
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

    def entries(self, folder: str) -> Iterator[TreeEntry]:
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


def leads_into_folder(root: str, path: str) -> bool:
    """Whether a path leads to a folder, or to something in it."""
    top, real = os.path.realpath(root), os.path.realpath(path)
    return real == top or real.startswith(os.path.join(top, ""))


class FolderMembership:
    """Which paths of a disk lead into a folder; each folder around them is looked at once."""

    def __init__(self, root: str, disk: DiskTree) -> None:
        self.root = os.path.realpath(root)
        self.disk = disk
        self._folders: dict[str, bool] = {}

    def has(self, path: str) -> bool:
        """Whether this path does."""
        at = self.disk.at(path)
        return self.has_folder(posixpath.dirname(path)) and not (os.path.islink(at) and not self._leads(path))

    def has_folder(self, folder: str) -> bool:
        """The same of a folder, be it a link."""
        if folder not in self._folders:
            self._folders[folder] = self._leads(folder)
        return self._folders[folder]

    def know(self, folder: str) -> None:
        """Take it that this folder is one of them."""
        self._folders[folder] = True

    def _leads(self, path: str) -> bool:
        return leads_into_folder(self.root, self.disk.at(path))


SPECIAL_CHARACTERS = r'\x00-\x1f\x7f\\:*?"<>|'
"""Characters that some systems don't take, as a class of a pattern."""
_RESERVED = r"(?i:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)"
_LONGEST, _LONGEST_NAME = 1024, 255


def is_reserved(name: str) -> bool:
    """Whether some systems keep a name for themselves."""
    return re.match(_RESERVED, name) is not None


def find_path_fault(path: str) -> str:
    """What is wrong with a path that is to lead to something below a folder; empty where nothing is."""
    if path.startswith("/"):
        return "it is absolute"
    if len(path) > _LONGEST or re.search(f"[{SPECIAL_CHARACTERS}]", path):
        return "it is too long, or has a character that not every system takes"
    faults = (find_name_fault(part) for part in path.split("/") if part not in ("", "."))
    return next(filter(None, faults), "")


def find_name_fault(part: str) -> str:
    """The same of a name in a path."""
    if part == "..":
        return "it has .. in it"
    if part.startswith("."):
        return f"{quote_text(shorten_text(part))} is a hidden name"
    if part != part.rstrip(". ") or part != part.lstrip() or is_reserved(part):
        return f"{quote_text(shorten_text(part))} is no name on some systems"
    return "a name in it is too long" if len(part.encode()) > _LONGEST_NAME else ""
