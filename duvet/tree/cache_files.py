"""Files of the cache: atomic, checksummed, and bound to one build of duvet."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from functools import cache
from io import FileIO
from typing import TypeVar

import msgspec
from msgspec import DecodeError, Raw, Struct, msgpack

from duvet.errors import OutputError, UnreadableError
from duvet.tree.files import DiskTree
from duvet.tree.outputs import is_unfinished, store_file
from duvet.tree.record import digest_content
from duvet.version import VERSION

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_INSTALLED = ("site-packages", "dist-packages")


@cache
def compute_build_id() -> bytes:
    """Return a digest of this duvet, its Python, the packages beside it, and the user."""
    try:
        # An installed package changes as a whole, together with its folder.
        own = () if os.path.dirname(_PACKAGE).endswith(_INSTALLED) else _list_modules(_PACKAGE)
        parts = [VERSION, sys.version, sys.byteorder, _PACKAGE, *own, *_list_libraries(), *_describe_user()]
    except OSError:
        # An unknown build is equal to no other.
        return os.urandom(32)
    return digest_content("\n".join(parts).encode(errors="surrogateescape"))


def _list_modules(folder: str) -> Iterator[str]:
    """Yield every module and template with its time: during development, the version stays the same."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if not entry.is_dir():
            info = entry.stat()
            yield f"{entry.path} {info.st_size} {info.st_mtime_ns}"
        elif entry.name != "__pycache__":
            yield from _list_modules(entry.path)


def _list_libraries() -> Iterator[str]:
    """Yield the folders that packages are installed into: they change with every package."""
    beside = os.path.dirname(os.path.dirname(os.path.abspath(msgspec.__file__)))
    for folder in dict.fromkeys([beside, *sys.path]):
        if (folder == beside or folder.endswith(_INSTALLED)) and os.path.isdir(folder):
            yield f"{folder} {os.stat(folder).st_mtime_ns}"


def _describe_user() -> Iterator[str]:
    """Yield the user, and the encoding of file names."""
    yield sys.getfilesystemencoding()
    if sys.platform != "win32":
        yield f"{os.geteuid()} {os.getegid()} {sorted(os.getgroups())}"


BLOB_MAGIC = b"duvet cache\n"
_DIGEST, _SIZE = 32, 8
_HEAD = len(BLOB_MAGIC) + _DIGEST + _SIZE + _DIGEST
"""The length of magic bytes, a digest of build and name, the size of the payload, and its digest."""
IGNORE_FILE, IGNORE_ALL = ".gitignore", b"*\n"

Value = TypeVar("Value")


class BlobStore:
    """A folder of files that only duvet reads; a file with any fault counts as absent."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def load(self, name: str, kind: type[Value]) -> Value | None:
        """Return the value that was saved under the name."""
        ##= man/spec/cache.md#storage
        ##% duvet MUST treat a cache that is damaged, or that another user or another build of duvet wrote, as absent.
        with suppress(OSError, UnreadableError):
            handle, info = DiskTree(self.folder).opened(name)
            with FileIO(handle) as file:
                start = file.read(_HEAD)
                # A file that is not of the cache may be larger than memory.
                if start.startswith(make_blob_header(name)) and info.st_size == _HEAD + int.from_bytes(
                    start[-_DIGEST - _SIZE : -_DIGEST]
                ):
                    payload = file.read()
                    return decode_blob(payload, kind) if start.endswith(digest_content(payload)) else None
        return None

    def start(self, name: str) -> bytes:
        """Return the header of a file; empty if it can't be read."""
        with suppress(OSError, UnreadableError):
            handle, _ = DiskTree(self.folder).opened(name)
            with FileIO(handle) as file:
                return file.read(_HEAD)
        return b""

    def save(self, name: str, value: object) -> None:
        """Replace the value under the name, if the folder can be written to."""
        path = os.path.join(self.folder, name)
        ##= man/spec/cache.md#storage
        ##% A cache that cannot be written MUST NOT fail a run, and concurrent or killed runs MUST NOT damage it.
        # Names of files that are not UTF-8 can't be encoded, and times that are thousands of years away.
        with suppress(OSError, OutputError, UnicodeEncodeError, OverflowError):
            data = _encode_blob(name, value)
            # Anything but a regular file is left alone, and so is the target of a link.
            if self._prepare() and (not os.path.lexists(path) or stat.S_ISREG(os.lstat(path).st_mode)):
                # Each file is replaced whole and names everything that it depends on, so that no file needs another.
                store_file(path, data)

    def _prepare(self) -> bool:
        """Make the folder, and hide it from git; False if it is a link, which may lead anywhere."""
        if os.path.islink(self.folder) or os.path.islink(os.path.dirname(self.folder)):
            return False
        ignore = os.path.join(self.folder, IGNORE_FILE)
        ##= man/spec/cache.md#storage
        ##% duvet MUST hide the cache and the index from git and from source patterns, and MUST NOT write through a
        ##% symbolic link there.
        if not os.path.lexists(ignore):
            os.makedirs(self.folder, exist_ok=True)
            store_file(ignore, IGNORE_ALL)
        return True

    def names(self, *, unfinished: bool = False) -> list[str]:
        """List the files in the folder, either complete ones or those left unfinished."""
        try:
            found = os.listdir(self.folder)
        except OSError:
            return []
        return sorted(name for name in found if name != IGNORE_FILE and is_unfinished(name) == unfinished)


