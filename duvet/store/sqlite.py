"""The store in a sqlite file: reading, writing in one transaction per ingest run, and copying."""

from __future__ import annotations

import os
import secrets
import time
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain

from duvet.store import database as db, records, tables, text_index
from duvet.words import fold_name

_KEPT_RUNS = 1000
_PUT = """INSERT INTO artifact(path, kind, subsystem, criticality, namespace, tags, digest, git_commit, git_timestamp,
skipped, first, count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"""
_TOUCH = """UPDATE artifact SET path = ?, kind = ?, subsystem = ?, criticality = ?, namespace = ?, tags = ?, digest = ?,
git_commit = ?, git_timestamp = ?, skipped = ? WHERE id = ?"""
_PIECE = "INSERT INTO piece(number, artifact, start, end, line_start, line_end) VALUES (?, ?, ?, ?, ?, ?)"
_SYMBOL = "INSERT INTO symbol VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_UNDECLARE = "DELETE FROM declared WHERE kind = ? AND language = ? AND number >= ? AND number < ?"
_VECTORS = "INSERT OR REPLACE INTO vectors(artifact, rows) VALUES (?, ?)"
_OLD_REPORTS = """DELETE FROM report WHERE name = ? AND id NOT IN
(SELECT id FROM report WHERE name = ? ORDER BY id DESC LIMIT ?)"""
_LARGE_SHARE = 4  # The index is optimized, or the file truncated, when a quarter of its space is unused.
_CHECK_PATIENCE = 10.0  # Seconds to wait for a writer before the full-text index is checked.
_COPY_PAUSE = 0.05  # Seconds between two attempts to overwrite a store.

StoreMoment = tuple[object, ...]  # A token that identifies one state of a store.


