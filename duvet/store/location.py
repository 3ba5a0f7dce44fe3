"""The settings of a project's store, the paths of its files, and functions that open, create and replace it."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from urllib.parse import quote

from msgspec import Struct

from duvet import errors, text
from duvet.config.service_tables import IngestRule, SearchSection, StoreSection
from duvet.store import database as db, sqlite
from duvet.tree.outputs import store_file

GITIGNORE_NAME = ".gitignore"
_SPECIAL = re.compile(r"[][*?!#\\ ]")  # Characters with a special meaning in `.gitignore`.
_MAX_IGNORE_BYTES = 1 << 16


def open_store(path: str, *, create: bool = False) -> sqlite.Store:
    ##= man/spec/knowledge.md#storage
    ##% duvet MUST NOT read or write an index through a symbolic link.
    check_plain_file(path)
    if not os.path.lexists(path):
        ##= man/spec/knowledge.md#storage
        ##% If the project has no index, a command or tool that reads the index MUST report this, and MUST NOT create an
        ##% index.
        if not create:
            hint = "run `duvet ingest` first"
            raise db.StoreMissingError("this project is not indexed yet", path=path, hint=hint)
        make_store_folder(path, f"{os.path.basename(path)}*")
    database = _open(path, create=create)
    try:
        version = _read_version_at_once(database)
        if version is None or version < db.SCHEMA_VERSION:
            if not create:
                if version:
                    raise db.make_version_error(database.path, version)
                raise db.make_damaged_error(database.path, "the file is empty")
            ##= man/spec/knowledge.md#storage
            ##% An ingest run MUST replace an index of an older version, but MUST NOT replace an index of a newer
            ##% version or any other file.
            database.retry_while_busy(lambda: _create_tables(database), db.BUSY_TIMEOUT / 1000)
        elif version > db.SCHEMA_VERSION:
            raise db.make_version_error(database.path, version)
        found = database.rows("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
        if {sql for name, sql in found if name not in db.SHADOWS} != set(db.STATEMENTS):
            raise db.make_damaged_error(database.path, "it has unexpected tables")
    except BaseException:
        database.close()
        raise
    return sqlite.Store(database)


def check_plain_file(path: str) -> None:
    folder = db.find_store_folder(path)
    for place in (os.path.dirname(folder), folder, *db.list_store_files(path)):
        if os.path.islink(place):
            raise db.StoreError("the index must not be behind a symbolic link", path=place, hint="remove the link")
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        raise db.make_damaged_error(path, "not a regular file", is_ours=False)


def make_store_folder(path: str, *names: str) -> None:
    """Make git ignore `names` in the folder, unless the user wrote its `.gitignore`."""
    folder, hint = db.find_store_folder(path), "check the permissions of the folder"
    ignore = os.path.join(folder, GITIGNORE_NAME)
    plain = ((name.removesuffix("*"), name) for name in (GITIGNORE_NAME, *names))
    own, *wanted = [os.fsencode("/" + _SPECIAL.sub(r"\\\g<0>", one) + name[len(one) :]) for one, name in plain]
    known = [own]
    try:
        os.makedirs(folder, exist_ok=True)
        if os.path.lexists(ignore):
            if not os.path.isfile(ignore) or os.path.islink(ignore):
                return
            with open(ignore, "rb") as file:
                known = file.read(_MAX_IGNORE_BYTES).splitlines()
        # duvet's own file lists itself first.
        if known[:1] == [own] and (missing := [line for line in wanted if line not in known]):
            store_file(ignore, b"".join(line + b"\n" for line in [*known, *missing]))
    except OSError as error:
        raise db.StoreError(errors.describe_os_error(error), path=folder, hint=hint) from error
    except errors.OutputError as error:
        raise db.StoreError(error.message, path=error.path, hint=hint) from error


def _open(path: str, *, create: bool) -> db.Database:
    stamp, log = db.read_store_stamp(path), path + "-wal"
    try:
        return _connect(path, "mode=rwc" if create else "mode=rw")
    except db.StoreError as error:
        # In a read-only folder or on a full disk, sqlite can open the file only without its log, which must be empty.
        is_logged = os.path.exists(log) and os.path.getsize(log)
        has_room = not isinstance(error, db.StoreFullError) and os.access(db.find_store_folder(path), os.W_OK)
        if create or has_room or is_logged:
            raise
    return _connect(path, "mode=ro&immutable=1", stamp)


def _connect(path: str, mode: str, stamp: db.StoreStamp | None = None) -> db.Database:
    name = quote(os.fsencode(os.path.abspath(path)))
    with db.translate_errors(path):
        connection = db.load_sqlite().connect(
            f"file:{name}?{mode}",
            uri=True,
            timeout=db.BUSY_TIMEOUT / 1000,
            isolation_level=None,
            check_same_thread=False,
        )
    database = db.Database(connection, path, stamp)
    try:
        # A store may come from somebody else, so its schema must not run code. The cache has 16 MB.
        for setting in ("cache_size=-16000", "mmap_size=0", "trusted_schema=OFF", "synchronous=NORMAL"):
            database.run(f"PRAGMA {setting}")
        database.row("SELECT count(*) FROM sqlite_schema")
    except BaseException:
        database.close()
        raise
    return database


def _read_version_at_once(database: db.Database) -> int | None:
    # In one transaction, because other processes may be creating the tables, too.
    database.run("BEGIN")
    try:
        return _read_version(database)
    finally:
        database.rollback()


def _read_version(database: db.Database) -> int | None:
    ((application,), (version,)) = database.rows("PRAGMA application_id") + database.rows("PRAGMA user_version")
    if application == db.APPLICATION_ID and version:
        return int(version)
    if application or version or database.row("SELECT 1 FROM sqlite_schema"):
        raise db.make_damaged_error(database.path, "it belongs to another program", is_ours=False)
    return None


def _create_tables(database: db.Database) -> None:
    if _read_version_at_once(database) == db.SCHEMA_VERSION:
        # Another process was faster.
        return
    ##= man/spec/knowledge.md#ingest-runs
    ##% Readers MUST see the index of the last completed ingest run, and MUST NOT wait for a running one.
    for setting in (f"page_size={db.PAGE_SIZE}", "auto_vacuum=INCREMENTAL", "journal_mode=WAL"):
        database.run(f"PRAGMA {setting}")
    database.run("BEGIN IMMEDIATE")
    try:
        if _read_version(database) != db.SCHEMA_VERSION:
            tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%' = ?"
            for is_virtual in (True, False):
                for (name,) in database.rows(tables, is_virtual):
                    database.run('DROP TABLE IF EXISTS "{}"'.format(name.replace('"', '""')))
            for statement in db.STATEMENTS:
                database.run(statement)
            # The bytes of the full-text index to collect in memory before writing them.
            database.run("INSERT INTO found(found, rank) VALUES ('hashsize', ?)", 8 << 20)
            database.run("INSERT INTO state VALUES ('', 1, 0)")
            database.run(f"PRAGMA application_id={db.APPLICATION_ID}")
            database.run(f"PRAGMA user_version={db.SCHEMA_VERSION}")
        database.run("COMMIT")
    except BaseException:
        database.rollback()
        raise


def can_be_replaced(path: str) -> bool:
    whole = os.path.abspath(path).replace(os.sep, "/")
    if whole.endswith(f"/{StoreSection().path}"):
        return not os.path.isdir(path)
    try:
        with open(path, "rb") as file:
            head = file.read(100)
    except OSError:
        return False
    # The header of a file contains the id of its program.
    return head.startswith(b"SQLite format 3\0") and head[68:72] == db.APPLICATION_ID.to_bytes(4)


def replace_store(path: str, new: str) -> None:
    check_plain_file(path)
    try:
        # Remove the log first, because sqlite would apply a leftover log to the new store.
        for file in reversed(db.list_store_files(path)[1:]):
            with suppress(FileNotFoundError):
                os.remove(file)
        os.replace(new, path)
    except OSError as error:
        raise db.StoreError(
            errors.describe_os_error(error), path=path, hint="check the permissions of the folder"
        ) from error


FEEDBACK_FILE, AUDIT_FILE, BACKUPS_FOLDER = "feedback.jsonl", "audit.jsonl", "backups"
BACKUP_PREFIX, BACKUP_ENDINGS = "km-backup-", (".tgz", ".tar.gz")


class KnowledgeSettings(Struct, frozen=True):
    root: str
    ingest: IngestRule
    store: StoreSection
    search: SearchSection = SearchSection()
    configurations: tuple[str, ...] = ()  # Paths of the configuration files and of the packs that it names.

    @property
    def path(self) -> str:
        return os.path.join(self.root, self.store.path)


class IngestOptions(Struct, frozen=True, kw_only=True):
    profile: str = ""  # The name of the run; if empty, the configured name.
    default_profile: str = "local"  # The name to use if none is configured.
    dry_run: bool = False
    full: bool = False  # Read unchanged files again.
    dummy: bool = False  # Compute dummy vectors without meaning.
    patience: float = 10.0  # Seconds to wait for another run.
    run_id: str = ""  # Random if empty.


def require_profile(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name):
        hint = "use 1 to 64 ASCII letters, digits, `.`, `-` and `_`"
        raise errors.QueryError(f"invalid profile name {text.quote_text(text.shorten_text(name))}", hint=hint)
    return name


class StorePaths(Struct, frozen=True):
    root: str
    store: str
    backups: str
    is_configured: bool = False  # Whether the backup folder is configured.
    configurations: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        return os.path.dirname(self.store)

    @property
    def feedback(self) -> str:
        return os.path.join(self.folder, FEEDBACK_FILE)

    @property
    def audit(self) -> str:
        return os.path.join(self.folder, AUDIT_FILE)

    @property
    def own(self) -> tuple[str, ...]:
        return (*db.list_store_files(self.store), self.feedback, self.audit, self.backups)

    def prepare(self, path: str) -> str:
        check_plain_file(self.store)
        make_store_folder(self.store, os.path.basename(path), f".{BACKUP_PREFIX}*", f"{BACKUPS_FOLDER}/")
        return path


def find_store_paths(rules: KnowledgeSettings) -> StorePaths:
    backups = rules.store.backups or os.path.join(os.path.dirname(rules.store.path), BACKUPS_FOLDER)
    configurations = tuple(os.path.join(rules.root, path) for path in rules.configurations)
    whole = os.path.join(rules.root, backups)
    return StorePaths(rules.root, rules.path, whole, bool(rules.store.backups), configurations)


def is_backup(name: str) -> bool:
    return name.startswith(BACKUP_PREFIX) and name.endswith(BACKUP_ENDINGS)
