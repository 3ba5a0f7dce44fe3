"""Folders for what is in between."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from shutil import rmtree

from duvet.errors import OutputError, describe
from duvet.knowledge.upkeep.places import BACKUP, Places

_BEGINNING = f".{BACKUP}"
_ABANDONED = 86_400
"""Seconds after which nobody is still at work in one."""


@contextmanager
def scratch(places: Places) -> Iterator[str]:
    """A new folder for a while, on the disk that the store is on; OutputError where there is no room."""
    try:
        _sweep(places.folder)
        with tempfile.TemporaryDirectory(dir=places.folder, prefix=_BEGINNING) as folder:
            yield folder
    except OSError as error:
        raise OutputError(describe(error), path=places.folder, hint="see who may write there, and make room") from error


def _sweep(folder: str) -> None:
    """Remove what those left that were killed."""
    for name in os.listdir(folder or "."):
        path = os.path.join(folder, name)
        if name.startswith(_BEGINNING) and os.path.isdir(path) and not os.path.islink(path):
            with suppress(OSError):
                if time.time() - os.lstat(path).st_mtime > _ABANDONED:
                    rmtree(path)
