"""A sqlite connection with plain errors, the schema, and the encoding of values."""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, get_args

import msgspec
from msgspec import DecodeError, Struct, msgpack

from duvet.store.errors import (
    StoreBusyError,
    StoreStamp,
    make_damaged_error,
    read_store_stamp,
    translate_decoding_errors,
    translate_errors,
)
from duvet.store.records import NodeLabel, Relation, SymbolKind, SymbolLanguage

if TYPE_CHECKING:
    from sqlite3 import Connection


DatabaseRow = tuple[Any, ...]
Value = TypeVar("Value")
BUSY_TIMEOUT = 5000
"""Milliseconds to wait for those who are putting away what they have written."""
_PAUSE = 0.02
_MANY = 500
"""So many values are asked for at once."""


class Database:
    """The file of a store, open."""

    def __init__(self, connection: Connection, path: str, seen: StoreStamp | None = None) -> None:
        """What is given as seen is the only state of the files that is ever read: what others write isn't followed."""
        self.connection = connection
        self.path = path
        self._seen = seen

    @property
    def is_current(self) -> bool:
        """Whether it tells what is in the file."""
        return self._seen is None or self._seen == read_store_stamp(self.path)

    @property
    def is_in_transaction(self) -> bool:
        with translate_errors(self.path):
            return self.connection.in_transaction

    def rows(self, question: str, *values: object) -> list[DatabaseRow]:
        """All rows at once."""
        with translate_errors(self.path):
            return self.connection.execute(question, values).fetchall()

    def row(self, question: str, *values: object) -> DatabaseRow | None:
        """The first row."""
        with translate_errors(self.path):
            row: DatabaseRow | None = self.connection.execute(question, values).fetchone()
            return row

    def read(self, decode: Callable[[DatabaseRow], Value], question: str, *values: object) -> list[Value]:
        """What all rows stand for."""
        return self._decoded(decode, self.rows(question, *values))

    def read_one(self, decode: Callable[[DatabaseRow], Value], question: str, *values: object) -> Value | None:
        """What the first row stands for."""
        row = self.row(question, *values)
        return None if row is None else self._decoded(decode, [row])[0]

    def read_each(self, decode: Callable[[DatabaseRow], Value], question: str, *values: object) -> Iterator[Value]:
        """What one row after the other stands for, of the state in which the first was read."""
        with translate_errors(self.path):
            cursor = self.connection.execute(question, values)
        while True:
            with translate_errors(self.path):
                rows = cursor.fetchmany(_MANY)
            if not rows:
                return
            yield from self._decoded(decode, rows)

    def read_many(
        self, decode: Callable[[DatabaseRow], Value], question: str, values: Iterable[object], *others: object
    ) -> Iterator[Value]:
        """The same for a question with `{}` in the place of a list of values, after which come others."""
        left = iter(values)
        while some := list(islice(left, _MANY)):
            yield from self.read(decode, question.format(make_placeholders(some)), *some, *others)

    def _decoded(self, decode: Callable[[DatabaseRow], Value], rows: list[DatabaseRow]) -> list[Value]:
        with translate_decoding_errors(self.path):
            return [decode(row) for row in rows]

    def run(self, statement: str, *values: object) -> int:
        """Change something; tells how many rows."""
        with translate_errors(self.path):
            return self.connection.execute(statement, values).rowcount

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Change something once for each row."""
        with translate_errors(self.path):
            self.connection.executemany(statement, rows)

    def patiently(self, work: Callable[[], object], seconds: float) -> None:
        """Do what others may be in the way of, and try for so long."""
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
                # Not in sqlite, where nobody could interrupt it.
                time.sleep(_PAUSE)
        finally:
            self.run(f"PRAGMA busy_timeout={BUSY_TIMEOUT}")

    def shrink(self) -> None:
        """Give back the room that nothing stands in."""
        with translate_errors(self.path):
            # As a single statement it would be stopped at the first page.
            self.connection.executescript("PRAGMA incremental_vacuum")

    def undo(self) -> None:
        """Leave everything as it was."""
        import sqlite3

        with suppress(sqlite3.Error):
            self.connection.rollback()

    def close(self) -> None:
        self.connection.close()


def make_placeholders(values: Sequence[object]) -> str:
    """The places of so many values."""
    return ",".join("?" * len(values))


APPLICATION_ID: Final = 0x64757665
"""What tells a store from other databases."""
SCHEMA_VERSION: Final = 5
"""Counts on whenever a table, or what stands in it, becomes another."""
PAGE_SIZE: Final = 32768
"""Texts and vectors of files are some kilobytes each: on small pages every other byte would be wasted."""

STATE_TABLE = "CREATE TABLE state(revision TEXT NOT NULL, next INTEGER NOT NULL, total INTEGER NOT NULL)"
ARTIFACT_TABLE = """CREATE TABLE artifact(
id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, subsystem TEXT NOT NULL,
criticality TEXT NOT NULL, namespace TEXT NOT NULL, tags BLOB, digest BLOB NOT NULL, git_commit BLOB NOT NULL,
git_timestamp REAL, first INTEGER NOT NULL, count INTEGER NOT NULL, skipped TEXT NOT NULL)"""
TRAIT_TABLE = (
    "CREATE TABLE trait(what INTEGER, value TEXT, artifact INTEGER, PRIMARY KEY(what, value, artifact)) WITHOUT ROWID"
)
PIECE_TABLE = """CREATE TABLE piece(
number INTEGER PRIMARY KEY, artifact INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
line_start INTEGER NOT NULL, line_end INTEGER NOT NULL)"""
DICTIONARY_TABLE = "CREATE TABLE dictionary(data BLOB NOT NULL)"
TEXT_TABLE = "CREATE TABLE text(artifact INTEGER PRIMARY KEY, data BLOB NOT NULL)"
VECTORS_TABLE = "CREATE TABLE vectors(artifact INTEGER PRIMARY KEY, rows BLOB NOT NULL)"
SYMBOL_TABLE = """CREATE TABLE symbol(
artifact INTEGER, ordinal INTEGER, name TEXT, qualified_name TEXT NOT NULL, folded TEXT,
kind NOT NULL, language NOT NULL, line_start INTEGER NOT NULL, line_end INTEGER NOT NULL,
PRIMARY KEY(artifact, ordinal)) WITHOUT ROWID"""
SYMBOL_NAME_INDEX = "CREATE INDEX symbol_name ON symbol(coalesce(folded, qualified_name))"
NODE_TABLE = """CREATE TABLE node(
id INTEGER PRIMARY KEY, label INTEGER NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL, folded TEXT,
properties BLOB, UNIQUE(label, key))"""
EDGE_TABLE = """CREATE TABLE edge(
source INTEGER, relation INTEGER, target INTEGER, properties BLOB,
PRIMARY KEY(source, relation, target)) WITHOUT ROWID"""
EDGE_BACK_INDEX = "CREATE INDEX edge_back ON edge(target, relation, source)"
RUN_TABLE = "CREATE TABLE run(id INTEGER PRIMARY KEY, profile TEXT NOT NULL, data BLOB NOT NULL)"
REPORT_TABLE = (
    "CREATE TABLE report(id INTEGER PRIMARY KEY, name TEXT NOT NULL, run_id TEXT NOT NULL, data BLOB NOT NULL)"
)
KEPT_TABLE = "CREATE TABLE kept(name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID"
# The texts stand in their own table. Which words stand in a piece is all that is kept of it here: how often they do, and
# whether in the title, is told by words of their own (see duvet.store.indexing).
FOUND_TABLE = (
    "CREATE VIRTUAL TABLE found USING fts5(words, content='', columnsize=0, detail=none, tokenize='porter unicode61')"
)

STATEMENTS = (
    STATE_TABLE, ARTIFACT_TABLE, TRAIT_TABLE, PIECE_TABLE, DICTIONARY_TABLE, TEXT_TABLE, VECTORS_TABLE, SYMBOL_TABLE, SYMBOL_NAME_INDEX, NODE_TABLE, EDGE_TABLE, EDGE_BACK_INDEX, RUN_TABLE, REPORT_TABLE, KEPT_TABLE, FOUND_TABLE,
)  # fmt: skip
SHADOWS = frozenset({"found_data", "found_idx", "found_config"})
"""What FTS5 makes for itself."""

LABEL_NUMBERS: Final = {
    NodeLabel.SUBSYSTEM: 1,
    NodeLabel.SOURCE_FILE: 2,
    NodeLabel.TEST_CASE: 3,
    NodeLabel.DESIGN_DOC: 4,
    NodeLabel.CONFIG_FILE: 5,
    NodeLabel.ARTIFACT: 6,
    NodeLabel.SPECIFICATION: 7,
    NodeLabel.SECTION: 8,
    NodeLabel.REQUIREMENT: 9,
}
LABEL_OF: Final = {number: label for label, number in LABEL_NUMBERS.items()}
RELATION_NUMBERS: Final = {
    Relation.BELONGS_TO: 1,
    Relation.DESCRIBES: 2,
    Relation.VALIDATES: 3,
    Relation.DEPENDS_ON: 4,
    Relation.LINKS_TO: 5,
    Relation.CITES: 6,
    Relation.PART_OF: 7,
    Relation.WRITTEN_IN: 8,
}
RELATION_OF: Final = {number: relation for relation, number in RELATION_NUMBERS.items()}
SUBSYSTEM_TRAIT, NAMESPACE_TRAIT, TAG_TRAIT = 1, 2, 3
"""What a trait of a file is."""


_WORDS: tuple[str, ...] = (*get_args(SymbolKind), *get_args(SymbolLanguage))
"""Words that stand in many rows, of which there may be others; the order is part of the schema."""
_CODES = {word: number for number, word in enumerate(_WORDS, 1)}
_HEX = re.compile(r"(?:[0-9a-f]{2}){8,}")
MAX_PIECES = 1 << 20
"""No file has as many."""


def encode_text(text: str) -> str | bytes:
    """Text as it is stored; a name of a file may be what sqlite can't take as text."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="surrogatepass")
    return text