class Store(text_index.ChunkSearch):
    """The index of a project, as of the last completed run; every method can raise StoreError.

    Any thread may use it, but only one at a time.
    """

    @property
    def revision(self) -> str:
        """A token that changes with every run that changes the index."""
        return db.read_state(self.database).revision

    @property
    def is_current(self) -> bool:
        """False if later changes by other processes can't be seen, so that the store must be reopened."""
        return self.database.is_current

    def kept(self, name: str) -> bytes | None:
        """Return the value stored by `StoreWriter.keep`, or None."""
        return self.database.read_one(
            lambda row: records.unseal_bytes(*row), "SELECT data FROM kept WHERE name = ?", name
        )

    def close(self) -> None:
        self.database.close()

    def copy_to(self, path: str) -> None:
        with db.translate_errors(self.database.path):
            # Create the file first, so that sqlite follows no link.
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with closing(db.load_sqlite().connect(path)) as target:
                # Copy all pages in one step; otherwise, the copy starts again whenever another process writes.
                self.database.connection.backup(target)

    def check(self) -> None:
        """Read everything; raise StoreDamagedError if a part of the store is damaged."""
        ##= man/spec/knowledge.md#storage
        ##% duvet MUST check the whole index for damage before it makes or restores a backup.
        for (fault,) in self.database.rows("PRAGMA quick_check(1)"):
            if fault != "ok":
                raise db.make_damaged_error(self.database.path, str(fault))
        check = "INSERT INTO found(found) VALUES ('integrity-check')"
        self.database.retry_while_busy(lambda: self.database.run(check), _CHECK_PATIENCE)
        nodes = (self.nodes(label) for label in records.NodeLabel)
        deque(chain(self.artifacts(), self.segments(), *nodes, self.runs(limit=-1)), maxlen=0)
        for (name,) in self.database.rows("SELECT name FROM kept"):
            self.kept(name)
        for (name,) in self.database.rows("SELECT DISTINCT name FROM report"):
            self.reports(name, _KEPT_RUNS)

    def runs(self, profile: str | None = None, limit: int = 20) -> Sequence[records.IngestRun]:
        """Return the latest runs, newest first."""
        query = "SELECT data FROM run WHERE ? IS NULL OR profile = ? ORDER BY id DESC LIMIT ?"
        name = None if profile is None else records.encode_text(profile)
        return self.database.read(
            lambda row: records.unpack_record(records.decode_bytes(*row), records.IngestRun),
            query,
            name,
            name,
            limit,
        )

    def reports(self, name: str, limit: int = 1) -> Sequence[bytes]:
        """Return the latest reports with this name, newest first."""
        query = "SELECT data FROM report WHERE name = ? ORDER BY id DESC LIMIT ?"
        return self.database.read(lambda row: zlib.decompress(records.decode_bytes(*row)), query, name, max(limit, 0))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one consistent snapshot within the block; raise StoreBusyError if the store is replaced meanwhile.

        Blocks can be nested. While this store is being written, they have no effect.
        """
        if self.database.is_in_transaction:
            yield
            return
        self.database.run("BEGIN")
        try:
            yield
        except db.StoreError as error:
            if not self.is_current:
                raise db.make_busy_error(self.database.path) from error
            raise
        finally:
            self.database.undo()
        if not self.is_current:
            raise db.make_busy_error(self.database.path)

    @contextmanager
    def writing(self, patience: float = 0.0) -> Iterator[StoreWriter]:
        """Yield a writer; at the end of the block, all its changes are saved, or none.

        Wait `patience` seconds for another writer, then raise StoreBusyError. Until the end, only this object sees the
        changes.
        """
        if self.database.is_in_transaction:
            raise db.make_busy_error(self.database.path)
        self.database.retry_while_busy(lambda: self.database.run("BEGIN IMMEDIATE"), patience)
        try:
            writer = StoreWriter(self)
            self._flush = writer.flush
            yield writer
            writer.finish()
            self.database.run("COMMIT")
        except BaseException:
            ##= man/spec/knowledge.md#ingest-runs
            ##% An ingest run that fails, is cancelled or is killed MUST leave the index unchanged.
            self.database.undo()
            raise
        finally:
            self._flush = None
        with suppress(db.StoreError):
            (free,), (pages,) = self.database.rows("PRAGMA freelist_count") + self.database.rows("PRAGMA page_count")
            if free * _LARGE_SHARE > pages:
                self.database.retry_while_busy(self.database.shrink, 0)
            self.database.retry_while_busy(lambda: self.database.rows("PRAGMA wal_checkpoint(TRUNCATE)"), 0)


class StoreWriter:
    """A change in progress, which can't be completed after an error."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.database = store.database
        self._indexer = text_index.ChunkIndexer(self.database)
        self._texts = db.TextWriter(self.database)
        self._next = db.read_state(self.database).next
        self._forgotten = 0
        self._is_changed = False
        self._has_failed = False

    @contextmanager
    def _part(self, *, changes: bool = True) -> Iterator[db.Database]:
        if self._has_failed:
            raise db.StoreError("an earlier part of this change failed", path=self.database.path)
        self._has_failed = True
        yield self.database
        self._has_failed = False
        self._is_changed |= changes

    def put(self, file: records.IngestedFile) -> None:
        """Add or replace a file; its `chunk_count` is ignored, and the chunks are counted."""
        with self._part() as database:
            self._forget(file.artifact.path)
            first, pieces = self._next, file.pieces
            self._next += len(pieces)
            row = database.row(_PUT, *_encode_artifact(file.artifact), first, len(pieces))
            id = row[0] if row else 0
            self._add_traits(file.artifact, id)
            if pieces:
                rows = [
                    (first + n, id, one.start, one.end, one.line_start, one.line_end) for n, one in enumerate(pieces)
                ]
                database.many(_PIECE, rows)
                self._texts.put(id, file.text, [one.title for one in pieces])
                self._indexer.add(first, file)
            database.many(_SYMBOL, [(id, n, *_encode_symbol(one)) for n, one in enumerate(file.symbols)])
            database.many("INSERT OR IGNORE INTO declared VALUES (?, ?, ?)", _list_declared(first, file))
            if file.vectors:
                database.run(_VECTORS, id, records.seal_bytes(file.vectors))

    def touch(self, artifact: records.Artifact) -> None:
        """Update the record of a file and keep its chunks; raise StoreError if the file is unknown."""
        with self._part() as database:
            known = self._find(artifact.path)
            if known is None:
                raise db.StoreError(f"{artifact.path} is not indexed yet", path=database.path)
            id = known[0]
            self._forget_traits(id)
            database.run(_TOUCH, *_encode_artifact(artifact), id)
            self._add_traits(artifact, id)

    def remove(self, path: str) -> None:
        with self._part():
            self._forget(path)

    def replace_vectors(self, path: str, vectors: bytes) -> None:
        with self._part() as database:
            known = self._find(path)
            if known is not None:
                database.run("DELETE FROM vectors WHERE artifact = ?", known[0])
                if vectors:
                    database.run(_VECTORS, known[0], records.seal_bytes(vectors))

    def replace_graph(self, nodes: Iterable[records.GraphNode], edges: Iterable[records.GraphEdge]) -> None:
        """Replace the graph; drop edges to missing nodes, and all but the last of equal edges."""
        with self._part(changes=False) as database:
            self._is_changed |= tables.write_graph(database, nodes, edges)

    def put_run(self, run: records.IngestRun) -> None:
        with self._part(changes=False) as database:
            database.run(
                "INSERT INTO run(profile, data) VALUES (?, ?)",
                records.encode_text(run.profile),
                records.pack_record(run),
            )
            database.run("DELETE FROM run WHERE id <= (SELECT max(id) FROM run) - ?", _KEPT_RUNS)

    def put_report(self, name: str, run_id: str, data: bytes, keep: int) -> None:
        """Add a report, and remove the oldest ones with the same name."""
        with self._part(changes=False) as database:
            database.run("INSERT INTO report(name, run_id, data) VALUES (?, ?, ?)", name, run_id, zlib.compress(data))
            database.run(_OLD_REPORTS, name, name, max(keep, 0))

    def keep(self, name: str, data: bytes) -> None:
        """Store a value for `Store.kept`."""
        with self._part() as database:
            database.run("INSERT OR REPLACE INTO kept(name, data) VALUES (?, ?)", name, records.seal_bytes(data))

    def flush(self) -> None:
        with self._part(changes=False) as database:
            self._indexer.flush()
            database.run("UPDATE state SET next = ?, total = (SELECT count(*) FROM piece)", self._next)

    def finish(self) -> None:
        self.flush()
        with self._part(changes=False) as database:
            if self._forgotten * _LARGE_SHARE > db.read_state(database).total:
                database.run("INSERT INTO found(found) VALUES ('optimize')")
            if self._is_changed:
                database.run("UPDATE state SET revision = ?", secrets.token_hex(8))

    def _find(self, path: str) -> tuple[int, range] | None:
        return self.database.read_one(
            lambda row: (records.decode_count(row[0]), records.decode_piece_range(*row[1:])),
            "SELECT id, first, count FROM artifact WHERE path = ?",
            records.encode_text(path),
        )

    def _forget(self, path: str) -> None:
        database = self.database
        known = self._find(path)
        if known is None:
            return
        id, numbers = known
        if numbers:
            self._indexer.remove(numbers.start, self.store.ingested_file(id, numbers))
        self._forgotten += len(numbers)
        self._forget_traits(id)
        pairs = "SELECT DISTINCT kind, language FROM symbol WHERE artifact = ?"
        for kind, language in database.rows(pairs, id):
            database.run(_UNDECLARE, kind, language, numbers.start, numbers.stop)
        for table in ("text", "vectors", "symbol"):
            database.run(f"DELETE FROM {table} WHERE artifact = ?", id)
        database.run("DELETE FROM piece WHERE number >= ? AND number < ?", numbers.start, numbers.stop)
        database.run("DELETE FROM artifact WHERE id = ?", id)

    def _add_traits(self, artifact: records.Artifact, id: int) -> None:
        statement = "INSERT OR IGNORE INTO trait(what, value, artifact) VALUES (?, ?, ?)"
        self.database.many(statement, [(trait, value, id) for trait, value in _encode_traits(artifact)])

    def _forget_traits(self, id: int) -> None:
        statement = "DELETE FROM trait WHERE what = ? AND value = ? AND artifact = ?"
        for artifact in self.store.artifacts_by_id([id]).values():
            self.database.many(statement, [(trait, value, id) for trait, value in _encode_traits(artifact)])


