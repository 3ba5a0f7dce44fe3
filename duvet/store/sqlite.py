"""The sqlite store: reads, one transaction per ingest run, copies."""

from __future__ import annotations

import os
import secrets
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress

from duvet.store import chunks, graph, text_index
from duvet.store.chunks import read_artifacts_by_id, read_pieces, read_symbols
from duvet.store.database import (
    BUSY_TIMEOUT,
    NAMESPACE_TRAIT,
    SUBSYSTEM_TRAIT,
    TAG_TRAIT,
    Database,
    DatabaseRow,
    TextWriter,
    decode_bytes,
    decode_count,
    decode_piece_range,
    encode_hex,
    encode_text,
    encode_word,
    pack_record,
    read_file_text,
    read_state,
    unpack_record,
)
from duvet.store.errors import (
    STORE_FILE_ENDINGS,
    StoreBusyError,
    StoreChangedError,
    StoreError,
    make_busy_error,
    translate_decoding_errors,
    translate_errors,
)
from duvet.store.graph import ReachedNode, walk_graph, write_graph
from duvet.store.records import (
    Artifact,
    Chunk,
    ChunkFilters,
    GraphEdge,
    GraphNode,
    IngestedFile,
    IngestRun,
    NodeLabel,
    Relation,
    Symbol,
    VectorSegment,
)
from duvet.store.text_index import ChunkIndexer, fold_name

_MOST_RUNS = 1000
_RUNS = "SELECT data FROM run WHERE ? IS NULL OR profile = ? ORDER BY id DESC LIMIT ?"
_REPORTS = "SELECT data FROM report WHERE name = ? ORDER BY id DESC LIMIT ?"
_OLD_REPORTS = """DELETE FROM report WHERE name = ? AND id NOT IN
(SELECT id FROM report WHERE name = ? ORDER BY id DESC LIMIT ?)"""


def read_runs(database: Database, profile: str | None, limit: int) -> Sequence[IngestRun]:
    wanted = None if profile is None else encode_text(profile)
    return database.read(lambda row: unpack_record(decode_bytes(*row), IngestRun), _RUNS, wanted, wanted, max(limit, 0))


def insert_run(database: Database, run: IngestRun) -> None:
    database.run("INSERT INTO run(profile, data) VALUES (?, ?)", encode_text(run.profile), pack_record(run))
    database.run("DELETE FROM run WHERE id <= (SELECT max(id) FROM run) - ?", _MOST_RUNS)


def read_stored_reports(database: Database, name: str, limit: int) -> Sequence[bytes]:
    return database.read(lambda row: zlib.decompress(decode_bytes(*row)), _REPORTS, name, max(limit, 0))


def insert_report(database: Database, name: str, run_id: str, data: bytes, keep: int) -> None:
    database.run("INSERT INTO report(name, run_id, data) VALUES (?, ?, ?)", name, run_id, zlib.compress(data))
    database.run(_OLD_REPORTS, name, name, max(keep, 0))


StoreMoment = tuple[object, ...]
"""What tells one state of a store from any other."""
_MOMENT = "SELECT revision, (SELECT max(id) FROM run), (SELECT max(id) FROM report) FROM state"
_STEP = 0.05
"""Seconds between two looks at whether somebody else is done."""


def copy_store(database: Database, path: str) -> None:
    """Write what is in a store at one moment to a new file."""
    import sqlite3

    with translate_errors(database.path):
        # Made by us, so that nobody's link is followed.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(path)) as target:
            # All pages in one step: those who write go on beside it, and it begins but once.
            database.connection.backup(target)


def read_moment(database: Database) -> StoreMoment:
    """What the store is at this moment."""
    return database.row(_MOMENT) or ()


