"""Takes archives apart that may come from anybody."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Self, cast

from duvet.errors import UnreadableError, describe
from duvet.knowledge.upkeep.manifest import NAME, ArchiveError, Entry, Manifest, decoded, differing
from duvet.knowledge.upkeep.room import no_room, room
from duvet.knowledge.upkeep.scratch import writing
from duvet.tree.disk import DiskTree

if TYPE_CHECKING:
    import tarfile
    from gzip import GzipFile

_CHUNK = 1 << 20
_MOST_OF_MANIFEST = 1 << 20
_AROUND = 1 << 16
"""More bytes than stand around the files of an archive, and are read ahead of them."""
_KIND = slice(156, 157)
"""Where a header says what it is of."""
_MORE = "it unpacks to more than its manifest says"


class _Bounded:
    """What comes out of an archive, up to so many bytes: at first those of a manifest, and then those that it tells of."""

    def __init__(self, file: GzipFile, path: str) -> None:
        self._file = file
        self._left = _MOST_OF_MANIFEST + _AROUND
        self._path = path

    def allow(self, size: int) -> None:
        """Go on to files of so many bytes."""
        self._left = size + _AROUND

    def read(self, size: int) -> bytes:
        from gzip import BadGzipFile

        try:
            data = self._file.read(min(size, self._left + 1))
        except BadGzipFile as error:
            raise ArchiveError("it is no backup", path=self._path) from error
        except OSError as error:
            raise UnreadableError(describe(error), path=self._path) from error
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError(_MORE, path=self._path)
        return data


def spooled(stream: BinaryIO, path: str, shown: str) -> str:
    """The path of a file with what comes out of a stream; OutputError where there is no room for it."""
    place = os.path.dirname(path)
    left = room(place)
    with writing(os.path.dirname(place)), open(path, "xb") as file:
        while data := _read(stream, shown):
            left -= len(data)
            if left < 0:
                raise no_room(place, "what comes there")
            file.write(data)
    return path


def _read(stream: BinaryIO, shown: str) -> bytes:
    try:
        return stream.read(_CHUNK)
    except OSError as error:
        raise UnreadableError(describe(error), path=shown) from error


def unpack(path: str, folder: str, shown: str = "", check: Callable[[Manifest], None] | None = None) -> Manifest:
    """Write the files of an archive to a folder, each checked; ArchiveError where anything is not as it should be.

    What else is to be checked of the manifest is checked before anything is written.
    """
    ##= man/spec/gateway.md#maintenance
    ##% An archive MUST be refused, and nothing be changed, where it holds anything but the files of a backup, such as a
    ##% link, a device or a path that leads elsewhere, where a file is not what its manifest says, or where it unpacks to
    ##% more than that or than half of the room that there is.
    shown = shown or path
    try:
        with _opened(path, shown) as (archive, bounded):
            members = iter(archive)
            manifest = _manifest(archive, next(members, None), shown)
            ##= man/spec/gateway.md#maintenance
            ##% A backup that duvet has made MUST NOT be refused because of how well it could be packed.
            if manifest.size > room(folder):
                raise no_room(folder, f"the {manifest.size:,} bytes of this backup")
            if check is not None:
                check(manifest)
            bounded.allow(manifest.size)
            found = {member.name: entry for member, entry in _files(archive, members, manifest, shown, folder)}
    except (zlib.error, EOFError) as error:
        raise ArchiveError("it is cut off, or no archive", path=shown) from error
    except OSError as error:
        raise UnreadableError(describe(error), path=shown) from error
    if wrong := differing(found, manifest):
        raise ArchiveError(f"it is damaged: {', '.join(wrong)} is not what its manifest says", path=shown)
    return manifest


@contextmanager
def _opened(path: str, shown: str) -> Iterator[tuple[tarfile.TarFile, _Bounded]]:
    import gzip
    import tarfile

    class Plain(tarfile.TarInfo):
        """A file with nothing else to say of it."""

        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
            found = super().frombuf(buf, encoding, errors)
            # Further headers would be read as a whole, however long they say that they are.
            if buf[_KIND] not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                raise ArchiveError("it holds what no backup does: something that is no file", path=shown)
            return found

    try:
        # What is no file, such as a pipe, would be waited for.
        with os.fdopen(DiskTree().opened(path)[0], "rb") as packed, gzip.open(packed) as file:
            bounded = _Bounded(file, shown)
            stream = cast(BinaryIO, bounded)
            with tarfile.open(fileobj=stream, mode="r|", tarinfo=Plain) as archive:
                yield archive, bounded
            # Only at its end is it known to be whole.
            while bounded.read(_CHUNK):
                pass
    except (tarfile.TarError, ValueError, LookupError, OverflowError, RecursionError) as error:
        raise ArchiveError("it is no backup", path=shown) from error


def _manifest(archive: tarfile.TarFile, member: tarfile.TarInfo | None, path: str) -> Manifest:
    if member is None or member.name != NAME or not _is_plain(member) or member.size > _MOST_OF_MANIFEST:
        raise ArchiveError("it is no backup: it does not begin with a manifest", path=path)
    return decoded(_stream(archive, member).read(), path)


def _files(
    archive: tarfile.TarFile, members: Iterator[tarfile.TarInfo], manifest: Manifest, path: str, folder: str
) -> Iterator[tuple[tarfile.TarInfo, Entry]]:
    left, place = dict(manifest.files), os.path.dirname(folder)
    for member in members:
        # The names are those of a list of ours: none of them leads anywhere else.
        expected = left.pop(member.name, None)
        if expected is None or not _is_plain(member) or member.size != expected.size:
            raise ArchiveError(f"it holds what no backup does: {member.name[:200]!r}", path=path)
        yield member, _written(_stream(archive, member), os.path.join(folder, member.name), place)


def _written(stream: BinaryIO, path: str, place: str) -> Entry:
    from blake3 import blake3

    digest, size = blake3(), 0
    with writing(place), _new(path) as file:
        while data := stream.read(_CHUNK):
            digest.update(data)
            size += len(data)
            file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return Entry(size, digest.hexdigest())


def _new(path: str) -> BinaryIO:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return open(path, "xb")


def _stream(archive: tarfile.TarFile, member: tarfile.TarInfo) -> BinaryIO:
    found = archive.extractfile(member)
    assert found is not None
    return cast(BinaryIO, found)


def _is_plain(member: tarfile.TarInfo) -> bool:
    """Whether it is a file, and not a link, a device or one with holes."""
    return member.isreg() and not member.issparse()
