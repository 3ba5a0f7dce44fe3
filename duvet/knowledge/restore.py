"""Restores a backup archive, after checking every member."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from itertools import islice
from shutil import disk_usage
from typing import TYPE_CHECKING, BinaryIO, Self, cast

from msgspec import Struct

from duvet.errors import DuvetError, OutputError, OutputExistsError, UnreadableError, describe_os_error
from duvet.knowledge.backup import (
    FEEDBACK_MEMBER,
    MANIFEST_NAME,
    MAX_BACKUP_REPORTS,
    REPORT_MEMBERS,
    STORE_MEMBER,
    ArchiveError,
    Manifest,
    ManifestEntry,
    create_backup,
    decode_manifest,
    find_differing_members,
    find_existing_folder,
    make_scratch_folder,
    report_write_errors,
)
from duvet.knowledge.feedback import append_lines, iterate_lines
from duvet.knowledge.settings import BACKUP_PREFIX, BACKUPS_FOLDER, StorePaths
from duvet.store.errors import (
    StoreBusyError,
    StoreChangedError,
    StoreDamagedError,
    StoreError,
    StoreMissingError,
    StoreVersionError,
    list_store_files,
)
from duvet.store.location import GITIGNORE_NAME, can_be_replaced, open_store
from duvet.store.sqlite import SqliteStore, move_store_aside, overwrite_store, read_moment
from duvet.tree.files import DiskTree
from duvet.tree.outputs import move_into_place, sync_folder

if TYPE_CHECKING:
    import tarfile
    from gzip import GzipFile


_TRIES = 5


def swap_store(places: StorePaths, copy: str, keep: Callable[[], str] | None, aside: str, patience: float) -> str:
    """Put a copy there; where it can be called on to keep what was there before, the path that this has told.

    What is no store any more goes to the folder `aside` instead, or away.
    """
    ##= man/spec/gateway.md#backups
    ##% `duvet restore` MUST restore the feedback, replace the index in one step even while servers use it, and first
    ##% save what it replaces unless `--force` is given.
    for _ in range(_TRIES):
        try:
            return _overwritten(places.store, copy, keep, patience)
        except StoreChangedError:
            continue
        except StoreMissingError:
            pass
        except (StoreDamagedError, StoreVersionError) as error:
            if isinstance(error, StoreDamagedError) and not can_be_replaced(places.store):
                raise
        kept = _moved(places.store, aside, keeps=keep is not None)
        with suppress(OutputExistsError):
            with report_write_errors(places.folder):
                move_into_place(copy, places.store, replaces=False)
            sync_folder(places.folder)
            return kept
    raise StoreBusyError("others write to it again and again", path=places.store, hint="try again when that is done")


def _overwritten(path: str, copy: str, keep: Callable[[], str] | None, patience: float) -> str:
    with closing(open_store(path)) as store:
        assert isinstance(store, SqliteStore)
        if keep is None:
            overwrite_store(store.database, copy, patience)
            return ""
        moment = read_moment(store.database)
        kept = keep()
        try:
            overwrite_store(store.database, copy, patience, only=moment)
        except StoreChangedError:
            # The next one holds what it holds, and more.
            with suppress(OSError):
                os.unlink(kept)
            raise
        return kept


def _moved(path: str, aside: str, *, keeps: bool) -> str:
    """Take away what is left of a store; where it is now, if anywhere."""
    from shutil import rmtree

    if not any(map(os.path.lexists, list_store_files(path))):
        return ""
    move_store_aside(path, aside)
    if keeps:
        return aside
    with suppress(OSError):
        rmtree(aside)
    return ""


_SHARE = 2
"""What is unpacked takes at most one part in so many of the room that there is: the store takes as much once more."""
_AROUND = 1 << 16
"""More bytes than sqlite needs besides."""
_FORCE = "make room, or keep no backup of what is there, with --force"


def measure_free_space(folder: str) -> int:
    """How many bytes may be written to a folder of what comes from anybody."""
    return _free(folder) // _SHARE


def make_no_space_error(folder: str, what: str) -> OutputError:
    """That what comes from anybody takes more than that."""
    return OutputError(
        f"there is no room for {what}: it would take more than half of what is free",
        path=os.path.dirname(folder),
        hint="make room, if this is a backup of yours",
    )


def check_free_space(places: StorePaths, folder: str, size: int, *, keeps: bool) -> None:
    """That so many bytes can be unpacked here and put in the place of what is there; OutputError where not."""
    current = _size_of(places)
    if not current:
        # What is there is moved, if anything.
        return
    free = _free(folder)
    forced = size + _log_of(size) + max(0, size - current)
    needed = max(forced, size + current) if keeps else forced
    if keeps and _is_one_disk(places.folder, find_existing_folder(places.backups)):
        needed += current
    if needed > free:
        what = "this backup and one of what is there" if keeps else "this backup in the place of what is there"
        message = f"there is no room for {what}: that takes up to {needed:,} bytes, and {free:,} are free"
        hint = _FORCE if keeps and forced <= free else "make room"
        raise OutputError(message, path=places.folder, hint=hint)


def _log_of(size: int) -> int:
    """What sqlite writes before it changes anything: all pages, each with a little around it."""
    return size + size // 64 + _AROUND


@contextmanager
def advise_force() -> Iterator[None]:
    """What can't be written of a backup of what is there can be left out."""
    try:
        yield
    except OutputError as error:
        error.hint = _FORCE
        raise


