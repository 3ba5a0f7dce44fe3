"""Errors of the index, and its files on disk."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import disk_usage
from typing import TYPE_CHECKING

from duvet.errors import DuvetError

if TYPE_CHECKING:
    import sqlite3


class StoreError(DuvetError):
    """A store that can't be read or written."""


class StoreMissingError(StoreError):
    """The project is not indexed yet."""


class StoreFullError(StoreError):
    """The disk is full."""


class StoreBusyError(StoreError):
    """Another process is writing."""


class StoreChangedError(StoreError):
    """Another process has written meanwhile."""


class StoreVersionError(StoreError):
    """Another version of duvet has created the store."""


class StoreOutdatedError(StoreVersionError):
    """An older version has created it; the next run replaces it."""


class StoreDamagedError(StoreError):
    """The file is not a store, or a damaged one."""


StoreStamp = tuple[tuple[int, int, int, int] | None, ...]
"""Device, inode, size and time of the store and its log."""

STORE_FILE_ENDINGS = ("", "-wal", "-shm", "-journal")
"""The suffixes of the files that sqlite reads and writes."""


def list_store_files(path: str) -> list[str]:
    return [path + ending for ending in STORE_FILE_ENDINGS]


def find_store_folder(path: str) -> str:
    return os.path.dirname(path) or os.curdir


def read_store_stamp(path: str) -> StoreStamp:
    def stamp(file: str) -> tuple[int, int, int, int] | None:
        try:
            status = os.stat(file)
        except (OSError, ValueError):
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    return tuple(stamp(file) for file in list_store_files(path)[:2])


_BUSY, _FULL, _READ_ONLY, _DAMAGED, _FOREIGN = {5, 6}, {13}, {3, 8, 14, 23}, {11, 19, 20}, {26}
"""Error codes of sqlite."""
_DISK = {10, 14}
"""The codes of disk errors, some of which mean a full disk."""
_FULL_BYTES = 1 << 16
"""A disk with less free space is full."""
_CORRUPT = 11
_DAMAGE_MESSAGES = ("file format", "vtable constructor")
"""In messages about damaged files with the code of a wrong statement."""


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Turn the errors of sqlite into StoreErrors."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        raise _make_error(error, path) from error
    except UnicodeDecodeError as error:
        # The message of sqlite contains text that is not Unicode.
        raise make_damaged_error(path, str(error)) from error


@contextmanager
def translate_decoding_errors(path: str) -> Iterator[None]:
    """Turn any error into a StoreDamagedError; use it around decoding only, where damaged data can raise anything."""
    try:
        yield
    except (zlib.error, ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        ##= man/spec/knowledge.md#storage
        ##% duvet MUST name the file and the remedy when the index is damaged or not an index, or when the disk is full.
        raise make_damaged_error(path, str(error) or type(error).__name__) from error


def _make_error(error: sqlite3.Error, path: str) -> StoreError:
    from sqlite3 import InterfaceError, ProgrammingError

    if isinstance(error, (ProgrammingError, InterfaceError)):
        return StoreError(f"it can't be asked: {error}", path=path, hint="open it again")
    # An error about text that is not Unicode has no code.
    code = getattr(error, "sqlite_errorcode", _CORRUPT) & 0xFF
    if code in _BUSY:
        return make_busy_error(path)
    if code in _FULL or (code in _DISK and _is_full(path)):
        return StoreFullError(f"there is no room for it: {error}", path=path, hint="make room, and try again")
    if code in _READ_ONLY:
        return StoreError(f"it can't be opened or written: {error}", path=path, hint="see who may write to its folder")
    if code in _FOREIGN:
        return make_foreign_error(path, str(error))
    if code in _DAMAGED or any(words in str(error) for words in _DAMAGE_MESSAGES):
        return make_damaged_error(path, str(error))
    return StoreError(f"it can't be read or written: {error}", path=path, hint="see whether its disk is well")


def _is_full(path: str) -> bool:
    try:
        return disk_usage(find_store_folder(path)).free < _FULL_BYTES
    except OSError:
        return False


def make_busy_error(path: str) -> StoreBusyError:
    return StoreBusyError("somebody else is writing to it", path=path, hint="try again when that is done")


def make_missing_error(path: str) -> StoreMissingError:
    return StoreMissingError("nothing of this project was taken in yet", path=path, hint="take in what is in it first")


def make_damaged_error(path: str, reason: str) -> StoreDamagedError:
    """Return the error about a store that is damaged, or certainly ours."""
    return StoreDamagedError(
        f"it is damaged, or no store of duvet: {reason}",
        path=path,
        hint=f"{advise_rebuild(path)}: nothing else is lost",
    )


def make_foreign_error(path: str, reason: str) -> StoreDamagedError:
    """Return the error about a file that may belong to another program."""
    return StoreDamagedError(
        f"it is damaged, or no store of duvet: {reason}",
        path=path,
        hint=f"say another place below `store` if this is something else; if it was a store, {advise_rebuild(path)}",
    )


def advise_rebuild(path: str) -> str:
    """Return a hint that names the files to remove."""
    names = [os.path.basename(file) for file in list_store_files(path) if file == path or os.path.lexists(file)]
    return f"remove {' and '.join(names)}, and take everything in again"


def make_version_error(path: str, version: int, schema: int) -> StoreVersionError:
    if version > schema:
        return StoreVersionError(
            f"a newer duvet has made it: its schema is {version}, and this one reads {schema}",
            path=path,
            hint=f"use that one; or {advise_rebuild(path)}",
        )
    return StoreOutdatedError(
        f"an older duvet has made it: its schema is {version}, and this one reads {schema}",
        path=path,
        hint="take everything in again: that replaces it, and it holds nothing else",
    )