class NoBlobStore(BlobStore):
    """A store that keeps nothing."""

    def __init__(self) -> None:
        super().__init__("")

    def load(self, name: str, kind: type[Value]) -> None:
        return None

    def save(self, name: str, value: object) -> None:
        pass


def make_blob_header(name: str) -> bytes:
    """Return the magic bytes and the digest of this build and the name."""
    return BLOB_MAGIC + digest_content(compute_build_id() + os.fsencode(name))


def _encode_blob(name: str, value: object) -> bytearray:
    """Return the whole file, without a second copy of what may be many megabytes."""
    data = bytearray(_HEAD)
    msgpack.Encoder().encode_into(value, data, _HEAD)
    payload = memoryview(data)[_HEAD:]
    data[:_HEAD] = make_blob_header(name) + len(payload).to_bytes(_SIZE) + digest_content(payload)
    return data


def decode_blob(data: bytes | Raw, kind: type[Value]) -> Value | None:
    """Return the value, or None if it is of another type."""
    with suppress(DecodeError, RecursionError):
        return msgpack.decode(data, type=kind)
    return None


class CacheFileState(StrEnum):
    """The state of a file in the cache folder; only a good one is used."""

    GOOD = "good"
    OTHER_BUILD = "of another build or user"
    DAMAGED = "damaged"
    FOREIGN = "not from duvet"


class CacheFile(Struct, frozen=True):
    name: str
    size: int
    state: CacheFileState


def list_cache_files(blobs: BlobStore) -> tuple[CacheFile, ...]:
    """List every file of the cache by name."""
    return tuple(_inspect_file(blobs, name) for name in blobs.names())


def _inspect_file(blobs: BlobStore, name: str) -> CacheFile:
    start, size = blobs.start(name), 0
    if start:
        with suppress(OSError):
            size = os.stat(os.path.join(blobs.folder, name)).st_size
    return CacheFile(name, size, _find_state(blobs, name, start))


def _find_state(blobs: BlobStore, name: str, start: bytes) -> CacheFileState:
    if not start.startswith(BLOB_MAGIC):
        return CacheFileState.FOREIGN
    if not start.startswith(make_blob_header(name)):
        return CacheFileState.OTHER_BUILD
    return CacheFileState.DAMAGED if blobs.load(name, Raw) is None else CacheFileState.GOOD


def clear_cache(blobs: BlobStore) -> tuple[CacheFile, ...]:
    """Remove the cache; files that are not duvet's stay, and their folder too."""
    ##= man/spec/cache.md#storage
    ##% `duvet cache` MUST show what the cache contains, and `duvet cache --clear` MUST remove that and nothing else.
    found = tuple(item for item in list_cache_files(blobs) if item.state is not CacheFileState.FOREIGN)
    names = [item.name for item in found] + blobs.names(unfinished=True)
    with suppress(UnreadableError):
        if DiskTree(blobs.folder).read(IGNORE_FILE) == IGNORE_ALL:
            names.append(IGNORE_FILE)
    for name in names:
        # Another process may be clearing it, too.
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(blobs.folder, name))
    with suppress(OSError):
        os.rmdir(blobs.folder)
    return found
