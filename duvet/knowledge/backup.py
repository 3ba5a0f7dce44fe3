"""Makes backup archives of the index and the feedback."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from shutil import rmtree
from typing import BinaryIO

from msgspec import DecodeError, Struct, ValidationError, json

from duvet.errors import DuvetError, OutputError, OutputExistsError, QueryError, describe_os_error
from duvet.knowledge.feedback import read_lines
from duvet.knowledge.settings import BACKUP_ENDINGS, BACKUP_PREFIX, StorePaths
from duvet.store.database import SCHEMA_VERSION
from duvet.store.errors import StoreDamagedError, StoreError, StoreFullError, StoreMissingError, advise_rebuild
from duvet.store.location import GITIGNORE_NAME, open_store
from duvet.store.protocol import Store
from duvet.tree.files import leads_into_folder
from duvet.tree.outputs import is_abandoned, make_unfinished_name, open_output
from duvet.version import VERSION

MANIFEST_NAME, ARCHIVE_FORMAT = "manifest.json", 1
STORE_MEMBER, FEEDBACK_MEMBER = "store.db", "feedback.jsonl"
REPORT_MEMBERS = {"reports/coverage.jsonl": "coverage", "reports/lifecycle.jsonl": "lifecycle"}
"""What was kept of reports, by the names of files, for those who read the archive by hand."""
ARCHIVE_MEMBERS = (STORE_MEMBER, FEEDBACK_MEMBER, *REPORT_MEMBERS)
_CHUNK = 1 << 20


class ArchiveError(DuvetError):
    """An archive that can't be trusted, or is none."""


class ManifestEntry(Struct, frozen=True):
    """A file in it."""

    size: int
    digest: str
    """BLAKE3 of its bytes, in hex."""


class Manifest(Struct, frozen=True, kw_only=True):
    """The first file of an archive."""

    format: int = ARCHIVE_FORMAT
    duvet: str
    """The version that has made it."""
    schema: int
    """That of the store."""
    revision: str
    """Of the store; empty where there is none."""
    created_at: str
    """In ISO 8601."""
    files: dict[str, ManifestEntry]

    @property
    def size(self) -> int:
        """How many bytes they have together."""
        return sum(one.size for one in self.files.values())


def encode_manifest(manifest: Manifest) -> bytes:
    return json.format(json.encode(manifest)) + b"\n"


def decode_manifest(data: bytes, path: str) -> Manifest:
    """The manifest in these bytes; ArchiveError where it can't be trusted."""
    try:
        found = json.decode(data, type=Manifest)
    except (DecodeError, ValidationError) as error:
        raise ArchiveError("its manifest makes no sense", path=path) from error
    if found.format != ARCHIVE_FORMAT:
        raise ArchiveError(f"a newer duvet has made it: its format is {found.format}, not {ARCHIVE_FORMAT}", path=path)
    unknown = sorted(set(found.files) - set(ARCHIVE_MEMBERS))
    if (
        unknown
        or not {STORE_MEMBER, FEEDBACK_MEMBER} & set(found.files)
        or any(one.size < 0 for one in found.files.values())
    ):
        raise ArchiveError("its manifest names other files than those of a backup", path=path)
    return found


def make_manifest_entry(file: BinaryIO) -> ManifestEntry:
    """The entry of a file from its beginning to its end."""
    from blake3 import blake3

    digest, size = blake3(), 0
    while data := file.read(_CHUNK):
        digest.update(data)
        size += len(data)
    return ManifestEntry(size, digest.hexdigest())


def find_differing_members(found: Mapping[str, ManifestEntry], manifest: Manifest) -> list[str]:
    """The files that are not what the manifest says, or aren't there."""
    return sorted(name for name, entry in manifest.files.items() if found.get(name) != entry)


_BEGINNING = f".{BACKUP_PREFIX}"
_ABANDONED = 86_400
"""Seconds after which nobody is still at work in one, wherever that was."""


