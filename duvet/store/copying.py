"""Copies of stores, and stores made from them, whoever reads or writes meanwhile."""

from __future__ import annotations

import os
from contextlib import closing

from duvet.store.database import PATIENCE, Database
from duvet.store.errors import BusyError, ChangedError, StoreError
from duvet.store.faults import told
from duvet.store.places import ENDINGS

Moment = tuple[object, ...]
"""What tells one state of a store from any other."""
_MOMENT = "SELECT revision, (SELECT max(id) FROM run), (SELECT max(id) FROM report) FROM state"
_STEP = 0.05
"""Seconds between two looks at whether somebody else is done."""


def copy(database: Database, path: str) -> None:
    """Write what is in a store at one moment to a new file."""
    import sqlite3

    with told(database.path):
        # Made by us, so that nobody's link is followed.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(path)) as target:
            # All pages in one step: those who write go on beside it, and it begins but once.
            database.connection.backup(target)


def moment_of(database: Database) -> Moment:
    """What the store is at this moment."""
    return database.row(_MOMENT) or ()


def overwrite(database: Database, path: str, patience: float, only: Moment | None = None) -> None:
    """Put what is in a copy in the place of everything in a store; those who have it open see all of it or nothing.

    With a moment, ChangedError where somebody has written since, and nothing is changed."""
    import sqlite3
    import time

    until, is_seen = time.monotonic() + patience, only is None

    def waited(status: int, remaining: int, total: int) -> None:
        nonlocal is_seen
        if status not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            # The first page is written: from here on nobody else writes.
            if not is_seen and _now(database.path) != only:
                raise ChangedError("somebody else has written to it", path=database.path, hint="try again")
            is_seen = True
        elif time.monotonic() > until:
            raise BusyError("somebody else is writing to it", path=database.path, hint="try again when that is done")

    database.run("PRAGMA busy_timeout=0")
    try:
        with told(database.path), closing(sqlite3.connect(path)) as source:
            # Page after page, and yet at once: it is one change.
            source.backup(database.connection, pages=1, progress=waited, sleep=_STEP)
    finally:
        database.run(f"PRAGMA busy_timeout={PATIENCE}")
    with told(database.path):
        database.patiently(lambda: database.rows("PRAGMA wal_checkpoint(TRUNCATE)"), 0)


def _now(path: str) -> Moment:
    """What the store is, whoever is about to change it."""
    import sqlite3

    with told(path), closing(sqlite3.connect(path)) as connection:
        return moment_of(Database(connection, path))


def move_aside(path: str, folder: str) -> list[str]:
    """Take the files of a store that is of no use out of the way, into a new folder; what they are called there."""
    moved: list[str] = []
    try:
        os.makedirs(folder)
        # Without its log the file is not what it was, and a log must never be found beside another file.
        for end in (*ENDINGS[1:], ""):
            if os.path.lexists(path + end):
                moved.append(os.path.join(folder, os.path.basename(path) + end))
                os.replace(path + end, moved[-1])
    except OSError as error:
        raise StoreError(str(error.strerror or error), path=path, hint="see who may write to its folder") from error
    return moved
