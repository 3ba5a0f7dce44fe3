"""Restores a backup archive, after checking every member."""

from __future__ import annotations

import gzip
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from itertools import islice
from shutil import disk_usage, rmtree
from typing import BinaryIO, Self, cast

from blake3 import blake3
from msgspec import Struct

from duvet.errors import DuvetError, OutputError, OutputExistsError, UnreadableError, describe_os_error
from duvet.knowledge import backup, feedback
from duvet.store import database as db, location, sqlite
from duvet.store.location import BACKUP_PREFIX, BACKUPS_FOLDER, StorePaths
from duvet.tree.files import DiskTree
from duvet.tree.outputs import move_into_place, sync_folder

_MAX_TRIES = 5
_VOTES_AT_ONCE = 1000
_BLOCK = 1 << 20
_FREE_SHARE = 2  # Archives may unpack to 1/n of the free space; the restored store needs the rest.
_OVERHEAD = 1 << 16  # Upper bound of the bytes that sqlite and tar headers need in addition to the content.
_SKIP_HINT = "pass --force to skip the backup of the current index"
_MAX_MANIFEST = 1 << 20


class RestoreResult(Struct, frozen=True):
    manifest: backup.Manifest
    kept: str = ""  # The path of the replaced index; empty if there was none or it was not kept.
    votes: int = 0  # Number of restored votes.


def restore_backup(
    places: StorePaths,
    path: str,
    now: datetime,
    *,
    keeps: bool = True,  # Whether to back up the current index.
    patience: float = 10.0,  # Seconds to wait for writers.
    stream: BinaryIO | None = None,  # The archive, if `path` only names it.
) -> RestoreResult:
    with _store_folder(places), backup.make_scratch_folder(places.folder) as folder:
        archive = path if stream is None else _spool_stream(stream, os.path.join(folder, "archive"), path)

        def check(manifest: backup.Manifest) -> None:
            if backup.STORE_MEMBER in manifest.files:
                _check_free_space(places, folder, manifest.size, keeps=keeps)

        manifest = _unpack_archive(archive, folder, path, check)
        copy, kept = os.path.join(folder, backup.STORE_MEMBER), ""
        if backup.STORE_MEMBER in manifest.files:
            try:
                with closing(location.open_store(copy)) as store:
                    store.check()
            except DuvetError as error:
                # The user doesn't know the temporary path.
                is_other = isinstance(error, db.StoreVersionError)
                hint = "run `duvet ingest` to index the project instead" if is_other else "use another backup"
                raise type(error)(f"the index in this backup can't be used: {error.message}", hint=hint) from error
        ##= man/spec/gateway.md#feedback
        ##% `duvet restore` MUST add the feedback of the backup to the feedback of the project.
        present = {blake3(line).digest() for line in feedback.read_lines(places.feedback)}
        missing = (
            line
            for line in feedback.read_lines(os.path.join(folder, backup.FEEDBACK_MEMBER))
            if blake3(line).digest() not in present
        )
        votes = 0
        while some := list(islice(missing, _VOTES_AT_ONCE)):
            feedback.append_lines(places.prepare(places.feedback), some)
            votes += len(some)
        if backup.STORE_MEMBER in manifest.files:
            # On the same disk, so that the store can be moved instead of copied.
            name = f"{BACKUP_PREFIX}replaced-{now:%Y%m%dT%H%M%S}-{os.urandom(4).hex()}"
            aside = os.path.join(places.folder, BACKUPS_FOLDER, name)

            def keep() -> str:
                try:
                    return backup.create_backup(places, places.backups, now).path
                except OutputError as error:
                    error.hint = f"fix this, or {_SKIP_HINT}"
                    raise

            kept = swap_store(places, copy, keep if keeps else None, aside, patience)
        return RestoreResult(manifest, kept, votes)


@contextmanager
def _store_folder(places: StorePaths) -> Iterator[None]:
    made, at = [], places.folder
    while at and not os.path.lexists(at):
        made.append(at)
        at = os.path.dirname(at)
    try:
        places.prepare(f"{places.store}*")
        yield
    except BaseException:
        with suppress(OSError):
            if made and os.listdir(places.folder) == [location.GITIGNORE_NAME]:
                os.unlink(os.path.join(places.folder, location.GITIGNORE_NAME))
            for folder in made:
                os.rmdir(folder)
        raise


