"""What goes wrong with a store, in words that say what to do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import disk_usage
from typing import TYPE_CHECKING

from duvet.store.errors import BusyError, DamagedError, FullError, MissingError, OlderError, StoreError, VersionError
from duvet.store.places import files_of, folder_of

if TYPE_CHECKING:
    import sqlite3

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
def told(path: str) -> Iterator[None]:
    """Whatever sqlite finds wrong with the store comes as a StoreError."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        raise _of_sqlite(error, path) from error
    except UnicodeDecodeError as error:
        # What sqlite says of it holds what stands there.
        raise damaged(path, str(error)) from error


@contextmanager
def decoding(path: str) -> Iterator[None]:
    """What was overwritten may be read as anything; around that which makes records of what stands there, and no more."""
    import zlib

    try:
        yield
    except (zlib.error, ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        ##= man/spec/knowledge.md#store
        ##% A store that is cut off, that makes no sense, or that is not one of duvet at all MUST be an error that names
        ##% the file and says what to do.
        raise damaged(path, str(error) or type(error).__name__) from error


def _of_sqlite(error: sqlite3.Error, path: str) -> StoreError:
    from sqlite3 import InterfaceError, ProgrammingError

    if isinstance(error, (ProgrammingError, InterfaceError)):
        return StoreError(f"it can't be asked: {error}", path=path, hint="open it again")
    # Text that is none has no code.
    code = getattr(error, "sqlite_errorcode", _NO_TEXT) & 0xFF
    if code in _BUSY:
        return busy(path)
    ##= man/spec/knowledge.md#store
    ##% Where the disk is full, that MUST be said, whichever way sqlite puts it.
    if code in _FULL or (code in _BY_DISK and _is_full(path)):
        return FullError(f"there is no room for it: {error}", path=path, hint="make room, and try again")
    if code in _READ_ONLY:
        return StoreError(f"it can't be opened or written: {error}", path=path, hint="see who may write to its folder")
    if code in _FOREIGN:
        return foreign(path, str(error))
    if code in _DAMAGED or any(words in str(error) for words in _ODD):
        return damaged(path, str(error))
    return StoreError(f"it can't be read or written: {error}", path=path, hint="see whether its disk is well")


def _is_full(path: str) -> bool:
    """Whether there is next to no room where this file is."""
    try:
        return disk_usage(folder_of(path)).free < _LITTLE
    except OSError:
        return False


def busy(path: str) -> BusyError:
    return BusyError("somebody else is writing to it", path=path, hint="try again when that is done")


def missing(path: str) -> MissingError:
    return MissingError("nothing of this project was taken in yet", path=path, hint="take in what is in it first")


def damaged(path: str, reason: str) -> DamagedError:
    """Of a store of which something is not as it was written."""
    return DamagedError(
        f"it is damaged, or no store of duvet: {reason}", path=path, hint=f"{begin_anew(path)}: nothing else is lost"
    )


def foreign(path: str, reason: str) -> DamagedError:
    """Of what may belong to somebody else."""
    return DamagedError(
        f"it is damaged, or no store of duvet: {reason}",
        path=path,
        hint=f"say another place below `store` if this is something else; if it was a store, {begin_anew(path)}",
    )


def begin_anew(path: str) -> str:
    """What to do about a store that is of no use."""
    ##= man/spec/knowledge.md#store
    ##% What is to be removed MUST be no more than the files of the store, whatever else is in their folder.
    names = [os.path.basename(file) for file in files_of(path) if file == path or os.path.lexists(file)]
    return f"remove {' and '.join(names)}, and take everything in again"


def of_version(path: str, version: int, schema: int) -> VersionError:
    """Of a store with another schema than this one."""
    if version > schema:
        return VersionError(
            f"a newer duvet has made it: its schema is {version}, and this one reads {schema}",
            path=path,
            hint=f"use that one; or {begin_anew(path)}",
        )
    return OlderError(
        f"an older duvet has made it: its schema is {version}, and this one reads {schema}",
        path=path,
        hint="take everything in again: that replaces it, and it holds nothing else",
    )