def decode_text(value: object) -> str:
    """The text that was stored."""
    return value if isinstance(value, str) else decode_bytes(value).decode(errors="surrogatepass")


def encode_word(word: str) -> int | str | bytes:
    """What symbols are, and what they are written in, in little room."""
    return _CODES.get(word) or encode_text(word)


def decode_word(value: object) -> str:
    """The word again."""
    return _WORDS[value - 1] if isinstance(value, int) else decode_text(value)


def encode_hex(text: str) -> str | bytes:
    """A digest in half the room."""
    return bytes.fromhex(text) if _HEX.fullmatch(text) else encode_text(text)


def decode_hex(value: object) -> str:
    """The digest that was stored."""
    return value if isinstance(value, str) else decode_bytes(value).hex()


def decode_count(value: object, most: int = 1 << 62) -> int:
    """A number of something; ValueError for what is none, for a column takes anything."""
    if isinstance(value, int) and 0 <= value <= most:
        return value
    raise ValueError(f"{value!r:.40} is no number of anything")


def decode_numbers(values: Sequence[object]) -> list[int]:
    """The same for several."""
    return [decode_count(value) for value in values]


def decode_piece_range(first: object, count: object) -> range:
    """The numbers of the pieces of a file."""
    start = decode_count(first, 1 << 60)
    return range(start, start + decode_count(count, MAX_PIECES))