def overwrite_store(database: Database, path: str, patience: float, only: StoreMoment | None = None) -> None:
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
                raise StoreChangedError("somebody else has written to it", path=database.path, hint="try again")
            is_seen = True
        elif time.monotonic() > until:
            raise StoreBusyError(
                "somebody else is writing to it", path=database.path, hint="try again when that is done"
            )

    database.run("PRAGMA busy_timeout=0")
    try:
        with translate_errors(database.path), closing(sqlite3.connect(path)) as source:
            # Page after page, and yet at once: it is one change.
            source.backup(database.connection, pages=1, progress=waited, sleep=_STEP)
    finally:
        database.run(f"PRAGMA busy_timeout={BUSY_TIMEOUT}")
    with translate_errors(database.path):
        database.patiently(lambda: database.rows("PRAGMA wal_checkpoint(TRUNCATE)"), 0)


def _now(path: str) -> StoreMoment:
    """What the store is, whoever is about to change it."""
    import sqlite3

    with translate_errors(path), closing(sqlite3.connect(path)) as connection:
        return read_moment(Database(connection, path))


def move_store_aside(path: str, folder: str) -> list[str]:
    """Take the files of a store that is of no use out of the way, into a new folder; what they are called there."""
    moved: list[str] = []
    try:
        os.makedirs(folder)
        # Without its log the file is not what it was, and a log must never be found beside another file.
        for end in (*STORE_FILE_ENDINGS[1:], ""):
            if os.path.lexists(path + end):
                moved.append(os.path.join(folder, os.path.basename(path) + end))
                os.replace(path + end, moved[-1])
    except OSError as error:
        raise StoreError(str(error.strerror or error), path=path, hint="see who may write to its folder") from error
    return moved


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


