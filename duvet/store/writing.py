"""One change of a store, from its beginning to its end."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from duvet.store.artifacts import artifacts_of, pieces_of
from duvet.store.database import Database
from duvet.store.errors import StoreError
from duvet.store.faults import told
from duvet.store.indexing import Indexing
from duvet.store.records import Artifact, Edge, Node, Run, Symbol, Taken
from duvet.store.regraphing import replace_graph
from duvet.store.runs import put_report, put_run
from duvet.store.schema import NAMESPACE, SUBSYSTEM, TAG
from duvet.store.texts import Texts, text_of
from duvet.store.values import bound, bound_hex, coded, counted, packed
from duvet.store.words import folded

_KNOWN = "SELECT id, first, count FROM artifact WHERE path = ?"
_PUT = """INSERT INTO artifact(path, kind, subsystem, criticality, namespace, tags, digest, git_commit, git_timestamp,
skipped, first, count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"""
_TOUCH = """UPDATE artifact SET path = ?, kind = ?, subsystem = ?, criticality = ?, namespace = ?, tags = ?, digest = ?,
git_commit = ?, git_timestamp = ?, skipped = ? WHERE id = ?"""
_TRAIT = "INSERT OR IGNORE INTO trait(what, value, artifact) VALUES (?, ?, ?)"
_NO_TRAITS = "DELETE FROM trait WHERE what = ? AND value = ? AND artifact = ?"
_PIECE = "INSERT INTO piece(number, artifact, start, end, line_start, line_end) VALUES (?, ?, ?, ?, ?, ?)"
_SYMBOL = "INSERT INTO symbol VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_VECTORS = "INSERT OR REPLACE INTO vectors(artifact, rows) VALUES (?, ?)"
_MUCH = 4
"""One part in so many of all pieces is much."""


class SqliteWriting:
    """A change that is under way; once a part of it has failed, none of it is done."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.indexing = Indexing(database)
        self.texts = Texts(database)
        with told(database.path):
            ((next,),) = database.rows("SELECT next FROM state")
            self._next = counted(next)
        self._forgotten = 0
        self._is_changed = False
        self._has_failed = False

    @contextmanager
    def _part(self, *, changes: bool = True) -> Iterator[Database]:
        if self._has_failed:
            raise StoreError("an earlier part of this change has failed", path=self.database.path)
        self._has_failed = True
        yield self.database
        self._has_failed = False
        self._is_changed |= changes

    def put(self, taken: Taken) -> None:
        with self._part() as database:
            with told(database.path):
                self._forget(taken.artifact.path)
            first, pieces = self._next, taken.pieces
            self._next += len(pieces)
            row = database.row(_PUT, *_fields(taken.artifact), first, len(pieces))
            id = row[0] if row else 0
            database.many(_TRAIT, [(what, value, id) for what, value in _traits(taken.artifact)])
            if pieces:
                rows = [
                    (first + n, id, one.start, one.end, one.line_start, one.line_end) for n, one in enumerate(pieces)
                ]
                database.many(_PIECE, rows)
                self.texts.put(id, taken.text, [one.title for one in pieces])
                self.indexing.add(first, taken.text, pieces)
            database.many(_SYMBOL, [(id, n, *_symbol(one)) for n, one in enumerate(taken.symbols)])
            if taken.vectors:
                database.run(_VECTORS, id, taken.vectors)

    def touch(self, artifact: Artifact) -> None:
        with self._part() as database:
            known = database.row(_KNOWN, bound(artifact.path))
            if known is None:
                raise StoreError(f"{artifact.path} was not taken in yet", path=database.path)
            with told(database.path):
                self._forget_traits(known[0])
            database.run(_TOUCH, *_fields(artifact), known[0])
            database.many(_TRAIT, [(what, value, known[0]) for what, value in _traits(artifact)])

    def remove(self, path: str) -> None:
        with self._part() as database, told(database.path):
            self._forget(path)

    def replace_vectors(self, path: str, vectors: bytes) -> None:
        with self._part() as database:
            known = database.row(_KNOWN, bound(path))
            if known is not None:
                database.run("DELETE FROM vectors WHERE artifact = ?", known[0])
                if vectors:
                    database.run(_VECTORS, known[0], vectors)

    def replace_graph(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        with self._part(changes=False) as database:
            self._is_changed |= replace_graph(database, nodes, edges)

    def put_run(self, run: Run) -> None:
        with self._part(changes=False) as database:
            put_run(database, run)

    def put_report(self, name: str, run_id: str, data: bytes, keep: int) -> None:
        with self._part(changes=False) as database:
            put_report(database, name, run_id, data, keep)

    def keep(self, name: str, data: bytes) -> None:
        with self._part() as database:
            database.run("INSERT OR REPLACE INTO kept(name, data) VALUES (?, ?)", name, data)

    def flush(self) -> None:
        """Index what waits for that."""
        with self._part(changes=False) as database:
            self.indexing.flush()
            database.run("UPDATE state SET next = ?, total = (SELECT count(*) FROM piece)", self._next)

    def finish(self) -> None:
        """What is left to do before others may see it."""
        self.flush()
        with self._part(changes=False) as database:
            self._tidy()
            if self._is_changed:
                ##= man/spec/knowledge.md#store
                ##% A run that has changed anything MUST leave a store that tells it is another.
                database.run("UPDATE state SET revision = ?", secrets.token_hex(8))

    def _tidy(self) -> None:
        """Give up the room of what is gone, where that is much."""
        database = self.database
        ((total,),) = database.rows("SELECT total FROM state")
        if self._forgotten * _MUCH > counted(total):
            database.run("INSERT INTO found(found) VALUES ('optimize')")

    def _forget(self, path: str) -> None:
        database = self.database
        known = database.row(_KNOWN, bound(path))
        if known is None:
            return
        id, first, count = known
        if count:
            # The index is told what to forget in the words that it was given.
            text = text_of(database, id)
            self.indexing.forget(first, text.whole, pieces_of(database, text, first, count))
        self._forgotten += count
        self._forget_traits(id)
        for table in ("text", "vectors", "symbol"):
            database.run(f"DELETE FROM {table} WHERE artifact = ?", id)
        database.run("DELETE FROM piece WHERE number >= ? AND number < ?", first, first + count)
        database.run("DELETE FROM artifact WHERE id = ?", id)

    def _forget_traits(self, id: int) -> None:
        known = artifacts_of(self.database, [id])[id]
        self.database.many(_NO_TRAITS, [(what, value, id) for what, value in _traits(known)])


def _fields(artifact: Artifact) -> tuple[object, ...]:
    return (
        bound(artifact.path),
        artifact.kind.value,
        bound(artifact.subsystem),
        bound(artifact.criticality),
        bound(artifact.namespace),
        packed(artifact.tags) if artifact.tags else None,
        bound_hex(artifact.digest),
        bound_hex(artifact.git_commit),
        artifact.git_timestamp,
        bound(artifact.skipped),
    )


def _traits(artifact: Artifact) -> Iterator[tuple[int, str | bytes]]:
    """What files are filtered by."""
    if artifact.subsystem:
        yield SUBSYSTEM, bound(folded(artifact.subsystem))
    if artifact.namespace:
        yield NAMESPACE, bound(folded(artifact.namespace))
    for tag in artifact.tags:
        yield TAG, bound(folded(tag))


def _symbol(symbol: Symbol) -> tuple[object, ...]:
    """What can be told from the qualified name is left out."""
    qualified, plain = symbol.qualified_name, folded(symbol.qualified_name)
    name = None if symbol.name == qualified.rpartition(".")[2] else bound(symbol.name)
    names = name, bound(qualified), None if plain == qualified else bound(plain)
    return *names, coded(symbol.kind.lower()), coded(symbol.language.lower()), symbol.line_start, symbol.line_end
