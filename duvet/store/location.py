"""Opens, creates or replaces the index of a project."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from duvet.config.settings import StoreSection
from duvet.errors import OutputError, describe_os_error
from duvet.store.database import APPLICATION_ID, BUSY_TIMEOUT, PAGE_SIZE, SCHEMA_VERSION, SHADOWS, STATEMENTS, Database
from duvet.store.errors import (
    StoreError,
    StoreStamp,
    find_store_folder,
    list_store_files,
    make_damaged_error,
    make_foreign_error,
    make_missing_error,
    make_version_error,
    read_store_stamp,
    translate_errors,
)
from duvet.store.sqlite import SqliteStore
from duvet.tree.outputs import store_file as write

if TYPE_CHECKING:
    from duvet.store.protocol import Store


GITIGNORE_NAME = ".gitignore"
_SPECIAL = re.compile(r"[][*?!#\\ ]")
"""What means something else in such a file."""
_LONGEST_LIST = 1 << 16
_CACHE = 16_000
"""Kilobytes of the file that are held in memory."""
_FLUSH = 8 << 20
"""Bytes of the index that are held in memory before they are written."""


def open_store(path: str, *, create: bool = False) -> Store:
    """The store in a file; a MissingError where there is none, unless it is to be made."""
    ##= man/spec/knowledge.md#storage
    ##% duvet MUST read an index in a folder that is read-only, and MUST NOT read or write one behind a symbolic link.
    check_plain_file(path)
    if not os.path.lexists(path):
        ##= man/spec/knowledge.md#storage
        ##% duvet MUST NOT create an index in order to read, and MUST say when the project is not indexed yet.
        if not create:
            raise make_missing_error(path)
        make_store_folder(path, f"{os.path.basename(path)}*")
    database = _opened(path, create=create)
    try:
        _settle(database, create=create)
    except BaseException:
        database.close()
        raise
    return SqliteStore(database)


def check_plain_file(path: str) -> None:
    """That nothing but a file of ours is read and written."""
    folder = find_store_folder(path)
    for place in (os.path.dirname(folder), folder, *list_store_files(path)):
        if os.path.islink(place):
            raise StoreError("it is a link, and may lead anywhere", path=place, hint="remove the link")
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        raise make_foreign_error(path, "it is no file")


def make_store_folder(path: str, *names: str) -> None:
    """Make the folder of a store, where git ignores files of these names; `*` at the end of one stands for the rest."""
    folder = find_store_folder(path)
    ignore = os.path.join(folder, GITIGNORE_NAME)
    try:
        os.makedirs(folder, exist_ok=True)
        known = _ignored(ignore)
        if known is not None and (missing_names := [one for one in map(_plain, names) if one not in known]):
            write(ignore, b"".join(line + b"\n" for line in [*known, *missing_names]))
    except OSError as error:
        raise StoreError(describe_os_error(error), path=folder, hint="see who may write there") from error
    except OutputError as error:
        raise StoreError(error.message, path=error.path, hint="see who may write there") from error


def _ignored(path: str) -> list[bytes] | None:
    """What git ignores already, the list itself first; None where the list is somebody else's."""
    own = _plain(GITIGNORE_NAME)
    if not os.path.lexists(path):
        return [own]
    if not os.path.isfile(path) or os.path.islink(path):
        return None
    with open(path, "rb") as file:
        lines = file.read(_LONGEST_LIST).splitlines()
    return lines if lines[:1] == [own] else None


def _plain(name: str) -> bytes:
    """A line for nothing but this name: other files may stand beside ours."""
    return os.fsencode("/" + _SPECIAL.sub(r"\\\g<0>", name.removesuffix("*")) + name[len(name.removesuffix("*")) :])


def _opened(path: str, *, create: bool) -> Database:
    seen = read_store_stamp(path)
    try:
        return _connected(path, "mode=rwc" if create else "mode=rw")
    except StoreError:
        # There sqlite can't follow what others write.
        if create or not _is_at_rest(path):
            raise
    return _connected(path, "mode=ro&immutable=1", seen)


def _is_at_rest(path: str) -> bool:
    """Whether all that was written is in the file, and we can write no more."""
    log = path + "-wal"
    return not os.access(find_store_folder(path), os.W_OK) and not (os.path.exists(log) and os.path.getsize(log))


