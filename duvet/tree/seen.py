"""What a file or a folder looked like, to tell later whether it is still the same."""

from __future__ import annotations

import os

from msgspec import Struct
from msgspec.structs import replace

_CLOSE_BY = 2_000_000_000
"""Nanoseconds within which a second change may leave the times as they are: FAT counts in twos of seconds."""
_TIMES_TELL = os.name != "nt"
"""Windows tells when a file was made, not when it was changed last in any way: its content has to tell."""


class Seen(Struct, frozen=True, array_like=True, gc=False):
    """The marks of a file or folder; with a digest of what is in it where the times alone prove nothing."""

    size: int
    modified: int
    changed: int
    inode: int
    digest: bytes = b""

    def looks_like(self, info: os.stat_result) -> bool:
        """Whether all marks but the digest are those of the file now."""
        return (
            self.modified == info.st_mtime_ns
            and self.changed == info.st_ctime_ns
            and self.size == info.st_size
            and self.inode == info.st_ino
        )

    def agrees(self, other: Seen) -> bool:
        """Whether both may be looks at one and the same state."""
        known = self.digest and other.digest
        return self == (other if known else replace(other, digest=self.digest))


def marks(info: os.stat_result, digest: bytes = b"") -> Seen:
    """The marks that a file or folder has now."""
    return Seen(info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, digest)


def is_fresh(info: os.stat_result, now: int) -> bool:
    """Whether it changed so lately, or in the future, that it may change once more and look the same."""
    ##= man/spec/cache.md#freshness
    ##% A file that changed within two seconds of being read, or after, MUST be compared by its content.
    return not _TIMES_TELL or max(info.st_mtime_ns, info.st_ctime_ns) > now - _CLOSE_BY


def digest(data: bytes | memoryview) -> bytes:
    """A short name for the content."""
    from blake3 import blake3

    return blake3(data).digest()