@contextmanager
def make_scratch_folder(place: str, *others: str) -> Iterator[str]:
    """A new folder for a while, in the first of these that can be written to; OutputError where none can."""
    from tempfile import gettempdir

    ##= man/spec/knowledge.md#files
    ##% `duvet ingest` MUST skip what git ignores, links, and what duvet itself has made, including backups.
    for one in dict.fromkeys((place, *others, gettempdir())):
        _sweep(one)
    folder = _made(place, others)
    try:
        yield folder
    finally:
        rmtree(folder, ignore_errors=True)


def _made(place: str, others: Sequence[str]) -> str:
    try:
        with report_write_errors(place):
            folder = os.path.join(place, make_unfinished_name(_BEGINNING))
            os.mkdir(folder, 0o700)
            with open(os.path.join(folder, GITIGNORE_NAME), "xb") as file:
                file.write(b"*\n")
            return folder
    except OutputError:
        for other in others:
            with suppress(OutputError):
                return _made(other, ())
        raise


@contextmanager
def report_write_errors(place: str) -> Iterator[None]:
    """Whatever can't be written is said of this folder, and not of one that is there for a while."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"can't write here: {describe_os_error(error)}", path=place, hint="see who may write there, and make room"
        ) from error


def _sweep(folder: str) -> None:
    """Remove what those left that were killed."""
    names: Sequence[str] = ()
    with suppress(OSError):
        names = os.listdir(folder or ".")
    for name in names:
        path = os.path.join(folder, name)
        if name.startswith(_BEGINNING) and os.path.isdir(path) and not os.path.islink(path):
            with suppress(OSError):
                if is_abandoned(path, _ABANDONED):
                    rmtree(path)


MAX_BACKUP_REPORTS = 100
"""Of each kind, in files of their own."""
_LEVEL = 6
_TRIES = 100

_CALLED = f"a file ends in {' or '.join(BACKUP_ENDINGS)}; a folder that is not there yet has no suffix, or / at its end"


class Backup(Struct, frozen=True):
    """An archive that was made."""

    path: str
    size: int


def create_backup(places: StorePaths, destination: str, now: datetime) -> Backup:
    """An archive in a file that isn't there yet, or under a name with the time in a folder; DuvetError where not."""
    check_backup_name(destination)
    with _copied(places, now, _elsewhere(places, destination)) as (folder, names):
        if leads_into_folder(places.folder, destination):
            # Git is to ignore it from the beginning.
            places.make(places.backups)
        for path in _names(destination, now):
            try:
                with open_output(path, replaces=False) as file:
                    _pack(folder, names, file, now)
            except OutputExistsError:
                if path == destination:
                    raise
                continue
            return Backup(path, os.path.getsize(path))
    raise OutputError("there are too many backups of this second", path=destination)


def check_backup_name(destination: str) -> None:
    """That it is called as backups are, or may be a folder for them; QueryError where not."""
    ##= man/spec/gateway.md#backups
    ##% `km-backup-trigger` MUST write only to a new `.tgz` or `.tar.gz` file in the project or in the configured
    ##% folder.
    path = destination.rstrip("/") or destination
    if os.path.isdir(path):
        if destination.endswith(BACKUP_ENDINGS):
            raise QueryError("this is a folder", path=path, hint="with / at its end, the backup goes into it")
    elif destination.endswith(BACKUP_ENDINGS):
        return
    elif os.path.isfile(path) and path != destination:
        raise QueryError("this is a file, and no folder for backups", path=path, hint=_CALLED)
    elif os.path.isfile(path) or os.path.splitext(destination)[1]:
        raise QueryError("a backup can't be called so, and no such folder is there", path=path, hint=_CALLED)


def _names(destination: str, now: datetime) -> Iterator[str]:
    if destination.endswith(BACKUP_ENDINGS):
        yield destination
        return
    for number in range(1, _TRIES):
        more = f"-{number}" if number > 1 else ""
        yield os.path.join(destination, f"{BACKUP_PREFIX}{now:%Y%m%dT%H%M%S}{more}.tgz")