def swap_store(places: StorePaths, copy: str, keep: Callable[[], str] | None, aside: str, patience: float) -> str:
    ##= man/spec/gateway.md#backups
    ##% `duvet restore` MUST replace the index in one step, even while servers use it.
    ##= man/spec/gateway.md#backups
    ##% `duvet restore` MUST back up the current index before replacing it, unless `--force` is given.
    for _ in range(_MAX_TRIES):
        try:
            with closing(location.open_store(places.store)) as store:
                if keep is None:
                    sqlite.overwrite_store(store.database, copy, patience)
                    return ""
                moment = sqlite.read_moment(store.database)
                kept = keep()
                try:
                    sqlite.overwrite_store(store.database, copy, patience, only=moment)
                except db.StoreChangedError:
                    # The next attempt makes another backup, with the changes.
                    with suppress(OSError):
                        os.unlink(kept)
                    raise
                return kept
        except db.StoreChangedError:
            continue
        except db.StoreMissingError:
            pass
        except (db.StoreDamagedError, db.StoreVersionError) as error:
            if isinstance(error, db.StoreDamagedError) and not location.can_be_replaced(places.store):
                raise
        kept = ""
        # A store that is damaged or of another version can't be backed up, so it is moved.
        if any(map(os.path.lexists, db.list_store_files(places.store))):
            sqlite.move_store_aside(places.store, aside)
            if keep is not None:
                kept = aside
            else:
                with suppress(OSError):
                    rmtree(aside)
        with suppress(OutputExistsError):
            with backup.report_write_errors(places.folder):
                move_into_place(copy, places.store, replaces=False)
            sync_folder(places.folder)
            return kept
    raise db.StoreBusyError(
        "the index keeps changing", path=places.store, hint="try again when no ingest run is in progress"
    )


def _check_free_space(places: StorePaths, folder: str, size: int, *, keeps: bool) -> None:
    try:
        with closing(location.open_store(places.store)) as store:
            reports = sum(
                len(report) + 1
                for kind in backup.REPORT_MEMBERS.values()
                for report in store.reports(kind, backup.MAX_BACKUP_REPORTS)
            )
    except db.StoreError:
        # The store is missing, or it is moved instead of copied.
        return
    files = (*db.list_store_files(places.store), places.feedback)
    current = reports + sum(os.path.getsize(path) for path in files if os.path.exists(path))
    free = _measure_free_space(folder)
    # sqlite first logs all pages, each with a header.
    log = size + size // 64 + _OVERHEAD
    forced = size + log + max(0, size - current)
    needed = max(forced, size + current) if keeps else forced
    if (
        keeps
        and os.stat(places.folder).st_dev == os.stat(backup.find_existing_folder(places.backups) or os.curdir).st_dev
    ):
        needed += current
    if needed > free:
        what = "restore this backup and save the current index" if keeps else "restore this backup"
        message = f"not enough disk space to {what}: up to {needed:,} bytes needed, {free:,} bytes free"
        hint = f"free some disk space, or {_SKIP_HINT}" if keeps and forced <= free else "free some disk space"
        raise OutputError(message, path=places.folder, hint=hint)


def _measure_free_space(folder: str) -> int:
    with backup.report_write_errors(os.path.dirname(folder)):
        return disk_usage(folder).free


def _make_no_space_error(folder: str, what: str) -> OutputError:
    return OutputError(
        f"not enough disk space: {what} would use more than half of the free space",
        path=os.path.dirname(folder),
        hint="free some disk space if you trust this archive",
    )


def _spool_stream(stream: BinaryIO, path: str, name: str) -> str:
    folder = os.path.dirname(path)
    left = _measure_free_space(folder) // _FREE_SHARE
    with backup.report_write_errors(os.path.dirname(folder)), open(path, "xb") as file:
        while True:
            try:
                data = stream.read(_BLOCK)
            except OSError as error:
                raise UnreadableError(describe_os_error(error), path=name) from error
            if not data:
                return path
            left -= len(data)
            if left < 0:
                raise _make_no_space_error(folder, "the archive on standard input")
            file.write(data)


