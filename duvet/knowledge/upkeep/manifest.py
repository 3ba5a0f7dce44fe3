"""What an archive says that it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

from msgspec import DecodeError, Struct, ValidationError, json

from duvet.errors import DuvetError

NAME, FORMAT = "manifest.json", 1
STORE, FEEDBACK = "store.db", "feedback.jsonl"
REPORTS = {"reports/coverage.jsonl": "coverage", "reports/lifecycle.jsonl": "lifecycle"}
"""What was kept of reports, by the names of files, for those who read the archive by hand."""
MEMBERS = (STORE, FEEDBACK, *REPORTS)
_CHUNK = 1 << 20


class ArchiveError(DuvetError):
    """An archive that can't be trusted, or is none."""


class Entry(Struct, frozen=True):
    """A file in it."""

    size: int
    digest: str
    """BLAKE3 of its bytes, in hex."""


class Manifest(Struct, frozen=True, kw_only=True):
    """The first file of an archive."""

    format: int = FORMAT
    duvet: str
    """The version that has made it."""
    schema: int
    """That of the store."""
    revision: str
    """Of the store; empty where there is none."""
    created_at: str
    """In ISO 8601."""
    files: dict[str, Entry]

    @property
    def size(self) -> int:
        """How many bytes they have together."""
        return sum(one.size for one in self.files.values())


def encoded(manifest: Manifest) -> bytes:
    return json.format(json.encode(manifest)) + b"\n"


def decoded(data: bytes, path: str) -> Manifest:
    """The manifest in these bytes; ArchiveError where it can't be trusted."""
    try:
        found = json.decode(data, type=Manifest)
    except (DecodeError, ValidationError) as error:
        raise ArchiveError("its manifest makes no sense", path=path) from error
    if found.format != FORMAT:
        raise ArchiveError(f"a newer duvet has made it: its format is {found.format}, not {FORMAT}", path=path)
    unknown = sorted(set(found.files) - set(MEMBERS))
    if unknown or not {STORE, FEEDBACK} & set(found.files) or any(one.size < 0 for one in found.files.values()):
        raise ArchiveError("its manifest names other files than those of a backup", path=path)
    return found


def entry_of(file: BinaryIO) -> Entry:
    """The entry of a file from its beginning to its end."""
    from blake3 import blake3

    digest, size = blake3(), 0
    while data := file.read(_CHUNK):
        digest.update(data)
        size += len(data)
    return Entry(size, digest.hexdigest())


def differing(found: Mapping[str, Entry], manifest: Manifest) -> list[str]:
    """The files that are not what the manifest says, or aren't there."""
    return sorted(name for name, entry in manifest.files.items() if found.get(name) != entry)
