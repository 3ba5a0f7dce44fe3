"""A sign of what is installed, for those who can't wait until it is looked at."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

_ENTRY_POINTS = "entry_points.txt"
_INFO = (".dist-info", ".egg-info")


def entry_points_on(path: Iterable[str]) -> tuple[str, ...]:
    """The distributions in these folders that declare entry points, each with the time and size of what it declares.

    The names of their folders have their versions. A pack that is edited where it stands, without being installed anew,
    looks as before.
    """
    return tuple(mark for folder in dict.fromkeys(path) for mark in _marks(folder or os.curdir))


def _marks(folder: str) -> Iterator[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_INFO))
    except NotADirectoryError:
        # An archive: it changes as a whole.
        yield from _mark(folder)
        return
    except OSError:
        return
    for name in names:
        yield from _mark(os.path.join(folder, name, _ENTRY_POINTS))


def _mark(path: str) -> Iterator[str]:
    try:
        info = os.stat(path)
    except OSError:
        return
    yield f"{path} {info.st_size} {info.st_mtime_ns}"
