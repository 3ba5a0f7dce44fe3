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
from duvet.knowledge.upkeep.scratch import scratch
from duvet.outputs import streamed
from duvet.store.opening import open_store
from duvet.store.schema import SCHEMA
from duvet.version import VERSION

_MOST_REPORTS = 100
_LEVEL = 6
_TRIES = 100


class Backup(Struct, frozen=True):
    """An archive that was made."""

    path: str
    size: int


def back_up(places: Places, destination: str, now: datetime) -> Backup:
    """An archive in a file that isn't there yet, or under a name with the time in a folder; DuvetError where not."""
    with _copied(places, now) as (folder, names):
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


def _names(destination: str, now: datetime) -> Iterator[str]:
    if destination.endswith(ENDINGS):
        yield destination
        return
    if os.path.isfile(destination):
        raise QueryError(f"a backup is called {' or '.join(ENDINGS)}, or goes into a folder", path=destination)
    for number in range(1, _TRIES):
        more = f"-{number}" if number > 1 else ""
        yield os.path.join(destination, f"{BACKUP}{now:%Y%m%dT%H%M%S}{more}.tgz")


def write_archive(places: Places, file: BinaryIO, now: datetime) -> None:
    """Write an archive of all that is kept at this moment."""
    with _copied(places, now) as (folder, names):
        _pack(folder, names, file, now)


def _pack(folder: str, names: Sequence[str], file: BinaryIO, now: datetime) -> None:
    import tarfile
    from gzip import GzipFile

    with GzipFile("", "wb", _LEVEL, file) as packed, tarfile.open(fileobj=packed, mode="w|") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = os.path.getsize(os.path.join(folder, name))
            member.mtime, member.mode = int(now.timestamp()), 0o600
            with open(os.path.join(folder, name), "rb") as one:
                archive.addfile(member, one)


@contextmanager
def _copied(places: Places, now: datetime) -> Iterator[tuple[str, Sequence[str]]]:
    """A folder with copies of everything, and their names, the manifest first."""
    ##= man/spec/gateway.md#maintenance
    ##% A backup MUST hold the store as it is at one moment, the feedback, what is kept of reports, and a manifest with
    ##% the versions and a digest of each of them, and MUST NOT hold earlier backups.
    with closing(open_store(places.store)) as store, scratch(places) as folder:
        store.copy_to(os.path.join(folder, STORE))
        with closing(open_store(os.path.join(folder, STORE))) as copy:
            revision = copy.revision
            for name, kind in REPORTS.items():
                _write(folder, name, b"".join(one + b"\n" for one in reversed(copy.reports(kind, _MOST_REPORTS))))
        if lines := lines_of(places.feedback):
            _write(folder, FEEDBACK, b"".join(line + b"\n" for line in lines))
        names = sorted(name for name in MEMBERS if os.path.exists(os.path.join(folder, name)))
        files = {name: _entry(os.path.join(folder, name)) for name in names}
        created = now.isoformat(timespec="seconds")
        manifest = Manifest(duvet=VERSION, schema=SCHEMA, revision=revision, created_at=created, files=files)
        _write(folder, NAME, encoded(manifest))
        yield folder, (NAME, *names)


def _entry(path: str) -> Entry:
    with open(path, "rb") as file:
        return entry_of(file)


def _write(folder: str, name: str, data: bytes) -> None:
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
