"""The full-text index of requirements, in sqlite FTS5."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import finalize

from msgspec import msgpack

from duvet.errors import DuvetError, QueryError
from duvet.trace.catalogue import Catalogue
from duvet.tree.cache import ResultCache, make_cache_key
from duvet.tree.record import digest_content

if TYPE_CHECKING:
    from sqlite3 import Connection


MatchSpans = tuple[tuple[int, int], ...]
"""Stretches of a text."""
IndexedTexts = tuple[str, str, str]
"""A sentence, the title of its section, and the names of its specification."""

##= man/spec/search.md#queries
##% `duvet search` MUST find words in any of their forms, in requirements, titles of sections and names of
##% specifications, and a quoted phrase as a phrase.
_TABLE = "CREATE VIRTUAL TABLE found USING fts5(text, title, specification, tokenize='porter unicode61'{})"
_INSERT = "INSERT INTO found(rowid, text, title, specification) VALUES (?, ?, ?, ?)"
_SCORES = "SELECT rowid, bm25(found, 1.0, 2.0, 1.0) FROM found WHERE found MATCH ?"
_MARKS = "SELECT rowid, highlight(found, 0, char(1), char(2)) FROM found WHERE found MATCH ?"
_SCORE = "{:.6g}"
"""Further digits may differ from one machine to the next."""
# What separates words in any case, so that nothing moves.
_UNMARKED = str.maketrans("\0\1\2", "   ")


class RequirementIndex:
    """The requirements of a catalogue by the words that they hold."""

    def __init__(self, catalogue: Catalogue, memory: ResultCache) -> None:
        self._texts = _texts(catalogue)
        how = make_cache_key(_sqlite().sqlite_version, digest_content(msgpack.encode(self._texts)))
        self._data = memory.of_tree("search", bytes, how, self._built)

    def _built(self) -> bytes:
        with _opened() as table:
            # The texts themselves stand in the catalogue.
            _fill(table, ", content=''", enumerate(self._texts))
            table.execute("INSERT INTO found(found) VALUES ('optimize')")
            table.commit()
            return table.serialize()

    def matches(self, expression: str) -> dict[int, float]:
        """The requirements that match, each with its score, the best first; QueryError where it can't be read."""
        with self._loaded() as table:
            found = [(float(_SCORE.format(score)), index) for index, score in _asked(table, _SCORES, expression)]
        ##= man/spec/search.md#results
        ##% `duvet search` MUST list the best match first, count a word in a title for more than one in the text, and
        ##% keep equal matches in the order of reports.
        # For sqlite the best have the lowest scores.
        return {index: -score for score, index in sorted(found)}

    @contextmanager
    def _loaded(self) -> Iterator[Connection]:
        with _opened() as table:
            table.deserialize(self._data)
            yield table

    def marks(self, expression: str, indexes: Sequence[int]) -> dict[int, MatchSpans]:
        """Which stretches of these sentences match, for those that do."""
        ##= man/spec/search.md#results
        ##% `duvet search` MUST mark the words that it found, count the results that it does not show, and suggest
        ##% similar names for an unknown word.
        with _opened() as table:
            _fill(table, "", ((index, _unmarked(self._texts[index])) for index in indexes))
            return {index: _spans(marked) for index, marked in _asked(table, _MARKS, expression)}


class OpenIndex(RequirementIndex):
    """One for many questions, for as long as somebody holds it."""

    @cached_property
    def _table(self) -> Connection:
        # What is read in one thread may be asked in another, though never in two at once.
        table = _connected(check_same_thread=False)
        finalize(self, table.close)
        table.deserialize(self._data)
        return table

    @contextmanager
    def _loaded(self) -> Iterator[Connection]:
        yield self._table


def _texts(catalogue: Catalogue) -> list[IndexedTexts]:
    names = [" ".join(dict.fromkeys((one.name.lower(), one.id.lower()))) for one in catalogue.specifications]
    titles = [one.titles for one in catalogue.specifications]
    return [
        (card.text, titles[card.specification].get(card.section, ""), names[card.specification])
        for card in catalogue.requirements
    ]


def _unmarked(texts: IndexedTexts) -> IndexedTexts:
    text, title, names = texts
    return text.translate(_UNMARKED), title, names


def _fill(table: Connection, options: str, rows: Iterable[tuple[int, IndexedTexts]]) -> None:
    import sqlite3

    try:
        table.execute(_TABLE.format(options))
    except sqlite3.OperationalError as error:
        raise _unable(str(error)) from error
    table.executemany(_INSERT, ((index, *texts) for index, texts in rows))


def _asked(table: Connection, question: str, expression: str) -> list[Any]:
    import sqlite3

    try:
        return table.execute(question, (expression,)).fetchall()
    except sqlite3.Error as error:
        raise QueryError(f"the query is not one of FTS5: {error}", hint=_RAW_HINT) from error


_RAW_HINT = (
    'words, "phrases", AND, OR, NOT, NEAR(…) and the columns text, title and specification are; or go without --raw'
)


def _spans(marked: str) -> MatchSpans:
    """Where the marks stand, counted without them."""
    spans, at = [], 0
    for before_end in marked.split("\2")[:-1]:
        before, _, inside = before_end.partition("\1")
        at += len(before)
        spans.append((at, at + len(inside)))
        at += len(inside)
    return tuple(spans)


@contextmanager
def _opened() -> Iterator[Connection]:
    """A database in memory."""
    with closing(_connected()) as connection:
        yield connection


def _connected(**options: bool) -> Connection:
    connection: Connection = _sqlite().connect(":memory:", **options)
    if not hasattr(connection, "serialize"):
        connection.close()
        raise _unable("it can't hand out its bytes")
    return connection


def _sqlite() -> Any:
    try:
        import sqlite3
    except ImportError as error:
        raise _unable(str(error)) from error
    return sqlite3


def _unable(reason: str) -> DuvetError:
    ##= man/spec/search.md#queries
    ##% `duvet search` MUST say how much of a long query it uses, and when Python's sqlite lacks FTS5.
    return DuvetError(
        f"the sqlite of this Python has no full-text search: {reason}", hint="run duvet with a Python that has FTS5"
    )
