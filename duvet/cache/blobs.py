"""The files of the cache: whole and of this very build, or not there."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TypeVar

from msgspec import DecodeError, Raw, msgpack

from duvet.cache.build import build
from duvet.errors import OutputError, UnreadableError
from duvet.outputs import store
from duvet.tree.disk import DiskTree
from duvet.tree.seen import digest

MAGIC = b"duvet cache\n"
_HEAD = len(MAGIC) + 32 + 32
IGNORE, IGNORED = ".gitignore", b"*\n"
_UNFINISHED = ".new"
_ABANDONED = 600
"""Seconds after which a file that nobody finished writing is swept away."""

_MOST_BYTES = 1 << 30
"""No project needs more: that is a hundred thousand sources with a million annotations."""
Value = TypeVar("Value")


class Blobs:
    """A folder of files that only duvet reads; whatever is wrong with one, it counts as absent."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def load(self, name: str, kind: type[Value]) -> Value | None:
        """What was saved under the name."""
        ##= man/spec/cache.md#keeping
        ##% A cache that is cut off, changed or unreadable MUST count as absent.
        try:
            data = self._read(name)
        except UnreadableError:
            return None
        payload = memoryview(data)[_HEAD:]
        whole = data.startswith(MAGIC + build()) and data[_HEAD - 32 : _HEAD] == digest(payload)
        return decoded(payload, kind) if whole else None

    def _read(self, name: str) -> bytes:
        tree = DiskTree(self.folder)
        return tree.read(name) if tree.marks(name).st_size <= _MOST_BYTES else b""

    def save(self, name: str, value: object) -> None:
        """Replace what is saved under the name; where that can't be done, it is left."""
        path = os.path.join(self.folder, name)
        ##= man/spec/cache.md#keeping
        ##% A cache that can't be written MUST NOT keep a run from its answer.
        # Names of files that are not UTF-8 can't be encoded.
        with suppress(OSError, OutputError, UnicodeEncodeError):
            payload = msgpack.encode(value)
            if self._prepare() and not os.path.islink(path):
                store(path, b"".join((MAGIC, build(), digest(payload), payload)))

    def _prepare(self) -> bool:
        """Make the folder, which git is to ignore; a link may lead anywhere, and is not written to."""
        ##= man/spec/cache.md#keeping
        ##% A cache behind a link MUST NOT be written.
        if os.path.islink(self.folder) or os.path.islink(os.path.dirname(self.folder)):
            return False
        ignore = os.path.join(self.folder, IGNORE)
        ##= man/spec/cache.md#keeping
        ##% Git MUST ignore the cache wherever it is made.
        if not os.path.lexists(ignore):
            os.makedirs(self.folder, exist_ok=True)
            store(ignore, IGNORED)
        self._sweep()
        return True

    def _sweep(self) -> None:
        """Remove what runs left that were killed as they wrote."""
        for name in self.names(unfinished=True):
            path = os.path.join(self.folder, name)
            with suppress(OSError):
                if time.time() - os.lstat(path).st_mtime > _ABANDONED:
                    os.unlink(path)

    def names(self, *, unfinished: bool = False) -> list[str]:
        """The files in the folder, those that are whole or those that nobody finished."""
        try:
            found = os.listdir(self.folder)
        except OSError:
            return []
        return sorted(name for name in found if name != IGNORE and name.endswith(_UNFINISHED) == unfinished)


def decoded(data: memoryview | Raw, kind: type[Value]) -> Value | None:
    """The value, if it is one of that kind."""
    with suppress(DecodeError, RecursionError):
        return msgpack.decode(data, type=kind)
    return None