def _connected(path: str, mode: str, seen: StoreStamp | None = None) -> Database:
    import sqlite3
    from urllib.parse import quote

    name = quote(os.fsencode(os.path.abspath(path)))
    with translate_errors(path):
        connection = sqlite3.connect(
            f"file:{name}?{mode}", uri=True, timeout=BUSY_TIMEOUT / 1000, isolation_level=None, check_same_thread=False
        )
    database = Database(connection, path, seen)
    try:
        # A store may come with what somebody else has written: it must do nothing of its own.
        for setting in (f"cache_size=-{_CACHE}", "mmap_size=0", "trusted_schema=OFF", "synchronous=NORMAL"):
            database.run(f"PRAGMA {setting}")
        database.row("SELECT count(*) FROM sqlite_schema")
    except BaseException:
        database.close()
        raise
    return database


def _settle(database: Database, *, create: bool) -> None:
    """See to it that the store is one of this schema."""
    version = _found_version(database)
    if version is None or version < SCHEMA_VERSION:
        if not create:
            raise (
                make_version_error(database.path, version, SCHEMA_VERSION)
                if version
                else make_damaged_error(database.path, "it is empty")
            )
        ##= man/spec/knowledge.md#storage
        ##% An ingest run MUST replace the index of an older version, and with `--full` a damaged one, but no other file
        ##% and not the index of a newer version.
        database.patiently(lambda: _make(database), BUSY_TIMEOUT / 1000)
    elif version > SCHEMA_VERSION:
        raise make_version_error(database.path, version, SCHEMA_VERSION)
    _compare(database)


def _found_version(database: Database) -> int | None:
    # All of it at one moment: others may be making it.
    database.run("BEGIN")
    try:
        return _version(database)
    finally:
        database.undo()


def _version(database: Database) -> int | None:
    """That of the schema; None for a file in which nothing is yet."""
    ((application,), (version,)) = database.rows("PRAGMA application_id") + database.rows("PRAGMA user_version")
    if application == APPLICATION_ID and version:
        return int(version)
    if application or version or database.row("SELECT 1 FROM sqlite_schema"):
        raise make_foreign_error(database.path, "it belongs to another program")
    return None


def _make(database: Database) -> None:
    """Make all tables, in the place of whatever an older duvet has left there."""
    ##= man/spec/knowledge.md#ingest-runs
    ##% Readers MUST see the last completed run, and MUST NOT wait for one in progress.
    if _found_version(database) == SCHEMA_VERSION:
        # Somebody else was faster.
        return
    for setting in (f"page_size={PAGE_SIZE}", "auto_vacuum=INCREMENTAL", "journal_mode=WAL"):
        database.run(f"PRAGMA {setting}")
    database.run("BEGIN IMMEDIATE")
    try:
        if _version(database) != SCHEMA_VERSION:
            _clear(database)
            for statement in STATEMENTS:
                database.run(statement)
            database.run("INSERT INTO found(found, rank) VALUES ('hashsize', ?)", _FLUSH)
            database.run("INSERT INTO state VALUES ('', 1, 0)")
            database.run(f"PRAGMA application_id={APPLICATION_ID}")
            database.run(f"PRAGMA user_version={SCHEMA_VERSION}")
        database.run("COMMIT")
    except BaseException:
        database.undo()
        raise


def _clear(database: Database) -> None:
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%' = ?"
    for is_virtual in (True, False):
        for (name,) in database.rows(tables, is_virtual):
            quoted = name.replace('"', '""')
            database.run(f'DROP TABLE IF EXISTS "{quoted}"')


def _compare(database: Database) -> None:
    """That its tables are those of this schema, and that there are no others."""
    found = database.rows("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    if {sql for name, sql in found if name not in SHADOWS} != set(STATEMENTS):
        raise make_damaged_error(database.path, "its tables are others")


_MAGIC, _AT = b"SQLite format 3\0", 68
"""How a file of sqlite begins, and where it says whose it is."""


def can_be_replaced(path: str) -> bool:
    """Whether a damaged store is ours beyond doubt: it says so, or stands where nobody else writes."""
    whole = os.path.abspath(path).replace(os.sep, "/")
    if whole.endswith(f"/{StoreSection().path}"):
        return not os.path.isdir(path)
    try:
        with open(path, "rb") as file:
            head = file.read(100)
    except OSError:
        return False
    return head.startswith(_MAGIC) and head[_AT : _AT + 4] == APPLICATION_ID.to_bytes(4)


def remove_store(path: str) -> None:
    """Remove the file, and what sqlite keeps beside it; StoreError where that can't be done."""
    check_plain_file(path)
    try:
        # What is to be written to the file goes first: alone, it would be taken for that of the next one.
        for file in reversed(list_store_files(path)):
            with suppress(FileNotFoundError):
                os.remove(file)
    except OSError as error:
        raise StoreError(describe_os_error(error), path=path, hint="see who may write there") from error
