"""A store in one file of sqlite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from duvet.store import artifacts, filtering, graph, lexical, naming, runs
from duvet.store.around import Reached, around
from duvet.store.copying import copy
from duvet.store.database import Database
from duvet.store.errors import StoreError
from duvet.store.faults import busy
from duvet.store.records import Artifact, Chunk, Edge, Filters, Label, Node, Relation, Run, Segment
from duvet.store.state import state_of
from duvet.store.values import raw
from duvet.store.writing import SqliteWriting

_MUCH = 4
"""One part in so many of the file is much."""
_HAS_SYMBOLS = "SELECT 1 FROM symbol LIMIT 1"
_LACKS_TIMES = "SELECT 1 FROM artifact WHERE count > 0 AND git_timestamp IS NULL LIMIT 1"


class SqliteStore:
    """What is known about a project; from any thread, but by one at a time."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._writing: SqliteWriting | None = None
        self._allowed: tuple[str, Filters, Sequence[int] | None] | None = None

    @property
    def revision(self) -> str:
        return state_of(self.database).revision

    @property
    def is_current(self) -> bool:
        return self.database.is_current

    def kept(self, name: str) -> bytes | None:
        return self.database.read_one(lambda row: raw(*row), "SELECT data FROM kept WHERE name = ?", name)

    def close(self) -> None:
        self.database.close()

    def copy_to(self, path: str) -> None:
        copy(self.database, path)

    def artifacts(self) -> Mapping[str, Artifact]:
        return artifacts.artifacts(self.database)

    def chunk_total(self) -> int:
        self._settle()
        return state_of(self.database).total

    def chunks(self, numbers: Sequence[int]) -> Sequence[Chunk]:
        return artifacts.chunks(self.database, numbers)

    def chunk_numbers(self, path: str) -> Sequence[int]:
        return artifacts.chunk_numbers(self.database, path)

    def lacks_times(self) -> bool:
        return self.database.row(_LACKS_TIMES) is not None

    def lexical(self, terms: Sequence[str], filters: Filters, limit: int, *, every: bool) -> lexical.Hits:
        self._settle()
        return lexical.lexical(self.database, terms, self.allowed(filters), limit, every=every)

    def declaring(self, name: str, filters: Filters) -> Sequence[int]:
        self._settle()
        return naming.declaring(self.database, name, self.allowed(filters))

    def called(self, path: str, filters: Filters) -> Sequence[int]:
        self._settle()
        return naming.called(self.database, path, self.allowed(filters))

    def has_symbols(self) -> bool:
        return self.database.row(_HAS_SYMBOLS) is not None

    def allowed(self, filters: Filters) -> Sequence[int] | None:
        if self._writing is not None:
            return filtering.allowed(self.database, filters)
        # Both halves of a search ask for the same.
        revision = self.revision
        if self._allowed is None or self._allowed[:2] != (revision, filters):
            self._allowed = (revision, filters, filtering.allowed(self.database, filters))
        return self._allowed[2]

    def segments(self) -> Iterator[Segment]:
        return artifacts.segments(self.database)

    def node(self, label: Label, key: str) -> Node | None:
        return graph.node(self.database, label, key)

    def nodes(self, label: Label) -> Iterator[Node]:
        return graph.nodes(self.database, label)

    def edges(self, id: str, *, out: bool, limit: int, relations: Sequence[Relation] = ()) -> graph.Ends:
        return graph.edges(self.database, id, out=out, limit=limit, relations=relations)

    def neighbours(self, ids: Sequence[str]) -> Mapping[str, Sequence[tuple[Edge, Node]]]:
        return graph.neighbours(self.database, ids)

    def around(self, id: str, depth: int) -> Sequence[Reached]:
        return around(self.database, id, depth)

    def found_nodes(self, term: str, labels: Sequence[Label], limit: int) -> Sequence[Node]:
        return graph.found_nodes(self.database, term, labels, limit)

    def isolated(self, labels: Sequence[Label], relations: Sequence[Relation]) -> Iterator[Node]:
        return graph.isolated(self.database, labels, relations)

    def runs(self, profile: str | None = None, limit: int = 20) -> Sequence[Run]:
        return runs.runs(self.database, profile, limit)

    def reports(self, name: str, limit: int = 1) -> Sequence[bytes]:
        return runs.reports(self.database, name, limit)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Questions that are answered from what one run has left."""
        if self.database.is_in_transaction:
            yield
            return
        self.database.run("BEGIN")
        try:
            yield
        except StoreError as error:
            if not self.is_current:
                raise busy(self.database.path) from error
            raise
        finally:
            self.database.undo()
        if not self.is_current:
            raise busy(self.database.path)

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
        if self.database.is_in_transaction:
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