def _free(folder: str) -> int:
    with report_write_errors(os.path.dirname(folder)):
        return disk_usage(folder).free


def _size_of(places: StorePaths) -> int:
    """How many bytes a copy of what is there takes; 0 where none is made."""
    try:
        with closing(open_store(places.store)) as store:
            reports = sum(
                len(one) + 1 for kind in REPORT_MEMBERS.values() for one in store.reports(kind, MAX_BACKUP_REPORTS)
            )
    except StoreError:
        return 0
    files = (*list_store_files(places.store), places.feedback)
    return reports + sum(os.path.getsize(path) for path in files if os.path.exists(path))


def _is_one_disk(folder: str, other: str) -> bool:
    return os.stat(folder).st_dev == os.stat(other or os.curdir).st_dev


_CHUNK = 1 << 20
_MOST_OF_MANIFEST = 1 << 20
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
            raise UnreadableError(describe_os_error(error), path=self._path) from error
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError(_MORE, path=self._path)
        return data


def spool_stream(stream: BinaryIO, path: str, shown: str) -> str:
    """The path of a file with what comes out of a stream; OutputError where there is no room for it."""
    place = os.path.dirname(path)
    left = measure_free_space(place)
    with report_write_errors(os.path.dirname(place)), open(path, "xb") as file:
        while data := _read(stream, shown):
            left -= len(data)
            if left < 0:
                raise make_no_space_error(place, "what comes there")
            file.write(data)
    return path


def _read(stream: BinaryIO, shown: str) -> bytes:
    try:
        return stream.read(_CHUNK)
    except OSError as error:
        raise UnreadableError(describe_os_error(error), path=shown) from error


def unpack_archive(
    path: str, folder: str, shown: str = "", check: Callable[[Manifest], None] | None = None
) -> Manifest:
    """Write the files of an archive to a folder, each checked; ArchiveError where anything is not as it should be.

    What else is to be checked of the manifest is checked before anything is written.
    """
    ##= man/spec/gateway.md#backups
    ##% `duvet restore` MUST change nothing for an archive that contains anything but a backup, differs from its
    ##% manifest, or does not fit on the disk.
    shown = shown or path
    try:
        with _opened(path, shown) as (archive, bounded):
            members = iter(archive)
            manifest = _manifest(archive, next(members, None), shown)
            if manifest.size > measure_free_space(folder):
                raise make_no_space_error(folder, f"the {manifest.size:,} bytes of this backup")
            if check is not None:
                check(manifest)
            bounded.allow(manifest.size)
            found = {member.name: entry for member, entry in _files(archive, members, manifest, shown, folder)}
    except (zlib.error, EOFError) as error:
        raise ArchiveError("it is cut off, or no archive", path=shown) from error
    except OSError as error:
        raise UnreadableError(describe_os_error(error), path=shown) from error
    if wrong := find_differing_members(found, manifest):
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
    if member is None or member.name != MANIFEST_NAME or not _is_plain(member) or member.size > _MOST_OF_MANIFEST:
        raise ArchiveError("it is no backup: it does not begin with a manifest", path=path)
    return decode_manifest(_stream(archive, member).read(), path)


def _files(
    archive: tarfile.TarFile, members: Iterator[tarfile.TarInfo], manifest: Manifest, path: str, folder: str
) -> Iterator[tuple[tarfile.TarInfo, ManifestEntry]]:
    left, place = dict(manifest.files), os.path.dirname(folder)
    for member in members:
        # The names are those of a list of ours: none of them leads anywhere else.
        expected = left.pop(member.name, None)
        if expected is None or not _is_plain(member) or member.size != expected.size:
            raise ArchiveError(f"it holds what no backup does: {member.name[:200]!r}", path=path)
        yield member, _written(_stream(archive, member), os.path.join(folder, member.name), place)


