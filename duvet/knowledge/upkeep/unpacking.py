"""Takes archives apart that may come from anybody."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Self, cast

from duvet.errors import UnreadableError, describe
from duvet.knowledge.upkeep.manifest import NAME, ArchiveError, Entry, Manifest, decoded, differing
from duvet.tree.disk import DiskTree

if TYPE_CHECKING:
    import tarfile
    from gzip import GzipFile

_CHUNK = 1 << 20
_MOST_OF_MANIFEST = 1 << 20
_RATIO, _SMALL = 200, 64 << 20
"""No backup is packed to less than one part in so many, unless it is a small one."""
_AROUND = 1 << 16
"""More bytes than stand around the files of an archive, and are read ahead of them."""
_KIND = slice(156, 157)
"""Where a header says what it is of."""
_FAR_MORE = "it unpacks to far more than a backup does"


class _Bounded:
    """What comes out of an archive, up to so many bytes: at first those of a manifest, and then those that it tells of."""

    def __init__(self, file: GzipFile, most: int, path: str) -> None:
        self._file = file
        self._left = _MOST_OF_MANIFEST + _AROUND
        self._most = most
        self._path = path

    def allow(self, manifest: Manifest) -> None:
        """Go on to the files of this manifest."""
        sizes = sum(one.size for one in manifest.files.values())
        if sizes > self._most:
            raise ArchiveError(_FAR_MORE, path=self._path)
        self._left = sizes + _AROUND

    def read(self, size: int) -> bytes:
        data = self._file.read(min(size, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError(_FAR_MORE, path=self._path)
        return data


def unpack(path: str, folder: str) -> Manifest:
    """Write the files of an archive to a folder, each checked; ArchiveError where anything is not as it should be."""
    ##= man/spec/gateway.md#maintenance
    ##% An archive MUST be refused, and nothing be changed, where it holds anything but the files of a backup, such as a
    ##% link, a device or a path that leads elsewhere, where a file is not what its manifest says, or where it unpacks to
    ##% far more than a backup does.
    try:
        with _opened(path) as (archive, bounded):
            members = iter(archive)
            manifest = _manifest(archive, next(members, None), path)
            bounded.allow(manifest)
            found = {member.name: entry for member, entry in _files(archive, members, manifest, path, folder)}
    except (zlib.error, EOFError) as error:
        raise ArchiveError("it is cut off, or no archive", path=path) from error
    except OSError as error:
        raise UnreadableError(describe(error), path=path) from error
    if wrong := differing(found, manifest):
        raise ArchiveError(f"it is damaged: {', '.join(wrong)} is not what its manifest says", path=path)
    return manifest


@contextmanager
def _opened(path: str) -> Iterator[tuple[tarfile.TarFile, _Bounded]]:
    import gzip
    import tarfile

    class Plain(tarfile.TarInfo):
        """A file with nothing else to say of it."""

        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
            found = super().frombuf(buf, encoding, errors)
            # Further headers would be read as a whole, however long they say that they are.
            if buf[_KIND] not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                raise ArchiveError("it holds what no backup does: something that is no file", path=path)
            return found

    try:
        # What is no file, such as a pipe, would be waited for.
        with os.fdopen(DiskTree().opened(path)[0], "rb") as packed:
            most = max(_SMALL, _RATIO * os.fstat(packed.fileno()).st_size)
            with gzip.open(packed) as file:
                bounded = _Bounded(file, most, path)
                stream = cast(BinaryIO, bounded)
                with tarfile.open(fileobj=stream, mode="r|", tarinfo=Plain) as archive:
                    yield archive, bounded
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
