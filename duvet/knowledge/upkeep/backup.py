"""Makes backups: one archive with everything that can't be made again from the project, and the store as it is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from typing import BinaryIO

from msgspec import Struct

from duvet.errors import OutputError, QueryError, TakenError
from duvet.knowledge.upkeep.lines import lines_of
from duvet.knowledge.upkeep.manifest import FEEDBACK, MEMBERS, NAME, REPORTS, STORE, Entry, Manifest, encoded, entry_of
from duvet.knowledge.upkeep.places import BACKUP, ENDINGS, Places
from duvet.knowledge.upkeep.scratch import scratch, writing
from duvet.outputs import streamed
from duvet.store.errors import DamagedError, FullError, MissingError, StoreError
from duvet.store.faults import begin_anew
from duvet.store.opening import open_store
from duvet.store.protocol import Store
from duvet.store.schema import SCHEMA
from duvet.tree.inside import leads_inside
from duvet.version import VERSION

MOST_REPORTS = 100
"""Of each kind, in files of their own."""
_LEVEL = 6
_TRIES = 100

_CALLED = f"a file ends in {' or '.join(ENDINGS)}; a folder that is not there yet has no suffix, or / at its end"


class Backup(Struct, frozen=True):
    """An archive that was made."""

    path: str
    size: int


def back_up(places: Places, destination: str, now: datetime) -> Backup:
    """An archive in a file that isn't there yet, or under a name with the time in a folder; DuvetError where not."""
    check_name(destination)
    with _copied(places, now, _elsewhere(places, destination)) as (folder, names):
        if leads_inside(places.folder, destination):
            # Git is to ignore it from the beginning.
            places.make(places.backups)
        for path in _names(destination, now):
            try:
                with streamed(path, replaces=False) as file:
                    _pack(folder, names, file, now)
            except TakenError:
                if path == destination:
                    raise
                continue
            return Backup(path, os.path.getsize(path))
    raise OutputError("there are too many backups of this second", path=destination)


def check_name(destination: str) -> None:
    """That it is called as backups are, or may be a folder for them; QueryError where not."""
    ##= man/spec/gateway.md#maintenance
    ##% The file of a backup MUST end in `.tgz` or `.tar.gz`; a name with another suffix that is no folder MUST be refused.
    path = destination.rstrip("/") or destination
    if os.path.isdir(path):
        if destination.endswith(ENDINGS):
            raise QueryError("this is a folder", path=path, hint="with / at its end, the backup goes into it")
    elif destination.endswith(ENDINGS):
        return
    elif os.path.isfile(path) and path != destination:
        raise QueryError("this is a file, and no folder for backups", path=path, hint=_CALLED)
    elif os.path.isfile(path) or os.path.splitext(destination)[1]:
        raise QueryError("a backup can't be called so, and no such folder is there", path=path, hint=_CALLED)


def _names(destination: str, now: datetime) -> Iterator[str]:
    if destination.endswith(ENDINGS):
        yield destination
        return
    for number in range(1, _TRIES):
        more = f"-{number}" if number > 1 else ""
        yield os.path.join(destination, f"{BACKUP}{now:%Y%m%dT%H%M%S}{more}.tgz")


def _elsewhere(places: Places, destination: str) -> str:
    """Where there is a place for what is in between when there is none beside the store; never in the project."""
    from tempfile import gettempdir

    ##= man/spec/gateway.md#maintenance
    ##% Where a backup can't put what is in between beside the store, it MUST NOT put it anywhere else in the project.
    return gettempdir() if leads_inside(places.root, destination) else folder_above(destination)


def folder_above(path: str) -> str:
    """The nearest folder that is there."""
    while path and not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


def write_archive(places: Places, file: BinaryIO, now: datetime, elsewhere: str) -> None:
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
def _copied(places: Places, now: datetime, elsewhere: str) -> Iterator[tuple[str, Sequence[str]]]:
    """A folder with copies of everything, and their names, the manifest first."""
    lines = lines_of(places.feedback)
    with _store(places, is_needed=not lines) as store, scratch(places.folder, elsewhere) as folder:
        with writing(os.path.dirname(folder)):
            names = _fill(store, places, folder, now)
        yield folder, names


def _fill(store: Store | None, places: Places, folder: str, now: datetime) -> Sequence[str]:
    ##= man/spec/gateway.md#maintenance
    ##% A backup MUST hold the store as it is at one moment, the feedback, what is kept of reports, and a manifest with
    ##% the versions and a digest of each of them, and MUST NOT hold earlier backups.
    revision = "" if store is None else _copy(store, places, folder)
    if lines := lines_of(places.feedback):
        _write(folder, FEEDBACK, b"".join(line + b"\n" for line in lines))
    names = sorted(name for name in MEMBERS if os.path.exists(os.path.join(folder, name)))
    files = {name: _entry(os.path.join(folder, name)) for name in names}
    created = now.isoformat(timespec="seconds")
    manifest = Manifest(duvet=VERSION, schema=SCHEMA, revision=revision, created_at=created, files=files)
    _write(folder, NAME, encoded(manifest))
    return (NAME, *names)


@contextmanager
def _store(places: Places, *, is_needed: bool) -> Iterator[Store | None]:
    ##= man/spec/gateway.md#maintenance
    ##% Where the store is gone, a backup MUST hold the feedback alone, and bring back nothing else.
    try:
        store = open_store(places.store)
    except MissingError:
        if is_needed:
            raise
        yield None
        return
    with closing(store):
        yield store


def _copy(store: Store, places: Places, folder: str) -> str:
    """Put a copy of the store and what is kept of reports into a folder; the revision."""
    path = os.path.join(folder, STORE)
    try:
        store.copy_to(path)
    except FullError as error:
        # The copy is what there is no room for.
        raise OutputError(error.message, path=os.path.dirname(folder), hint=error.hint) from error
    try:
        with closing(open_store(path)) as copy:
            for name, kind in REPORTS.items():
                _write(folder, name, b"".join(one + b"\n" for one in reversed(copy.reports(kind, MOST_REPORTS))))
            return copy.revision
    except StoreError as error:
        # Nobody can do anything about the copy.
        hint = begin_anew(places.store) if isinstance(error, DamagedError) else error.hint
        raise type(error)(error.message, path=places.store, hint=hint) from error


def _entry(path: str) -> Entry:
    with open(path, "rb") as file:
        return entry_of(file)


def _write(folder: str, name: str, data: bytes) -> None:
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