def _encode_artifact(artifact: records.Artifact) -> tuple[object, ...]:
    return (
        records.encode_text(artifact.path),
        artifact.kind.value,
        records.encode_text(artifact.subsystem),
        records.encode_text(artifact.criticality),
        records.encode_text(artifact.namespace),
        records.pack_record(artifact.tags) if artifact.tags else None,
        records.encode_hex(artifact.digest),
        records.encode_hex(artifact.git_commit),
        artifact.git_timestamp,
        records.encode_text(artifact.skipped),
    )


def _encode_traits(artifact: records.Artifact) -> Iterator[tuple[int, str | bytes]]:
    if artifact.subsystem:
        yield db.Trait.SUBSYSTEM, records.encode_text(fold_name(artifact.subsystem))
    if artifact.namespace:
        yield db.Trait.NAMESPACE, records.encode_text(fold_name(artifact.namespace))
    for tag in artifact.tags:
        yield db.Trait.TAG, records.encode_text(fold_name(tag))


def _encode_symbol(symbol: records.Symbol) -> tuple[object, ...]:
    """Encode a symbol, without names that follow from the qualified name."""
    qualified, folded = symbol.qualified_name, fold_name(symbol.qualified_name)
    return (
        None if symbol.name == qualified.rpartition(".")[2] else records.encode_text(symbol.name),
        records.encode_text(qualified),
        None if folded == qualified else records.encode_text(folded),
        records.encode_word(symbol.kind.lower()),
        records.encode_word(symbol.language.lower()),
        symbol.line_start,
        symbol.line_end,
    )