def decode_time(value: object) -> float | None:
    """A time, where there is one; ValueError for what is none."""
    if value is None or (isinstance(value, (int, float)) and isfinite(value)):
        return value
    raise ValueError(f"{value!r:.40} is no time")


def decode_bytes(value: object) -> bytes:
    """Bytes; ValueError for what is none."""
    if isinstance(value, bytes):
        return value
    raise ValueError(f"{value!r:.40} stands where bytes should")


def pack_record(value: object) -> bytes:
    """A record as JSON."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode()


def unpack_record(data: bytes, kind: type[Value]) -> Value:
    """The record again."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(data), kind)


def decode_properties(data: bytes | None) -> dict[str, Any]:
    """Those of a node or an edge."""
    return unpack_record(data, dict[str, Any]) if data else {}


_SAMPLES, _SAMPLE, _EVERY = 16, 2048, 8
"""How many texts of how many characters tell how all others are likely to go on, and one of how many texts is taken."""
_MOST_TEXT = 1 << 28
"""Bytes that a text may have: a few that were made up could say that they are thousands of times as many."""
_TEXT = "SELECT data, (SELECT data FROM dictionary) FROM text WHERE artifact = ?"


class TitledText(Struct, frozen=True):
    """The text of a file, and the titles of its pieces, whose words stand in it mostly."""

    whole: str = ""
    titles: tuple[str, ...] = ()


