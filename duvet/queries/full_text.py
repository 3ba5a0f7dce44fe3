"""The full-text index of requirements (SQLite FTS5), and the fusion of rankings (RRF)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from msgspec import msgpack

from duvet.errors import DuvetError, QueryError
from duvet.trace.catalogue import Catalogue
from duvet.tree.cache import Cache
from duvet.tree.recorder import digest_content
from duvet.words import Query, quote_term

if TYPE_CHECKING:
    from sqlite3 import Connection

MatchSpans = tuple[tuple[int, int], ...]  # The offsets of the matching parts of a text.
IndexedTexts = tuple[str, str, str]
"""The text of a requirement, the title of its section, and the names of its specification."""

##= man/spec/search.md#queries
##% `duvet search` MUST search requirements, titles of sections and names of specifications, for every form of a word,
##% and for a quoted phrase as a whole.
_TABLE = "CREATE VIRTUAL TABLE found USING fts5(text, title, specification, tokenize='porter unicode61'{})"
_INSERT = "INSERT INTO found(rowid, text, title, specification) VALUES (?, ?, ?, ?)"
_SCORES = "SELECT rowid, bm25(found, 1.0, 2.0, 1.0) FROM found WHERE found MATCH ?"
_MATCHES = "SELECT rowid FROM found WHERE found MATCH ?"
_TERM_LIMIT = 2.2  # `k1` + 1: the score of a word is less than this times its rarity.
_HIGHLIGHTS = "SELECT rowid, highlight(found, 0, char(1), char(2)) FROM found WHERE found MATCH ?"
# Blanks separate words, too, and the offsets stay the same.
_UNMARKED = str.maketrans("\0\1\2", "   ")
_RAW_HINT = 'use words, "phrases", AND, OR, NOT, NEAR(…) and the columns text, title and specification, or drop --raw'


class RequirementIndex:
    """A word index of the requirements in a catalogue; any thread may use it, but only one at a time."""

    def __init__(self, catalogue: Catalogue, memory: Cache) -> None:
        names = [" ".join(dict.fromkeys((one.name.lower(), one.id.lower()))) for one in catalogue.specifications]
        titles = [one.titles for one in catalogue.specifications]
        self._texts: list[IndexedTexts] = [
            (card.text, titles[card.specification].get(card.section, ""), names[card.specification])
            for card in catalogue.requirements
        ]
        key = (_import_sqlite().sqlite_version, digest_content(msgpack.encode(self._texts)))
        self._data = memory.compute("search", bytes, key, self._build)

    def _build(self) -> bytes:
        with closing(open_memory_database()) as connection:
            # The texts are left out, because the catalogue contains them.
            _fill(connection, ", content=''", enumerate(self._texts))
            connection.execute("INSERT INTO found(found) VALUES ('optimize')")
            connection.commit()
            return connection.serialize()

    @cached_property
    def _connection(self) -> Connection:
        connection = open_memory_database(check_same_thread=False)
        finalize(self, connection.close)
        connection.deserialize(self._data)
        return connection

    def find_matches(self, expression: str) -> dict[int, float]:
        """Return the matching requirements with scores, best first; raise QueryError for an invalid expression."""
        # Further digits may differ between machines.
        rows = _query(self._connection, _SCORES, expression)
        scores = sorted((float(f"{score:.6g}"), index) for index, score in rows)
        # In sqlite, the lowest score is the best.
        return {index: -score for score, index in scores}

    def compute_shares(self, query: Query) -> dict[int, float]:
        """Map each requirement with any of the words to its score, as a share of the highest score that is possible."""
        total = len(self._texts)
        counts = [len(_query(self._connection, _MATCHES, quote_term(word))) for word in query.words]
        most = sum(_TERM_LIMIT * log(1 + (total - count + 0.5) / (count + 0.5)) for count in counts)
        return {index: min(score / most, 1.0) for index, score in self.find_matches(query.disjunction).items()}

    def marks(self, expression: str, indexes: Sequence[int]) -> dict[int, MatchSpans]:
        with closing(open_memory_database()) as connection:
            rows = ((index, self._texts[index]) for index in indexes)
            _fill(connection, "", ((index, (text.translate(_UNMARKED), *rest)) for index, (text, *rest) in rows))
            return {index: _parse_spans(marked) for index, marked in _query(connection, _HIGHLIGHTS, expression)}


def _fill(connection: Connection, options: str, rows: Iterable[tuple[int, Iterable[str]]]) -> None:
    sqlite3 = _import_sqlite()
    try:
        connection.execute(_TABLE.format(options))
    except sqlite3.OperationalError as error:
        raise _make_sqlite_error(str(error)) from error
    connection.executemany(_INSERT, ((index, *texts) for index, texts in rows))


def _query(connection: Connection, statement: str, expression: str) -> list[Any]:
    sqlite3 = _import_sqlite()
    try:
        return connection.execute(statement, (expression,)).fetchall()
    except sqlite3.Error as error:
        raise QueryError(f"invalid FTS5 query: {error}", hint=_RAW_HINT) from error


def _parse_spans(marked: str) -> MatchSpans:
    spans, at = [], 0
    for part in marked.split("\2")[:-1]:
        before, _, inside = part.partition("\1")
        at += len(before)
        spans.append((at, at + len(inside)))
        at += len(inside)
    return tuple(spans)


def open_memory_database(**options: bool) -> Connection:
    """Open a database in memory; raise DuvetError if this sqlite can't search."""
    connection: Connection = _import_sqlite().connect(":memory:", **options)
    if not hasattr(connection, "serialize"):
        connection.close()
        raise _make_sqlite_error("Connection.serialize is missing")
    return connection


def _import_sqlite() -> Any:
    try:
        import sqlite3
    except ImportError as error:
        raise _make_sqlite_error(str(error)) from error
    return sqlite3


def _make_sqlite_error(reason: str) -> DuvetError:
    return DuvetError(
        f"Python's sqlite has no full-text search: {reason}", hint="run duvet with a Python whose sqlite has FTS5"
    )


_Item = TypeVar("_Item", bound=Hashable)
VECTOR_SHARE = 0.6  # The share of the cosine in a score; the words have the rest.


def blend_scores(by_words: Mapping[_Item, float], by_vectors: Mapping[_Item, float]) -> dict[_Item, float]:
    """Return the weighted mean of each item's word score and cosine, best first."""
    scores = {item: share * (1 - VECTOR_SHARE) for item, share in by_words.items()}
    for item, cosine in by_vectors.items():
        scores[item] = scores.get(item, 0.0) + cosine * VECTOR_SHARE
    return {item: scores[item] for item in sorted(scores, key=scores.__getitem__, reverse=True)}
