"""Takes archives apart that may come from anybody."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from duvet.errors import UnreadableError, describe
from duvet.knowledge.upkeep.manifest import NAME, ArchiveError, Entry, Manifest, decoded, differing

if TYPE_CHECKING:
    import tarfile
    from gzip import GzipFile

_CHUNK = 1 << 20
_MOST_OF_MANIFEST = 1 << 20
_RATIO, _SMALL = 200, 64 << 20
"""No backup is packed to less than one part in so many, unless it is a small one."""


class _Bounded:
    """What comes out of an archive, up to so many bytes."""

    def __init__(self, file: GzipFile, most: int, path: str) -> None:
        self._file = file
        self._left = most
        self._path = path

    def read(self, size: int) -> bytes:
        data = self._file.read(min(size, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError("it unpacks to far more than a backup does", path=self._path)
        return data


def unpack(path: str, folder: str) -> Manifest:
    """Write the files of an archive to a folder, each checked; ArchiveError where anything is not as it should be."""
    ##= man/spec/gateway.md#maintenance
    ##% An archive MUST be refused, and nothing be changed, where it holds anything but the files of a backup, such as a
    ##% link, a device or a path that leads elsewhere, where a file is not what its manifest says, or where it unpacks to
    ##% far more than a backup does.
    try:
        with _opened(path) as archive:
            members = iter(archive)
            manifest = _manifest(archive, next(members, None), path)
            found = {member.name: entry for member, entry in _files(archive, members, manifest, path, folder)}
    except (zlib.error, EOFError) as error:
        raise ArchiveError("it is cut off, or no archive", path=path) from error
    except OSError as error:
        raise UnreadableError(describe(error), path=path) from error
    if wrong := differing(found, manifest):
        raise ArchiveError(f"it is damaged: {', '.join(wrong)} is not what its manifest says", path=path)
    return manifest


@contextmanager
def _opened(path: str) -> Iterator[tarfile.TarFile]:
    import gzip
    import tarfile

    try:
        with open(path, "rb") as packed:
            most = max(_SMALL, _RATIO * os.fstat(packed.fileno()).st_size)
            with gzip.open(packed) as file:
                bounded = cast(BinaryIO, _Bounded(file, most, path))
                with tarfile.open(fileobj=bounded, mode="r|") as archive:
                    yield archive
                # Only at its end is it known to be whole.
                while bounded.read(_CHUNK):
                    pass
    except (tarfile.TarError, gzip.BadGzipFile, ValueError, LookupError, OverflowError, RecursionError) as error:
        raise ArchiveError("it is no backup", path=path) from error


def _manifest(archive: tarfile.TarFile, member: tarfile.TarInfo | None, path: str) -> Manifest:
    if member is None or member.name != NAME or not _is_plain(member) or member.size > _MOST_OF_MANIFEST:
        raise ArchiveError("it is no backup: it does not begin with a manifest", path=path)
    return decoded(_stream(archive, member).read(), path)


def _files(
    archive: tarfile.TarFile, members: Iterator[tarfile.TarInfo], manifest: Manifest, path: str, folder: str
) -> Iterator[tuple[tarfile.TarInfo, Entry]]:
    left = dict(manifest.files)
    for member in members:
        # The names are those of a list of ours: none of them leads anywhere else.
        expected = left.pop(member.name, None)
        if expected is None or not _is_plain(member) or member.size != expected.size:
            raise ArchiveError(f"it holds what no backup does: {member.name[:200]!r}", path=path)
        yield member, _written(_stream(archive, member), os.path.join(folder, member.name))


def _written(stream: BinaryIO, path: str) -> Entry:
    from blake3 import blake3

    os.makedirs(os.path.dirname(path), exist_ok=True)
    digest, size = blake3(), 0
    with open(path, "xb") as file:
        while data := stream.read(_CHUNK):
            digest.update(data)
            size += len(data)
            file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return Entry(size, digest.hexdigest())


def _stream(archive: tarfile.TarFile, member: tarfile.TarInfo) -> BinaryIO:
    found = archive.extractfile(member)
    assert found is not None
    return cast(BinaryIO, found)


def _is_plain(member: tarfile.TarInfo) -> bool:
    """Whether it is a file, and not a link, a device or one with holes."""
    return member.isreg() and not member.issparse()
