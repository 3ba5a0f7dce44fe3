"""The schema of the store, a sqlite connection with readable errors, and compressed texts."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import IntEnum
from itertools import islice
from shutil import disk_usage
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from msgspec import DecodeError, Struct, msgpack

from duvet.errors import DuvetError
from duvet.store import records

if TYPE_CHECKING:
    import sqlite3

# Device, inode, size and time of the store file and of its log.
StoreStamp = tuple[tuple[int, int, int, int] | None, ...]

STORE_FILE_ENDINGS = ("", "-wal", "-shm", "-journal")  # The suffixes of the files that sqlite reads and writes.
_BUSY, _FULL, _READ_ONLY, _DAMAGED, _FOREIGN = {5, 6}, {13}, {3, 8, 14, 23}, {11, 19, 20}, {26}  # sqlite's error codes.
_DISK = {10, 14}  # The codes of disk errors, some of which mean a full disk.
_DAMAGE_MESSAGES = ("file format", "vtable constructor")
"""sqlite reports damage with these words, but with the error code of an invalid statement."""
DatabaseRow = tuple[Any, ...]
Value = TypeVar("Value")
BUSY_TIMEOUT = 5000  # Milliseconds to wait for other processes that are checkpointing.
_BATCH = 500  # Maximum number of rows, or of values in a query, at a time.
_SAMPLES, _SAMPLE_LENGTH, _SAMPLE_STEP = 16, 2048, 8
"""The number of samples in the dictionary, and their length; one text in eight contributes a sample."""


class StoreError(DuvetError):
    rule_code = "DUV123"


class StoreMissingError(StoreError):
    pass


class StoreFullError(StoreError):
    pass


class StoreBusyError(StoreError):
    pass


class StoreChangedError(StoreError):
    pass


class StoreVersionError(StoreError):
    pass


class StoreOutdatedError(StoreVersionError):
    pass


class StoreDamagedError(StoreError):
    """Raised when the store is damaged, or the file is not a store."""


def list_store_files(path: str) -> list[str]:
    return [path + ending for ending in STORE_FILE_ENDINGS]


def find_store_folder(path: str) -> str:
    return os.path.dirname(path) or os.curdir


def read_store_stamp(path: str) -> StoreStamp:
    def stamp(file: str) -> tuple[int, int, int, int] | None:
        try:
            status = os.stat(file)
        except (OSError, ValueError):
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    return tuple(stamp(file) for file in list_store_files(path)[:2])


def load_sqlite() -> ModuleType:
    """Import `sqlite3` when it is needed, because Python may have been built without it."""
    import sqlite3

    return sqlite3


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    sqlite_error = load_sqlite().Error
    try:
        yield
    except sqlite_error as error:
        raise _make_error(error, path) from error
    except UnicodeDecodeError as error:
        # sqlite's message contains text that is not Unicode.
        raise make_damaged_error(path, str(error)) from error


@contextmanager
def translate_decoding_errors(path: str) -> Iterator[None]:
    try:
        yield
    except (zlib.error, ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise make_damaged_error(path, str(error) or type(error).__name__) from error


def _make_error(error: Exception, path: str) -> StoreError:
    if isinstance(error, (load_sqlite().ProgrammingError, load_sqlite().InterfaceError)):
        return StoreError(f"the index can't be queried: {error}", path=path, hint="try again")
    # An error about text that is not Unicode has no code; it means a damaged file.
    code = getattr(error, "sqlite_errorcode", 11) & 0xFF
    if code in _BUSY:
        return make_busy_error(path)
    if code in _DISK:
        with suppress(OSError):
            # A disk with less than 64 KB counts as full.
            code = 13 if disk_usage(find_store_folder(path)).free < 1 << 16 else code
    if code in _FULL:
        message = f"not enough disk space for the index: {error}"
        return StoreFullError(message, path=path, hint="free disk space, and try again")
    if code in _READ_ONLY:
        message = f"the index can't be opened or written: {error}"
        return StoreError(message, path=path, hint="check the permissions of its folder")
    if code in _FOREIGN:
        return make_damaged_error(path, str(error), is_ours=False)
    if code in _DAMAGED or any(words in str(error) for words in _DAMAGE_MESSAGES):
        return make_damaged_error(path, str(error))
    return StoreError(f"the index can't be read or written: {error}", path=path, hint="check the disk")


def make_busy_error(path: str) -> StoreBusyError:
    return StoreBusyError("another process is writing to the index", path=path, hint="try again when it has finished")


def make_damaged_error(path: str, reason: str, *, is_ours: bool = True) -> StoreDamagedError:
    hint = f"{advise_rebuild(path)}; feedback and backups are kept"
    if not is_ours:
        hint = f"set `store.path` to another file; if this file was an index, {advise_rebuild(path)}"
    return StoreDamagedError(f"the index is damaged, or this file is not a duvet index: {reason}", path=path, hint=hint)


def advise_rebuild(path: str) -> str:
    *others, last = [os.path.basename(file) for file in list_store_files(path) if file == path or os.path.lexists(file)]
    return f"remove {', '.join(others)}{' and ' * bool(others)}{last}, and run `duvet ingest`"


def make_version_error(path: str, version: int) -> StoreVersionError:
    age = "a newer" if version > SCHEMA_VERSION else "an older"
    message = f"{age} version of duvet created this index with schema {version}; this version supports schema {SCHEMA_VERSION}"
    if version > SCHEMA_VERSION:
        return StoreVersionError(message, path=path, hint=f"update duvet, or start over: {advise_rebuild(path)}")
    hint = "run `duvet ingest` to replace it; feedback and backups are kept"
    return StoreOutdatedError(message, path=path, hint=hint)


class Database:
    def __init__(self, connection: sqlite3.Connection, path: str, stamp: StoreStamp | None = None) -> None:
        self.connection = connection
        self.path = path
        self._stamp = stamp

    @property
    def is_current(self) -> bool:
        return self._stamp is None or self._stamp == read_store_stamp(self.path)

    @property
    def is_in_transaction(self) -> bool:
        with translate_errors(self.path):
            return self.connection.in_transaction

    def rows(self, query: str, *values: object) -> list[DatabaseRow]:
        with translate_errors(self.path):
            return self.connection.execute(query, values).fetchall()

    def row(self, query: str, *values: object) -> DatabaseRow | None:
        with translate_errors(self.path):
            row: DatabaseRow | None = self.connection.execute(query, values).fetchone()
            return row

    def read(self, decode: Callable[[DatabaseRow], Value], query: str, *values: object) -> list[Value]:
        rows = self.rows(query, *values)
        with translate_decoding_errors(self.path):
            return [decode(row) for row in rows]

    def read_one(self, decode: Callable[[DatabaseRow], Value], query: str, *values: object) -> Value | None:
        row = self.row(query, *values)
        with translate_decoding_errors(self.path):
            return None if row is None else decode(row)

    def read_each(self, decode: Callable[[DatabaseRow], Value], query: str, *values: object) -> Iterator[Value]:
        with translate_errors(self.path):
            cursor = self.connection.execute(query, values)
        while True:
            with translate_errors(self.path):
                rows = cursor.fetchmany(_BATCH)
            if not rows:
                return
            with translate_decoding_errors(self.path):
                values_read = [decode(row) for row in rows]
            yield from values_read

    def read_many(
        self, decode: Callable[[DatabaseRow], Value], query: str, values: Iterable[object]
    ) -> Iterator[Value]:
        left = iter(values)
        while batch := list(islice(left, _BATCH)):
            yield from self.read(decode, query.format(make_placeholders(batch)), *batch)

    def run(self, statement: str, *values: object) -> int:
        with translate_errors(self.path):
            return self.connection.execute(statement, values).rowcount

    def run_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        with translate_errors(self.path):
            self.connection.executemany(statement, rows)

    def retry_while_busy(self, work: Callable[[], object], seconds: float) -> None:
        until = time.monotonic() + seconds
        self.run("PRAGMA busy_timeout=0")
        try:
            while True:
                try:
                    work()
                    return
                except StoreBusyError:
                    if time.monotonic() >= until:
                        raise
                # Sleeping inside sqlite could not be interrupted.
                time.sleep(0.02)
        finally:
            self.run(f"PRAGMA busy_timeout={BUSY_TIMEOUT}")

    def shrink(self) -> None:
        with translate_errors(self.path):
            # `execute` would stop after the first page.
            self.connection.executescript("PRAGMA incremental_vacuum")

    def rollback(self) -> None:
        with suppress(load_sqlite().Error):
            self.connection.rollback()

    def close(self) -> None:
        self.connection.close()


def make_placeholders(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


APPLICATION_ID: Final = 0x64757665  # The number in a file's header that identifies a duvet store.
SCHEMA_VERSION: Final = 6  # To be increased whenever a table or the encoding of its values changes.
# The texts and vectors of a file take some kilobytes, so small pages would waste half of the space.
PAGE_SIZE: Final = 32768

STATEMENTS = (
    "CREATE TABLE state(revision TEXT NOT NULL, next INTEGER NOT NULL, total INTEGER NOT NULL)",
    """CREATE TABLE artifact(
id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, subsystem TEXT NOT NULL,
criticality TEXT NOT NULL, namespace TEXT NOT NULL, tags BLOB, digest BLOB NOT NULL, git_commit BLOB NOT NULL,
git_timestamp REAL, first INTEGER NOT NULL, count INTEGER NOT NULL, skipped TEXT NOT NULL)""",
    "CREATE TABLE trait(what INTEGER, value TEXT, artifact INTEGER, PRIMARY KEY(what, value, artifact)) WITHOUT ROWID",
    """CREATE TABLE piece(
number INTEGER PRIMARY KEY, artifact INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
line_start INTEGER NOT NULL, line_end INTEGER NOT NULL)""",
    "CREATE TABLE dictionary(data BLOB NOT NULL)",
    "CREATE TABLE text(artifact INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE vectors(artifact INTEGER PRIMARY KEY, rows BLOB NOT NULL)",
    """CREATE TABLE symbol(
artifact INTEGER, ordinal INTEGER, name TEXT, qualified_name TEXT NOT NULL, folded TEXT,
kind NOT NULL, language NOT NULL, line_start INTEGER NOT NULL, line_end INTEGER NOT NULL,
PRIMARY KEY(artifact, ordinal)) WITHOUT ROWID""",
    "CREATE INDEX symbol_name ON symbol(coalesce(folded, qualified_name))",
    """CREATE TABLE node(
id INTEGER PRIMARY KEY, label INTEGER NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL, folded TEXT,
properties BLOB, UNIQUE(label, key))""",
    """CREATE TABLE edge(
source INTEGER, relation INTEGER, target INTEGER, properties BLOB,
PRIMARY KEY(source, relation, target)) WITHOUT ROWID""",
    "CREATE INDEX edge_back ON edge(target, relation, source)",
    "CREATE TABLE run(id INTEGER PRIMARY KEY, profile TEXT NOT NULL, data BLOB NOT NULL)",
    "CREATE TABLE report(id INTEGER PRIMARY KEY, name TEXT NOT NULL, run_id TEXT NOT NULL, data BLOB NOT NULL)",
    "CREATE TABLE kept(name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID",
    """CREATE TABLE declared(
kind, language, number INTEGER, PRIMARY KEY(kind, language, number)) WITHOUT ROWID""",
    # The texts are in a separate table. With less detail, bm25() would need them here.
    "CREATE VIRTUAL TABLE found USING fts5(words, title, names, content='', tokenize='porter unicode61')",
)
"""The schema, which is compared with the schema that sqlite has stored in the file."""
# Tables that FTS5 creates for itself.
SHADOWS = frozenset({"found_data", "found_idx", "found_config", "found_docsize"})

# The order of labels and relations is part of the schema.
_LABELS = (
    records.NodeLabel.SUBSYSTEM, records.NodeLabel.SOURCE_FILE, records.NodeLabel.TEST_CASE, records.NodeLabel.DESIGN_DOC, records.NodeLabel.CONFIG_FILE,
    records.NodeLabel.ARTIFACT, records.NodeLabel.SPECIFICATION, records.NodeLabel.SECTION, records.NodeLabel.REQUIREMENT,
)  # fmt: skip
_RELATIONS = (
    records.Relation.BELONGS_TO, records.Relation.DESCRIBES, records.Relation.VALIDATES, records.Relation.DEPENDS_ON, records.Relation.LINKS_TO, records.Relation.CITES,
    records.Relation.PART_OF, records.Relation.WRITTEN_IN,
)  # fmt: skip
LABEL_NUMBERS: Final = {label: number for number, label in enumerate(_LABELS, 1)}
LABEL_OF: Final = {number: label for label, number in LABEL_NUMBERS.items()}
RELATION_NUMBERS: Final = {relation: number for number, relation in enumerate(_RELATIONS, 1)}
RELATION_OF: Final = {number: relation for relation, number in RELATION_NUMBERS.items()}


class Trait(IntEnum):
    SUBSYSTEM, NAMESPACE, TAG = 1, 2, 3


class TitledText(Struct, frozen=True):
    whole: str = ""
    titles: tuple[str, ...] = ()


class TextWriter:
    def __init__(self, database: Database) -> None:
        self.database = database
        self._dictionary = _read_dictionary(database)
        self._samples: list[str] = []
        self._count = 0

    def put(self, id: int, text: str, titles: Iterable[str]) -> None:
        if not self._dictionary:
            self._count += 1
            if self._count % _SAMPLE_STEP == 0:
                # Samples come from the middle, because many files begin with the same text.
                start = max(0, len(text) - _SAMPLE_LENGTH) // 2
                self._samples.append(text[start : start + _SAMPLE_LENGTH])
            if len(self._samples) == _SAMPLES:
                self._dictionary = "".join(self._samples).encode(errors="surrogatepass")
                self.database.run("INSERT INTO dictionary(data) VALUES (?)", self._dictionary)
        # Files are small, and much of their text occurs in other files.
        compressor = zlib.compressobj(zdict=self._dictionary)
        data = msgpack.encode([one.encode(errors="surrogatepass") for one in (text, *titles)])
        packed = compressor.compress(data) + compressor.flush()
        self.database.run("INSERT INTO text(artifact, data) VALUES (?, ?)", id, packed)


def read_file_texts(database: Database, ids: Iterable[int]) -> dict[int, TitledText]:
    """Files without chunks are left out."""
    dictionary = _read_dictionary(database)

    def unpack(row: DatabaseRow) -> tuple[int, TitledText]:
        decompressor = zlib.decompressobj(zdict=dictionary)
        # The limit stops a damaged or forged text from filling the memory.
        data = decompressor.decompress(records.decode_bytes(row[1]), 1 << 28)
        if not decompressor.eof:
            raise zlib.error("stored text is incomplete")
        try:
            whole, *titles = [one.decode(errors="surrogatepass") for one in msgpack.decode(data, type=list[bytes])]
        except (DecodeError, ValueError) as error:
            raise zlib.error("stored text is invalid") from error
        return row[0], TitledText(whole, tuple(titles))

    return dict(database.read_many(unpack, "SELECT artifact, data FROM text WHERE artifact IN ({})", ids))


def _read_dictionary(database: Database) -> bytes:
    return database.read_one(lambda row: records.decode_bytes(*row), "SELECT data FROM dictionary") or b""


class StoreState(NamedTuple):
    revision: str
    next: int  # The number of the next chunk.
    total: int  # The number of chunks.


def read_state(database: Database) -> StoreState:
    def decode(row: DatabaseRow) -> StoreState:
        return StoreState(records.decode_text(row[0]), *map(records.decode_count, row[1:]))

    state = database.read_one(decode, "SELECT revision, next, total FROM state")
    if state is None:
        raise make_damaged_error(database.path, "its state is missing")
    return state
