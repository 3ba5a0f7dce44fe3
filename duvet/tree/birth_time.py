"""Finds the creation time of files, which `os.stat` does not return on Linux."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from functools import cache

_HERE, _BIRTH_MASK, _BUFFER_SIZE = -100, 0x800, 256  # AT_FDCWD, STATX_BTIME and the size of `struct statx`.
_MASK_AND_BIRTH = struct.Struct("=I76xqI")


def find_birth_time(path: str) -> float:
    """Return the creation time of a file in seconds since 1970; 0 if the system does not know it."""
    try:
        born = getattr(os.stat(path), "st_birthtime", None)
        return born if born is not None else _load_statx()(path)
    except (OSError, ValueError):
        return 0.0


@cache
def _load_statx() -> Callable[[str], float]:
    import ctypes

    try:
        statx = ctypes.CDLL(None, use_errno=True).statx
    except (OSError, AttributeError, TypeError):
        return lambda path: 0.0

    def find(path: str) -> float:
        buffer = ctypes.create_string_buffer(_BUFFER_SIZE)
        if statx(_HERE, os.fsencode(path), 0, _BIRTH_MASK, buffer) != 0:
            return 0.0
        mask, seconds, nanoseconds = _MASK_AND_BIRTH.unpack_from(buffer.raw)
        return seconds + nanoseconds / 1e9 if mask & _BIRTH_MASK else 0.0

    return find