def _list_declared(first: int, file: records.IngestedFile) -> Iterator[tuple[object, object, int]]:
    for symbol in file.symbols:
        kind, language = records.encode_word(symbol.kind.lower()), records.encode_word(symbol.language.lower())
        for ordinal, piece in enumerate(file.pieces):
            if symbol.line_start <= piece.line_end and symbol.line_end >= piece.line_start:
                yield kind, language, first + ordinal


def read_moment(database: db.Database) -> StoreMoment:
    return database.row("SELECT revision, (SELECT max(id) FROM run), (SELECT max(id) FROM report) FROM state") or ()


def overwrite_store(database: db.Database, path: str, patience: float, only: StoreMoment | None = None) -> None:
    """Replace the content of a store with the store at `path`, in one transaction.

    If another process has written since the moment `only`, raise StoreChangedError and change nothing.
    """
    until, is_checked = time.monotonic() + patience, only is None

    def wait(status: int, remaining: int, total: int) -> None:
        nonlocal is_checked
        if status not in (db.load_sqlite().SQLITE_BUSY, db.load_sqlite().SQLITE_LOCKED):
            # The first page is written; from here on, no other process can write.
            if not is_checked:
                with db.translate_errors(database.path), closing(db.load_sqlite().connect(database.path)) as connection:
                    moment = read_moment(db.Database(connection, database.path))
                if moment != only:
                    raise db.StoreChangedError(
                        "another process has changed the index", path=database.path, hint="try again"
                    )
            is_checked = True
        elif time.monotonic() > until:
            raise db.make_busy_error(database.path)

    database.run("PRAGMA busy_timeout=0")
    try:
        with db.translate_errors(database.path), closing(db.load_sqlite().connect(path)) as source:
            # Page by page, but in one transaction.
            source.backup(database.connection, pages=1, progress=wait, sleep=_COPY_PAUSE)
    finally:
        database.run(f"PRAGMA busy_timeout={db.BUSY_TIMEOUT}")
    with db.translate_errors(database.path):
        database.retry_while_busy(lambda: database.rows("PRAGMA wal_checkpoint(TRUNCATE)"), 0)


def move_store_aside(path: str, folder: str) -> list[str]:
    """Move the files of an unusable store into a new folder, and return their new paths."""
    moved: list[str] = []
    try:
        os.makedirs(folder)
        # Move the log first: it must never be next to a different file, and the file must never be without it.
        for end in (*db.STORE_FILE_ENDINGS[1:], ""):
            if os.path.lexists(path + end):
                moved.append(os.path.join(folder, os.path.basename(path) + end))
                os.replace(path + end, moved[-1])
    except OSError as error:
        raise db.StoreError(
            str(error.strerror or error), path=path, hint="check the permissions of its folder"
        ) from error
    return moved
