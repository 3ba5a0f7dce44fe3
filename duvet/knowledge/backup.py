"""Makes backup archives of the index and the feedback."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import datetime
from shutil import rmtree
from tempfile import gettempdir
from typing import BinaryIO

from blake3 import blake3
from msgspec import DecodeError, Struct, json

from duvet.errors import DuvetError, OutputError, OutputExistsError, QueryError, describe_os_error
from duvet.knowledge.feedback import read_lines
from duvet.store import database, location
from duvet.store.location import BACKUP_ENDINGS, BACKUP_PREFIX, StorePaths
from duvet.store.sqlite import Store
from duvet.tree.files import leads_into_folder
from duvet.tree.outputs import is_abandoned, make_unfinished_name, open_output
from duvet.version import VERSION

MANIFEST_NAME, ARCHIVE_FORMAT = "manifest.json", 1
STORE_MEMBER, FEEDBACK_MEMBER = "store.db", "feedback.jsonl"
REPORT_MEMBERS = {"reports/coverage.jsonl": "coverage", "reports/lifecycle.jsonl": "lifecycle"}
"""Members with the history of reports, for people who open the archive."""
ARCHIVE_MEMBERS = (STORE_MEMBER, FEEDBACK_MEMBER, *REPORT_MEMBERS)
MAX_BACKUP_REPORTS = 100
_MAX_PER_SECOND = 99
_BLOCK = 1 << 20
_SCRATCH_PREFIX = f".{BACKUP_PREFIX}"
_SCRATCH_AGE = 86_400  # Seconds after which a scratch folder is abandoned, even if its process is on another machine.
_NAME_HINT = f"end a file name with {' or '.join(BACKUP_ENDINGS)}, and the name of a new folder with /"


class ArchiveError(DuvetError):
    rule_code = "DUV123"


class ManifestEntry(Struct, frozen=True):
    size: int
    digest: str  # BLAKE3 in hex.


class Manifest(Struct, frozen=True, kw_only=True):
    format: int = ARCHIVE_FORMAT
    duvet: str  # The version of duvet that wrote it.
    schema: int  # The schema of the store.
    revision: str  # The revision of the store; empty without a store.
    created_at: str  # In ISO 8601.
    files: dict[str, ManifestEntry]

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.files.values())


def decode_manifest(data: bytes, path: str) -> Manifest:
    try:
        found = json.decode(data, type=Manifest)
    except DecodeError as error:
        raise ArchiveError("not a duvet backup archive: the manifest is not valid", path=path) from error
    if found.format != ARCHIVE_FORMAT:
        raise ArchiveError(
            f"unsupported backup format {found.format}; this version of duvet reads format {ARCHIVE_FORMAT}", path=path
        )
    names = set(found.files)
    is_known = names <= {*ARCHIVE_MEMBERS} and not names.isdisjoint({STORE_MEMBER, FEEDBACK_MEMBER})
    if not is_known or any(entry.size < 0 for entry in found.files.values()):
        raise ArchiveError("not a duvet backup archive: the manifest lists unexpected files or sizes", path=path)
    return found


def copy_and_digest(source: BinaryIO, target: BinaryIO | None = None) -> ManifestEntry:
    digest, size = blake3(), 0
    while data := source.read(_BLOCK):
        digest.update(data)
        size += len(data)
        if target is not None:
            target.write(data)
    return ManifestEntry(size, digest.hexdigest())


class Backup(Struct, frozen=True):
    path: str
    size: int


def create_backup(places: StorePaths, destination: str, now: datetime) -> Backup:
    check_backup_name(destination)
    is_inside = leads_into_folder(places.root, destination)
    # Write scratch files outside the project, because the store's folder may be read-only.
    elsewhere = gettempdir() if is_inside else find_existing_folder(destination)
    with _copy_to_scratch(places, now, elsewhere) as (folder, names):
        if leads_into_folder(places.folder, destination):
            # Do this before writing the backup, so that git never sees the backup.
            places.prepare(places.backups)
        stem = os.path.join(destination, f"{BACKUP_PREFIX}{now:%Y%m%dT%H%M%S}")
        numbered = [f"{stem}.tgz", *(f"{stem}-{number}.tgz" for number in range(2, _MAX_PER_SECOND + 1))]
        for path in [destination] if destination.endswith(BACKUP_ENDINGS) else numbered:
            try:
                with open_output(path, replaces=False) as file:
                    _pack(folder, names, file, now)
            except OutputExistsError:
                if path == destination:
                    raise
                continue
            return Backup(path, os.path.getsize(path))
    raise OutputError(
        f"this folder already contains {_MAX_PER_SECOND} backups from this second", path=destination, hint="try again"
    )


def write_archive(places: StorePaths, file: BinaryIO, now: datetime) -> None:
    with _copy_to_scratch(places, now, gettempdir()) as (folder, names):
        _pack(folder, names, file, now)


def check_backup_name(destination: str) -> None:
    path = destination.rstrip("/") or destination
    if os.path.isdir(path):
        if destination.endswith(BACKUP_ENDINGS):
            raise QueryError(
                "the destination is a folder", path=path, hint="add / at the end to write the backup into it"
            )
    elif destination.endswith(BACKUP_ENDINGS):
        return
    elif os.path.isfile(path) and path != destination:
        raise QueryError("the destination is a file, not a folder", path=path, hint="choose another folder")
    elif os.path.isfile(path) or os.path.splitext(destination)[1]:
        raise QueryError(f"a backup file name must end in {' or '.join(BACKUP_ENDINGS)}", path=path, hint=_NAME_HINT)


def find_existing_folder(path: str) -> str:
    while path and not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


@contextmanager
def _copy_to_scratch(places: StorePaths, now: datetime, elsewhere: str) -> Iterator[tuple[str, Sequence[str]]]:
    with ExitStack() as stack:
        store = None
        try:
            store = stack.enter_context(closing(location.open_store(places.store)))
        except database.StoreMissingError:
            # Without an index, there may be feedback to save.
            if not any(read_lines(places.feedback)):
                raise
        folder = stack.enter_context(make_scratch_folder(places.folder, elsewhere))
        with report_write_errors(os.path.dirname(folder)):
            ##= man/spec/gateway.md#backups
            ##% A backup MUST contain a consistent copy of the index, the feedback and the history of reports, and a
            ##% manifest with digests.
            revision = "" if store is None else _copy_store(store, places, folder)
            if lines := list(read_lines(places.feedback)):
                _write_lines(folder, FEEDBACK_MEMBER, lines)
            files: dict[str, ManifestEntry] = {}
            for name in sorted(ARCHIVE_MEMBERS):
                with suppress(FileNotFoundError), open(os.path.join(folder, name), "rb") as file:
                    files[name] = copy_and_digest(file)
            created = now.isoformat(timespec="seconds")
            manifest = Manifest(
                duvet=VERSION, schema=database.SCHEMA_VERSION, revision=revision, created_at=created, files=files
            )
            _write_lines(folder, MANIFEST_NAME, [json.format(json.encode(manifest))])
        yield folder, (MANIFEST_NAME, *files)


def _copy_store(store: Store, places: StorePaths, folder: str) -> str:
    path = os.path.join(folder, STORE_MEMBER)
    try:
        store.copy_to(path)
    except database.StoreFullError as error:
        # The disk has no room for the copy.
        raise OutputError(error.message, path=os.path.dirname(folder), hint=error.hint) from error
    try:
        with closing(location.open_store(path)) as copy:
            copy.check()
            for name, kind in REPORT_MEMBERS.items():
                _write_lines(folder, name, [*reversed(copy.reports(kind, MAX_BACKUP_REPORTS))])
            return copy.revision
    except database.StoreError as error:
        # Name the store, because the user doesn't know the copy.
        hint = database.advise_rebuild(places.store) if isinstance(error, database.StoreDamagedError) else error.hint
        raise type(error)(error.message, path=places.store, hint=hint) from error


def _write_lines(folder: str, name: str, lines: Sequence[bytes]) -> None:
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"".join(line + b"\n" for line in lines))


def _pack(folder: str, names: Sequence[str], file: BinaryIO, now: datetime) -> None:
    import tarfile
    from gzip import GzipFile

    # The GNU format has no extended headers, which restoring refuses.
    with (
        GzipFile("", "wb", 6, file) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.GNU_FORMAT) as archive,
    ):
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = os.path.getsize(os.path.join(folder, name))
            member.mtime, member.mode = int(now.timestamp()), 0o600
            with open(os.path.join(folder, name), "rb") as content:
                archive.addfile(member, content)


@contextmanager
def make_scratch_folder(place: str, *others: str) -> Iterator[str]:
    """Also remove abandoned scratch folders."""
    for folder in dict.fromkeys((place, *others, gettempdir())):
        names: Sequence[str] = ()
        with suppress(OSError):
            names = os.listdir(folder or ".")
        for name in names:
            path = os.path.join(folder, name)
            if name.startswith(_SCRATCH_PREFIX) and os.path.isdir(path) and not os.path.islink(path):
                with suppress(OSError):
                    if is_abandoned(path, _SCRATCH_AGE):
                        rmtree(path)
    failures: list[OutputError] = []
    for parent in (place, *others):
        folder = os.path.join(parent, make_unfinished_name(_SCRATCH_PREFIX))
        try:
            with report_write_errors(parent):
                os.mkdir(folder, 0o700)
                with open(os.path.join(folder, location.GITIGNORE_NAME), "xb") as file:
                    file.write(b"*\n")
            break
        except OutputError as error:
            failures.append(error)
    else:
        raise failures[0]
    try:
        yield folder
    finally:
        rmtree(folder, ignore_errors=True)


@contextmanager
def report_write_errors(place: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"can't write to this folder: {describe_os_error(error)}",
            path=place,
            hint="check the folder's permissions and the free disk space",
        ) from error
