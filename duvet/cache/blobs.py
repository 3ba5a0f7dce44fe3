"""The files of the cache: whole and of this very build, or not there."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from io import FileIO
from typing import TypeVar

from msgspec import DecodeError, Raw, msgpack

from duvet.cache.build import build
from duvet.errors import OutputError, UnreadableError
from duvet.outputs import store
from duvet.tree.disk import DiskTree
from duvet.tree.seen import digest
from duvet.unfinished import is_unfinished

MAGIC = b"duvet cache\n"
_DIGEST, _SIZE = 32, 8
_HEAD = len(MAGIC) + _DIGEST + _SIZE + _DIGEST
"""Whose it is, how much follows, and a digest of that."""
IGNORE, IGNORED = ".gitignore", b"*\n"

Value = TypeVar("Value")


class Blobs:
    """A folder of files that only duvet reads; whatever is wrong with one, it counts as absent."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def load(self, name: str, kind: type[Value]) -> Value | None:
        """What was saved under the name."""
        ##= man/spec/cache.md#keeping
        ##% A cache that is cut off, changed or unreadable MUST count as absent.
        with suppress(OSError, UnreadableError):
            handle, info = DiskTree(self.folder).opened(name)
            with FileIO(handle) as file:
                start = file.read(_HEAD)
                # What is none of ours may be larger than memory.
                if start.startswith(mark(name)) and info.st_size == _HEAD + _size(start):
                    payload = file.read()
                    return decoded(payload, kind) if start.endswith(digest(payload)) else None
        return None

    def start(self, name: str) -> bytes:
        """How a file begins; nothing where it can't be read."""
        with suppress(OSError, UnreadableError):
            handle, _ = DiskTree(self.folder).opened(name)
            with FileIO(handle) as file:
                return file.read(_HEAD)
        return b""

    def save(self, name: str, value: object) -> None:
        """Replace what is saved under the name; where that can't be done, it is left."""
        path = os.path.join(self.folder, name)
        ##= man/spec/cache.md#keeping
        ##% A cache that can't be written MUST NOT keep a run from its answer.
        # Names of files that are not UTF-8 can't be encoded, and times that are thousands of years away.
        with suppress(OSError, OutputError, UnicodeEncodeError, OverflowError):
            data = _encoded(name, value)
            if self._prepare() and _is_free(path):
                ##= man/spec/cache.md#keeping
                ##% Runs at the same time, and runs that are killed, MUST NOT spoil the cache for others.
                # Each file is replaced whole and says all that it depends on, so that it needs none of the others.
                store(path, data)

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
        return True

    def names(self, *, unfinished: bool = False) -> list[str]:
        """The files in the folder, those that are whole or those that nobody finished."""
        try:
            found = os.listdir(self.folder)
        except OSError:
            return []
        return sorted(name for name in found if name != IGNORE and is_unfinished(name) == unfinished)


def _is_free(path: str) -> bool:
    """Whether a file may be put there; what is something else is left alone, and so is what it leads to."""
    return not os.path.lexists(path) or stat.S_ISREG(os.lstat(path).st_mode)


class NoBlobs(Blobs):
    """Keeps nothing."""

    def __init__(self) -> None:
        super().__init__("")

    def load(self, name: str, kind: type[Value]) -> None:
        return None

    def save(self, name: str, value: object) -> None:
        pass


def mark(name: str) -> bytes:
    """How a file begins that this very build has saved under that name."""
    return MAGIC + digest(build() + os.fsencode(name))


def _size(start: bytes) -> int:
    return int.from_bytes(start[-_DIGEST - _SIZE : -_DIGEST])


def _encoded(name: str, value: object) -> bytearray:
    """The whole file; what may be many megabytes is put where it stays."""
    data = bytearray(_HEAD)
    msgpack.Encoder().encode_into(value, data, _HEAD)
    payload = memoryview(data)[_HEAD:]
    data[:_HEAD] = mark(name) + len(payload).to_bytes(_SIZE) + digest(payload)
    return data


def decoded(data: bytes | Raw, kind: type[Value]) -> Value | None:
    """The value, if it is one of that kind."""
    with suppress(DecodeError, RecursionError):
        return msgpack.decode(data, type=kind)
    return None
