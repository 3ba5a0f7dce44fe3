"""Errors of the index, and its files on disk."""

from __future__ import annotations

import os
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
    """Nothing was taken in yet."""


class StoreFullError(StoreError):
    """There is no room for what is to be written."""


class StoreBusyError(StoreError):
    """Somebody else is writing."""


class StoreChangedError(StoreError):
    """Somebody else has written meanwhile."""


class StoreVersionError(StoreError):
    """A store that another version of duvet has made."""


class StoreOutdatedError(StoreVersionError):
    """One that an older duvet has made, which the next run replaces."""


class StoreDamagedError(StoreError):
    """What stands there is no store, or not a whole one."""


StoreStamp = tuple[tuple[int, int, int, int] | None, ...]
"""What tells one state of the files from another."""

STORE_FILE_ENDINGS = ("", "-wal", "-shm", "-journal")
"""What sqlite reads and writes, after the name of the store."""


def list_store_files(path: str) -> list[str]:
    """The store, and what sqlite puts beside it."""
    return [path + ending for ending in STORE_FILE_ENDINGS]


def find_store_folder(path: str) -> str:
    """The folder that they stand in."""
    return os.path.dirname(path) or os.curdir


def read_store_stamp(path: str) -> StoreStamp:
    """How the store, and what is not yet part of it, look from outside."""
    return tuple(_seen(file) for file in list_store_files(path)[:2])


def _seen(path: str) -> tuple[int, int, int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


_BUSY, _FULL, _READ_ONLY, _DAMAGED, _FOREIGN = {5, 6}, {13}, {3, 8, 14, 23}, {11, 19, 20}, {26}
"""The codes of sqlite."""
_BY_DISK = {10, 14}
"""Those by which it tells of a disk, be it for want of room."""
_LITTLE = 1 << 16
"""Bytes that are as good as none."""
_NO_TEXT = 11
_ODD = ("file format", "vtable constructor")
"""What it says of a damaged file with the same code as of a statement that is wrong."""


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Whatever sqlite finds wrong with the store comes as a StoreError."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        raise _of_sqlite(error, path) from error
    except UnicodeDecodeError as error:
        # What sqlite says of it holds what stands there.
        raise make_damaged_error(path, str(error)) from error


@contextmanager
def translate_decoding_errors(path: str) -> Iterator[None]:
    """What was overwritten may be read as anything; around that which makes records of what stands there, and no more."""
    import zlib

    try:
        yield
    except (zlib.error, ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        ##= man/spec/knowledge.md#storage
        ##% duvet MUST name the file and the remedy when the index is damaged or not an index, or when the disk is full.
        raise make_damaged_error(path, str(error) or type(error).__name__) from error


def _of_sqlite(error: sqlite3.Error, path: str) -> StoreError:
    from sqlite3 import InterfaceError, ProgrammingError

    if isinstance(error, (ProgrammingError, InterfaceError)):
        return StoreError(f"it can't be asked: {error}", path=path, hint="open it again")
    # Text that is none has no code.
    code = getattr(error, "sqlite_errorcode", _NO_TEXT) & 0xFF
    if code in _BUSY:
        return make_busy_error(path)
    if code in _FULL or (code in _BY_DISK and _is_full(path)):
        return StoreFullError(f"there is no room for it: {error}", path=path, hint="make room, and try again")
    if code in _READ_ONLY:
        return StoreError(f"it can't be opened or written: {error}", path=path, hint="see who may write to its folder")
    if code in _FOREIGN:
        return make_foreign_error(path, str(error))
    if code in _DAMAGED or any(words in str(error) for words in _ODD):
        return make_damaged_error(path, str(error))
    return StoreError(f"it can't be read or written: {error}", path=path, hint="see whether its disk is well")


def _is_full(path: str) -> bool:
    """Whether there is next to no room where this file is."""
    try:
        return disk_usage(find_store_folder(path)).free < _LITTLE
    except OSError:
        return False


def make_busy_error(path: str) -> StoreBusyError:
    return StoreBusyError("somebody else is writing to it", path=path, hint="try again when that is done")


def make_missing_error(path: str) -> StoreMissingError:
    return StoreMissingError("nothing of this project was taken in yet", path=path, hint="take in what is in it first")


def make_damaged_error(path: str, reason: str) -> StoreDamagedError:
    """Of a store of which something is not as it was written."""
    return StoreDamagedError(
        f"it is damaged, or no store of duvet: {reason}",
        path=path,
        hint=f"{advise_rebuild(path)}: nothing else is lost",
    )


def make_foreign_error(path: str, reason: str) -> StoreDamagedError:
    """Of what may belong to somebody else."""
    return StoreDamagedError(
        f"it is damaged, or no store of duvet: {reason}",
        path=path,
        hint=f"say another place below `store` if this is something else; if it was a store, {advise_rebuild(path)}",
    )


def advise_rebuild(path: str) -> str:
    """What to do about a store that is of no use."""
    names = [os.path.basename(file) for file in list_store_files(path) if file == path or os.path.lexists(file)]
    return f"remove {' and '.join(names)}, and take everything in again"


def make_version_error(path: str, version: int, schema: int) -> StoreVersionError:
    """Of a store with another schema than this one."""
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
