"""A store in one file of sqlite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from duvet.store import artifacts, filtering, graph, lexical, runs
from duvet.store.around import Reached, around
from duvet.store.copying import copy
from duvet.store.database import Database
from duvet.store.errors import StoreError
from duvet.store.faults import busy, told
from duvet.store.records import Artifact, Chunk, Edge, Filters, Label, Node, Relation, Run, Segment
from duvet.store.values import raw
from duvet.store.writing import SqliteWriting

P = ParamSpec("P")
Value = TypeVar("Value")

_MUCH = 4
"""One part in so many of the file is much."""
_LACKS_TIMES = "SELECT 1 FROM artifact WHERE count > 0 AND git_timestamp IS NULL LIMIT 1"


def _asked(method: Callable[Concatenate[SqliteStore, P], Value]) -> Callable[Concatenate[SqliteStore, P], Value]:
    """What was overwritten may be read as anything."""

    @wraps(method)
    def ask(store: SqliteStore, /, *args: P.args, **named: P.kwargs) -> Value:
        with told(store.database.path):
            return method(store, *args, **named)

    return ask


def _asked_one_by_one(
    method: Callable[Concatenate[SqliteStore, P], Iterator[Value]],
) -> Callable[Concatenate[SqliteStore, P], Iterator[Value]]:
    @wraps(method)
    def ask(store: SqliteStore, /, *args: P.args, **named: P.kwargs) -> Iterator[Value]:
        with told(store.database.path):
            yield from method(store, *args, **named)

    return ask


class SqliteStore:
    """What is known about a project; from any thread, but by one at a time."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._writing: SqliteWriting | None = None
        self._allowed: tuple[str, Filters, Sequence[int] | None] | None = None

    @property
    @_asked
    def revision(self) -> str:
        ((revision,),) = self.database.rows("SELECT revision FROM state")
        return str(revision)

    @_asked
    def kept(self, name: str) -> bytes | None:
        row = self.database.row("SELECT data FROM kept WHERE name = ?", name)
        return raw(row[0]) if row else None

    def close(self) -> None:
        self.database.close()

    def copy_to(self, path: str) -> None:
        copy(self.database, path)

    @_asked
    def artifacts(self) -> Mapping[str, Artifact]:
        return artifacts.artifacts(self.database)

    @_asked
    def chunk_total(self) -> int:
        self._settle()
        ((count,),) = self.database.rows("SELECT total FROM state")
        return int(count)

    @_asked
    def chunks(self, numbers: Sequence[int]) -> Sequence[Chunk]:
        return artifacts.chunks(self.database, numbers)

    @_asked
    def chunk_numbers(self, path: str) -> Sequence[int]:
        return artifacts.chunk_numbers(self.database, path)

    @_asked
    def lacks_times(self) -> bool:
        return self.database.row(_LACKS_TIMES) is not None

    @_asked
    def lexical(self, terms: Sequence[str], filters: Filters, limit: int, *, every: bool) -> lexical.Hits:
        self._settle()
        return lexical.lexical(self.database, terms, self.allowed(filters), limit, every=every)

    @_asked
    def frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        self._settle()
        return lexical.frequencies(self.database, terms)

    @_asked
    def allowed(self, filters: Filters) -> Sequence[int] | None:
        if self._writing is not None:
            return filtering.allowed(self.database, filters)
        # Both halves of a search ask for the same.
        revision = self.revision
        if self._allowed is None or self._allowed[:2] != (revision, filters):
            self._allowed = (revision, filters, filtering.allowed(self.database, filters))
        return self._allowed[2]

    @_asked_one_by_one
    def segments(self) -> Iterator[Segment]:
        return artifacts.segments(self.database)

    @_asked
    def node(self, label: Label, key: str) -> Node | None:
        return graph.node(self.database, label, key)

    @_asked_one_by_one
    def nodes(self, label: Label) -> Iterator[Node]:
        return graph.nodes(self.database, label)

    @_asked
    def edges(self, id: str, *, out: bool, limit: int, relations: Sequence[Relation] = ()) -> graph.Ends:
        return graph.edges(self.database, id, out=out, limit=limit, relations=relations)

    @_asked
    def neighbours(self, ids: Sequence[str]) -> Mapping[str, Sequence[tuple[Edge, Node]]]:
        return graph.neighbours(self.database, ids)

    @_asked
    def around(self, id: str, depth: int) -> Sequence[Reached]:
        return around(self.database, id, depth)

    @_asked
    def found_nodes(self, term: str, labels: Sequence[Label], limit: int) -> Sequence[Node]:
        return graph.found_nodes(self.database, term, labels, limit)

    @_asked_one_by_one
    def isolated(self, labels: Sequence[Label], relations: Sequence[Relation]) -> Iterator[Node]:
        return graph.isolated(self.database, labels, relations)

    @_asked
    def runs(self, profile: str | None = None, limit: int = 20) -> Sequence[Run]:
        return runs.runs(self.database, profile, limit)

    @_asked
    def reports(self, name: str, limit: int = 1) -> Sequence[bytes]:
        return runs.reports(self.database, name, limit)

    @contextmanager
    def writing(self, patience: float = 0.0) -> Iterator[SqliteWriting]:
        """One change, all or nothing; this very store answers as if it were done."""
        self._begin(patience)
        try:
            self._writing = SqliteWriting(self.database)
            yield self._writing
            self._writing.finish()
            self.database.run("COMMIT")
        except BaseException:
            ##= man/spec/knowledge.md#store
            ##% A run that fails or is killed, whatever the reason, MUST leave the store as it was.
            self.database.undo()
            raise
        finally:
            self._writing = None
        self._put_away()

    def _begin(self, patience: float) -> None:
        ##= man/spec/knowledge.md#store
        ##% Of two runs at once, one MUST wait, or fail and say that somebody else is writing.
        if self._writing is not None:
            raise busy(self.database.path)
        self.database.patiently(lambda: self.database.run("BEGIN IMMEDIATE"), patience)

    def _put_away(self) -> None:
        """Bring what was written where it belongs, and give back much room that is free, unless somebody is in the way."""
        with suppress(StoreError):
            (free,), (pages,) = self.database.rows("PRAGMA freelist_count") + self.database.rows("PRAGMA page_count")
            if free * _MUCH > pages:
                self.database.patiently(self.database.shrink, 0)
            self.database.patiently(lambda: self.database.rows("PRAGMA wal_checkpoint(TRUNCATE)"), 0)

    def _settle(self) -> None:
        if self._writing is not None:
            self._writing.flush()