def _elsewhere(places: StorePaths, destination: str) -> str:
    """Where there is a place for what is in between when there is none beside the store; never in the project."""
    from tempfile import gettempdir

    return gettempdir() if leads_into_folder(places.root, destination) else find_existing_folder(destination)


def find_existing_folder(path: str) -> str:
    """The nearest folder that is there."""
    while path and not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


def write_archive(places: StorePaths, file: BinaryIO, now: datetime, elsewhere: str) -> None:
    """Write an archive of all that is kept at this moment; where no folder beside the store can be had, by way of
    another place."""
    with _copied(places, now, elsewhere) as (folder, names):
        _pack(folder, names, file, now)


def _pack(folder: str, names: Sequence[str], file: BinaryIO, now: datetime) -> None:
    import tarfile
    from gzip import GzipFile

    with (
        GzipFile("", "wb", _LEVEL, file) as packed,
        tarfile.open(
            # Without headers of their own for large files, which are not read.
            fileobj=packed,
            mode="w|",
            format=tarfile.GNU_FORMAT,
        ) as archive,
    ):
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = os.path.getsize(os.path.join(folder, name))
            member.mtime, member.mode = int(now.timestamp()), 0o600
            with open(os.path.join(folder, name), "rb") as one:
                archive.addfile(member, one)


@contextmanager
def _copied(places: StorePaths, now: datetime, elsewhere: str) -> Iterator[tuple[str, Sequence[str]]]:
    """A folder with copies of everything, and their names, the manifest first."""
    lines = read_lines(places.feedback)
    with _store(places, is_needed=not lines) as store, make_scratch_folder(places.folder, elsewhere) as folder:
        with report_write_errors(os.path.dirname(folder)):
            names = _fill(store, places, folder, now)
        yield folder, names


def _fill(store: Store | None, places: StorePaths, folder: str, now: datetime) -> Sequence[str]:
    ##= man/spec/gateway.md#backups
    ##% A backup MUST contain the index as of one moment, if there is one, the feedback, the history of reports, and a
    ##% manifest with versions and digests.
    revision = "" if store is None else _copy(store, places, folder)
    if lines := read_lines(places.feedback):
        _write(folder, FEEDBACK_MEMBER, b"".join(line + b"\n" for line in lines))
    names = sorted(name for name in ARCHIVE_MEMBERS if os.path.exists(os.path.join(folder, name)))
    files = {name: _entry(os.path.join(folder, name)) for name in names}
    created = now.isoformat(timespec="seconds")
    manifest = Manifest(duvet=VERSION, schema=SCHEMA_VERSION, revision=revision, created_at=created, files=files)
    _write(folder, MANIFEST_NAME, encode_manifest(manifest))
    return (MANIFEST_NAME, *names)


@contextmanager
def _store(places: StorePaths, *, is_needed: bool) -> Iterator[Store | None]:
    try:
        store = open_store(places.store)
    except StoreMissingError:
        if is_needed:
            raise
        yield None
        return
    with closing(store):
        yield store


def _copy(store: Store, places: StorePaths, folder: str) -> str:
    """Put a copy of the store and what is kept of reports into a folder; the revision."""
    path = os.path.join(folder, STORE_MEMBER)
    try:
        store.copy_to(path)
    except StoreFullError as error:
        # The copy is what there is no room for.
        raise OutputError(error.message, path=os.path.dirname(folder), hint=error.hint) from error
    try:
        with closing(open_store(path)) as copy:
            for name, kind in REPORT_MEMBERS.items():
                _write(folder, name, b"".join(one + b"\n" for one in reversed(copy.reports(kind, MAX_BACKUP_REPORTS))))
            return copy.revision
    except StoreError as error:
        # Nobody can do anything about the copy.
        hint = advise_rebuild(places.store) if isinstance(error, StoreDamagedError) else error.hint
        raise type(error)(error.message, path=places.store, hint=hint) from error


def _entry(path: str) -> ManifestEntry:
    with open(path, "rb") as file:
        return make_manifest_entry(file)


def _write(folder: str, name: str, data: bytes) -> None:
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