def _written(stream: BinaryIO, path: str, place: str) -> ManifestEntry:
    from blake3 import blake3

    digest, size = blake3(), 0
    with report_write_errors(place), _new(path) as file:
        while data := stream.read(_CHUNK):
            digest.update(data)
            size += len(data)
            file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return ManifestEntry(size, digest.hexdigest())


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


RESTORE_PATIENCE = 10.0
"""Seconds that it is waited for those who write."""
_AT_ONCE = 1000
"""Votes that are brought back in one step."""


class RestoreResult(Struct, frozen=True):
    """What has come of it."""

    manifest: Manifest
    kept: str = ""
    """Where what was there before is now; empty where there was nothing, or nobody wanted it."""
    votes: int = 0
    """How many were brought back."""


def restore_backup(
    places: StorePaths,
    path: str,
    now: datetime,
    *,
    keeps: bool = True,
    patience: float = RESTORE_PATIENCE,
    stream: BinaryIO | None = None,
) -> RestoreResult:
    """Put what is in the archive in the place of what is kept; DuvetError where that can't be, and the store stays.

    Where there is a stream, the archive comes out of it, and the path only tells what that is called.
    """
    with _folder(places), make_scratch_folder(places.folder) as folder:
        archive = path if stream is None else spool_stream(stream, os.path.join(folder, "archive"), path)

        def check(manifest: Manifest) -> None:
            if STORE_MEMBER in manifest.files:
                check_free_space(places, folder, manifest.size, keeps=keeps)

        manifest = unpack_archive(archive, folder, path, check)
        copy = os.path.join(folder, STORE_MEMBER)
        has_store = STORE_MEMBER in manifest.files
        if has_store:
            _check(copy)
        votes = _bring_back(places, os.path.join(folder, FEEDBACK_MEMBER))
        kept = _replaced(places, copy, now, keeps=keeps, patience=patience) if has_store else ""
        return RestoreResult(manifest, kept, votes)


@contextmanager
def _folder(places: StorePaths) -> Iterator[None]:
    """The folder of the store; where there was none before, there is none after what goes wrong, either."""
    ##= man/spec/knowledge.md#storage
    ##% duvet MUST NOT create an index in order to read, and MUST say when the project is not indexed yet.
    made, at = [], places.folder
    while at and not os.path.lexists(at):
        made.append(at)
        at = os.path.dirname(at)
    try:
        places.make(f"{places.store}*")
        yield
    except BaseException:
        with suppress(OSError):
            if made and os.listdir(places.folder) == [GITIGNORE_NAME]:
                os.unlink(os.path.join(places.folder, GITIGNORE_NAME))
            for one in made:
                os.rmdir(one)
        raise


def _replaced(places: StorePaths, copy: str, now: datetime, *, keeps: bool, patience: float) -> str:
    # On the same disk, so that it is moved and not copied.
    name = f"{BACKUP_PREFIX}replaced-{now:%Y%m%dT%H%M%S}-{os.urandom(4).hex()}"
    aside = os.path.join(places.folder, BACKUPS_FOLDER, name)

    def keep() -> str:
        with advise_force():
            return create_backup(places, places.backups, now).path

    return swap_store(places, copy, keep if keeps else None, aside, patience)


def _check(copy: str) -> None:
    """That it is a store which can be read; the error tells nothing of where it is for the moment."""
    try:
        with closing(open_store(copy)) as store:
            store.artifacts()
    except DuvetError as error:
        hint = "take everything in again instead" if isinstance(error, StoreVersionError) else "take another backup"
        raise type(error)(f"the store in this backup is of no use: {error.message}", hint=hint) from error


def _bring_back(places: StorePaths, votes: str) -> int:
    """Add the feedback of a file that isn't there any more; how much that was."""
    from blake3 import blake3

    ##= man/spec/gateway.md#indexing-and-feedback
    ##% Feedback that was acknowledged MUST survive killed processes, concurrent writers, a replaced index and a
    ##% restored backup.
    known = {blake3(line).digest() for line in iterate_lines(places.feedback)}
    missing = (line for line in iterate_lines(votes) if blake3(line).digest() not in known)
    found = 0
    while some := list(islice(missing, _AT_ONCE)):
        append_lines(places.make(places.feedback), some)
        found += len(some)
    return found