class SqliteWriter:
    """A change that is under way; once a part of it has failed, none of it is done."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.indexing = ChunkIndexer(database)
        self.texts = TextWriter(database)
        self._next = read_state(database).next
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

    def put(self, taken: IngestedFile) -> None:
        with self._part() as database:
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
                self.indexing.add(first, taken)
            database.many(_SYMBOL, [(id, n, *_symbol(one)) for n, one in enumerate(taken.symbols)])
            if taken.vectors:
                database.run(_VECTORS, id, taken.vectors)

    def touch(self, artifact: Artifact) -> None:
        with self._part() as database:
            known = self._known(artifact.path)
            if known is None:
                raise StoreError(f"{artifact.path} was not taken in yet", path=database.path)
            id = known[0]
            self._forget_traits(id)
            database.run(_TOUCH, *_fields(artifact), id)
            database.many(_TRAIT, [(what, value, id) for what, value in _traits(artifact)])

    def remove(self, path: str) -> None:
        with self._part():
            self._forget(path)

    def replace_vectors(self, path: str, vectors: bytes) -> None:
        with self._part() as database:
            known = self._known(path)
            if known is not None:
                database.run("DELETE FROM vectors WHERE artifact = ?", known[0])
                if vectors:
                    database.run(_VECTORS, known[0], vectors)

    def replace_graph(self, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> None:
        with self._part(changes=False) as database:
            self._is_changed |= write_graph(database, nodes, edges)

    def put_run(self, run: IngestRun) -> None:
        with self._part(changes=False) as database:
            insert_run(database, run)

    def put_report(self, name: str, run_id: str, data: bytes, keep: int) -> None:
        with self._part(changes=False) as database:
            insert_report(database, name, run_id, data, keep)

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
                database.run("UPDATE state SET revision = ?", secrets.token_hex(8))

    def _tidy(self) -> None:
        """Give up the room of what is gone, where that is much."""
        database = self.database
        if self._forgotten * _MUCH > read_state(database).total:
            database.run("INSERT INTO found(found) VALUES ('optimize')")

    def _forget(self, path: str) -> None:
        database = self.database
        known = self._known(path)
        if known is None:
            return
        id, pieces = known
        if pieces:
            # The index is told what to forget in the words that it was given.
            self.indexing.forget(pieces.start, _taken(database, id, pieces))
        self._forgotten += len(pieces)
        self._forget_traits(id)
        for table in ("text", "vectors", "symbol"):
            database.run(f"DELETE FROM {table} WHERE artifact = ?", id)
        database.run("DELETE FROM piece WHERE number >= ? AND number < ?", pieces.start, pieces.stop)
        database.run("DELETE FROM artifact WHERE id = ?", id)

    def _forget_traits(self, id: int) -> None:
        for known in read_artifacts_by_id(self.database, [id]).values():
            self.database.many(_NO_TRAITS, [(what, value, id) for what, value in _traits(known)])

    def _known(self, path: str) -> tuple[int, range] | None:
        """The number of a file, and those of its pieces."""
        return self.database.read_one(_place, _KNOWN, encode_text(path))


def _place(row: DatabaseRow) -> tuple[int, range]:
    id, first, count = row
    return decode_count(id), decode_piece_range(first, count)


def _taken(database: Database, id: int, pieces: range) -> IngestedFile:
    """What was put."""
    text = read_file_text(database, id)
    files = read_artifacts_by_id(database, [id])
    with translate_decoding_errors(database.path):
        artifact = files[id]
    return IngestedFile(
        artifact=artifact,
        text=text.whole,
        pieces=tuple(read_pieces(database, text, pieces)),
        symbols=tuple(read_symbols(database, id)),
    )


def _fields(artifact: Artifact) -> tuple[object, ...]:
    return (
        encode_text(artifact.path),
        artifact.kind.value,
        encode_text(artifact.subsystem),
        encode_text(artifact.criticality),
        encode_text(artifact.namespace),
        pack_record(artifact.tags) if artifact.tags else None,
        encode_hex(artifact.digest),
        encode_hex(artifact.git_commit),
        artifact.git_timestamp,
        encode_text(artifact.skipped),
    )


def _traits(artifact: Artifact) -> Iterator[tuple[int, str | bytes]]:
    """What files are filtered by."""
    if artifact.subsystem:
        yield SUBSYSTEM_TRAIT, encode_text(fold_name(artifact.subsystem))
    if artifact.namespace:
        yield NAMESPACE_TRAIT, encode_text(fold_name(artifact.namespace))
    for tag in artifact.tags:
        yield TAG_TRAIT, encode_text(fold_name(tag))


def _symbol(symbol: Symbol) -> tuple[object, ...]:
    """What can be told from the qualified name is left out."""
    qualified, plain = symbol.qualified_name, fold_name(symbol.qualified_name)
    name = None if symbol.name == qualified.rpartition(".")[2] else encode_text(symbol.name)
    names = name, encode_text(qualified), None if plain == qualified else encode_text(plain)
    return (
        *names,
        encode_word(symbol.kind.lower()),
        encode_word(symbol.language.lower()),
        symbol.line_start,
        symbol.line_end,
    )


_HAS_SYMBOLS = "SELECT 1 FROM symbol LIMIT 1"
_LACKS_TIMES = "SELECT 1 FROM artifact WHERE count > 0 AND git_timestamp IS NULL LIMIT 1"


class SqliteStore:
    """What is known about a project; from any thread, but by one at a time."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._writing: SqliteWriter | None = None
        self._allowed: tuple[str, ChunkFilters, Sequence[int] | None] | None = None

    @property
    def revision(self) -> str:
        return read_state(self.database).revision

    @property
    def is_current(self) -> bool:
        return self.database.is_current

    def kept(self, name: str) -> bytes | None:
        return self.database.read_one(lambda row: decode_bytes(*row), "SELECT data FROM kept WHERE name = ?", name)

    def close(self) -> None:
        self.database.close()

    def copy_to(self, path: str) -> None:
        copy_store(self.database, path)

    def artifacts(self) -> Mapping[str, Artifact]:
        return chunks.read_artifacts(self.database)

    def chunk_total(self) -> int:
        self._settle()
        return read_state(self.database).total

    def chunks(self, numbers: Sequence[int]) -> Sequence[Chunk]:
        return chunks.read_chunks(self.database, numbers)

    def chunk_numbers(self, path: str) -> Sequence[int]:
        return chunks.read_chunk_numbers(self.database, path)

    def lacks_times(self) -> bool:
        return self.database.row(_LACKS_TIMES) is not None

    def lexical(
        self, terms: Sequence[str], filters: ChunkFilters, limit: int, *, every: bool
    ) -> text_index.LexicalHits:
        self._settle()
        return text_index.search_words(self.database, terms, self.allowed(filters), limit, every=every)

    def declaring(self, name: str, filters: ChunkFilters) -> Sequence[int]:
        self._settle()
        return text_index.find_declaring_chunks(self.database, name, self.allowed(filters))

    def called(self, path: str, filters: ChunkFilters) -> Sequence[int]:
        self._settle()
        return text_index.find_file_chunks(self.database, path, self.allowed(filters))

    def has_symbols(self) -> bool:
        return self.database.row(_HAS_SYMBOLS) is not None

    def allowed(self, filters: ChunkFilters) -> Sequence[int] | None:
        if self._writing is not None:
            return text_index.find_allowed_chunks(self.database, filters)
        # Both halves of a search ask for the same.
        revision = self.revision
        if self._allowed is None or self._allowed[:2] != (revision, filters):
            self._allowed = (revision, filters, text_index.find_allowed_chunks(self.database, filters))
        return self._allowed[2]

    def segments(self) -> Iterator[VectorSegment]:
        return chunks.read_segments(self.database)

    def node(self, label: NodeLabel, key: str) -> GraphNode | None:
        return graph.read_node(self.database, label, key)

    def nodes(self, label: NodeLabel) -> Iterator[GraphNode]:
        return graph.read_nodes(self.database, label)

    def edges(self, id: str, *, out: bool, limit: int, relations: Sequence[Relation] = ()) -> graph.EdgeEnds:
        return graph.read_edges(self.database, id, out=out, limit=limit, relations=relations)

    def neighbours(self, ids: Sequence[str]) -> Mapping[str, Sequence[tuple[GraphEdge, GraphNode]]]:
        return graph.read_neighbours(self.database, ids)

    def around(self, id: str, depth: int) -> Sequence[ReachedNode]:
        return walk_graph(self.database, id, depth)

    def found_nodes(self, term: str, labels: Sequence[NodeLabel], limit: int) -> Sequence[GraphNode]:
        return graph.find_nodes(self.database, term, labels, limit)

    def isolated(self, labels: Sequence[NodeLabel], relations: Sequence[Relation]) -> Iterator[GraphNode]:
        return graph.find_isolated_nodes(self.database, labels, relations)

    def runs(self, profile: str | None = None, limit: int = 20) -> Sequence[IngestRun]:
        return read_runs(self.database, profile, limit)

    def reports(self, name: str, limit: int = 1) -> Sequence[bytes]:
        return read_stored_reports(self.database, name, limit)

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
                raise make_busy_error(self.database.path) from error
            raise
        finally:
            self.database.undo()
        if not self.is_current:
            raise make_busy_error(self.database.path)

    @contextmanager
    def writing(self, patience: float = 0.0) -> Iterator[SqliteWriter]:
        """One change, all or nothing; this very store answers as if it were done."""
        self._begin(patience)
        try:
            self._writing = SqliteWriter(self.database)
            yield self._writing
            self._writing.finish()
            self.database.run("COMMIT")
        except BaseException:
            ##= man/spec/knowledge.md#ingest-runs
            ##% A run that fails or is killed MUST leave the index unchanged, and a failure MUST be recorded with its
            ##% reason.
            self.database.undo()
            raise
        finally:
            self._writing = None
        self._put_away()

    def _begin(self, patience: float) -> None:
        ##= man/spec/knowledge.md#ingest-runs
        ##% A second run at the same time MUST say so, wait up to 10 seconds, and then fail.
        if self.database.is_in_transaction:
            raise make_busy_error(self.database.path)
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