class _BoundedReader(Struct):
    file: gzip.GzipFile
    path: str
    left: int = _MAX_MANIFEST + _OVERHEAD

    def read(self, size: int) -> bytes:
        try:
            data = self.file.read(min(size, self.left + 1))
        except gzip.BadGzipFile as error:
            # A wrong checksum is found at the end.
            message = "the archive is truncated or corrupt" if self.file.tell() else "not a duvet backup archive"
            raise backup.ArchiveError(message, path=self.path) from error
        except OSError as error:
            raise UnreadableError(describe_os_error(error), path=self.path) from error
        self.left -= len(data)
        if self.left < 0:
            raise backup.ArchiveError("the archive unpacks to more bytes than its manifest lists", path=self.path)
        return data


def _unpack_archive(path: str, folder: str, name: str, check: Callable[[backup.Manifest], None]) -> backup.Manifest:
    ##= man/spec/gateway.md#backups
    ##% `duvet restore` MUST refuse an archive that contains unexpected files or differs from its manifest, and change
    ##% nothing.
    try:
        with _open_archive(path, name) as (archive, bounded):
            members = iter(archive)
            first = next(members, None)
            if first is None or first.name != backup.MANIFEST_NAME or not first.isreg() or first.size > _MAX_MANIFEST:
                raise backup.ArchiveError("not a duvet backup archive: it does not begin with a manifest", path=name)
            manifest = backup.decode_manifest(cast(BinaryIO, archive.extractfile(first)).read(), name)
            if manifest.size > _measure_free_space(folder) // _FREE_SHARE:
                raise _make_no_space_error(folder, f"the {manifest.size:,} bytes of this backup")
            check(manifest)
            bounded.left = manifest.size + _OVERHEAD
            found: dict[str, backup.ManifestEntry] = {}
            for member in members:
                # The manifest contains only known names, so no name leads out of the folder.
                expected = manifest.files.get(member.name)
                if expected is None or member.name in found or not member.isreg() or member.size != expected.size:
                    raise backup.ArchiveError(
                        f"the archive contains a file that does not match its manifest: {member.name[:200]!r}",
                        path=name,
                    )
                target = os.path.join(folder, member.name)
                with backup.report_write_errors(os.path.dirname(folder)):
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    with open(target, "xb") as file:
                        found[member.name] = backup.copy_and_digest(cast(BinaryIO, archive.extractfile(member)), file)
                        file.flush()
                        os.fsync(file.fileno())
    except (zlib.error, EOFError) as error:
        raise backup.ArchiveError("the archive is truncated or corrupt", path=name) from error
    except OSError as error:
        raise UnreadableError(describe_os_error(error), path=name) from error
    if wrong := sorted(member for member, entry in manifest.files.items() if found.get(member) != entry):
        raise backup.ArchiveError(f"the archive is damaged; missing or changed: {', '.join(wrong)}", path=name)
    return manifest


def _open_file(path: str) -> int:
    try:
        return DiskTree().open_file(path)[0]
    except UnreadableError as error:
        if not os.path.lexists(path):
            error.hint = "correct the path"
        raise


@contextmanager
def _open_archive(path: str, name: str) -> Iterator[tuple[tarfile.TarFile, _BoundedReader]]:
    class PlainInfo(tarfile.TarInfo):
        # Tarfile would read extended headers into memory, whatever their size.
        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
            found = super().frombuf(buf, encoding, errors)
            if buf[156:157] not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                raise backup.ArchiveError("the archive contains an entry that is not a regular file", path=name)
            return found

    try:
        # `open_file` refuses pipes and devices, which would block.
        with os.fdopen(_open_file(path), "rb") as packed, gzip.open(packed) as file:
            bounded = _BoundedReader(file, name)
            stream = cast(BinaryIO, bounded)
            with tarfile.open(fileobj=stream, mode="r|", tarinfo=PlainInfo) as archive:
                yield archive, bounded
            # Gzip's checksum is at the end.
            while bounded.read(_BLOCK):
                pass
    except (tarfile.TarError, ValueError, LookupError, OverflowError, RecursionError) as error:
        raise backup.ArchiveError("not a duvet backup archive", path=name) from error