class TextWriter:
    """Texts on their way into a store."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._dictionary = database.read_one(lambda row: decode_bytes(*row), "SELECT data FROM dictionary") or b""
        self._samples: list[str] = []
        self._count = 0

    def put(self, id: int, text: str, titles: Iterable[str]) -> None:
        """The text of a file, and the titles of its pieces."""
        if not self._dictionary:
            self._sample(text)
        # Files are small: much of what is in one stands in others.
        writer = zlib.compressobj(zdict=self._dictionary)
        data = msgpack.encode([_bytes(text), *map(_bytes, titles)])
        self.database.run("INSERT INTO text(artifact, data) VALUES (?, ?)", id, writer.compress(data) + writer.flush())

    def _sample(self, text: str) -> None:
        self._count += 1
        if self._count % _EVERY == 0:
            # Many files begin alike.
            start = max(0, len(text) - _SAMPLE) // 2
            self._samples.append(text[start : start + _SAMPLE])
        if len(self._samples) == _SAMPLES:
            self._dictionary = "".join(self._samples).encode(errors="surrogatepass")
            self.database.run("INSERT INTO dictionary(data) VALUES (?)", self._dictionary)


def read_file_text(database: Database, id: int) -> TitledText:
    """The text of a file; nothing where it has no pieces."""
    row = database.row(_TEXT, id)
    if row is None:
        return TitledText()
    with translate_decoding_errors(database.path):
        reader = zlib.decompressobj(zdict=decode_bytes(row[1] or b""))
        data = reader.decompress(decode_bytes(row[0]), _MOST_TEXT)
        if not reader.eof:
            raise zlib.error("a text is not whole")
        return _text(data)


def _text(data: bytes) -> TitledText:
    try:
        whole, *titles = msgpack.decode(data, type=tuple[bytes, ...])
    except (DecodeError, ValueError) as error:
        raise zlib.error("a text makes no sense") from error
    return TitledText(whole.decode(errors="surrogatepass"), tuple(one.decode(errors="surrogatepass") for one in titles))


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


class StoreState(NamedTuple):
    """The only row of its table."""

    revision: str
    next: int
    """The number of the piece that comes next."""
    total: int
    """How many pieces there are."""


def read_state(database: Database) -> StoreState:
    found = database.read_one(_state, "SELECT revision, next, total FROM state")
    if found is None:
        raise make_damaged_error(database.path, "it doesn't say what it holds")
    return found


def _state(row: DatabaseRow) -> StoreState:
    revision, *counts = row
    return StoreState(decode_text(revision), *map(decode_count, counts))
