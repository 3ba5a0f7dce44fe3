"""Where the files of a store stand."""

from __future__ import annotations

import os

Seen = tuple[tuple[int, int, int, int] | None, ...]
"""What tells one state of the files from another."""

ENDINGS = ("", "-wal", "-shm", "-journal")
"""What sqlite reads and writes, after the name of the store."""


def files_of(path: str) -> list[str]:
    """The store, and what sqlite puts beside it."""
    return [path + ending for ending in ENDINGS]


def folder_of(path: str) -> str:
    """The folder that they stand in."""
    return os.path.dirname(path) or os.curdir


def seen_at(path: str) -> Seen:
    """How the store, and what is not yet part of it, look from outside."""
    return tuple(_seen(file) for file in files_of(path)[:2])


def _seen(path: str) -> tuple[int, int, int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
