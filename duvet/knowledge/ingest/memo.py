"""The memo of an ingest run."""

from __future__ import annotations

import zlib
from contextlib import suppress

from msgspec import DecodeError, Struct, ValidationError, msgpack

from duvet.tree.record import FileStamp


class FileRecord(Struct, frozen=True, array_like=True, gc=False, omit_defaults=True):
    """What a file looked like, and what it says of itself and of others."""

    seen: FileStamp | None = None
    """None where it was not read from the disk."""
    subsystem: str = ""
    tags: tuple[str, ...] = ()
    title: str = ""
    slug: str = ""
    links: tuple[str, ...] = ()
    """Paths as they are written, relative to the file."""
    pages: tuple[str, ...] = ()
    """What stands between `[[` and `]]`."""
    imports: tuple[str, ...] = ()
    """What a test imports."""


class IngestMemo(Struct, frozen=True, array_like=True):
    """The files as they were, and how they were read."""

    how: str = ""
    files: dict[str, FileRecord] = {}

    def encoded(self) -> bytes:
        """To be kept."""
        return zlib.compress(msgpack.encode(self), 1)


def decode_memo(data: bytes | None, how: str) -> IngestMemo:
    """What was kept; nothing where that can't be read, or was read in another way."""
    with suppress(DecodeError, ValidationError, zlib.error):
        if data:
            memo = msgpack.decode(zlib.decompress(data), type=IngestMemo)
            if memo.how == how:
                return memo
    return IngestMemo(how)
