"""The store in a sqlite file: the full-text index of chunks (FTS5), one transaction per ingest run, and copying."""

from __future__ import annotations

import os
import secrets
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import accumulate, chain, islice
from math import log

from duvet.store import database as db, records, tables
from duvet.words import MAX_QUERY_WORDS, extract_index_words, extract_words, fold_name, join_name

_DECLARED_MARK, _FILE_MARK = "\ue005", "\ue006"
"""Prefixes of the names of symbols that a chunk declares, and of the file's name in its first chunk."""
_TERM_LIMIT = 2.2  # `k1` + 1: the score of a word is less than this times its rarity.
_BATCH = 4000  # Chunks to index together.
_CANDIDATES, _FILTERED_CANDIDATES = 1000, 10_000
"""About how many chunks to score in a search for any of the words, without and with filters, because scoring is slow."""
_MAX_CACHED_COUNTS = 10_000
_MAX_NAMESAKES = 2000
_BEST = "SELECT rowid, -bm25(found, 1.0, 2.0) FROM found WHERE found MATCH ?{} ORDER BY 2 DESC, rowid LIMIT ?"

_LINKING = ",".join(
    str(db.RELATION_NUMBERS[one])
    for one in (records.Relation.BELONGS_TO, records.Relation.DESCRIBES, records.Relation.VALIDATES)
)
_FILE_LABELS = ",".join(str(db.LABEL_NUMBERS[one]) for one in sorted(set(records.KIND_LABELS.values())))
# The subsystems, the nodes that belong to them, and the files that are linked to any of these.
_LINKED = f"""id IN (
WITH core(node) AS (SELECT id FROM node WHERE id IN ({{}})),
near(node) AS (SELECT node FROM core UNION
    SELECT source FROM edge JOIN core ON target = core.node WHERE relation IN ({_LINKING})),
file(node) AS (SELECT target FROM near JOIN edge ON source = near.node UNION
    SELECT source FROM near JOIN edge ON target = near.node)
SELECT artifact.id FROM file JOIN node ON node.id = file.node AND node.label IN ({_FILE_LABELS})
JOIN artifact ON artifact.path = node.key)"""
_TRAIT = "artifact.id IN (SELECT artifact FROM trait WHERE what = {} AND value IN ({}))"
_FILTERED_SYMBOLS = """SELECT DISTINCT number FROM symbol
JOIN artifact ON artifact.id = symbol.artifact
JOIN piece ON number >= first AND number < first + count
AND piece.line_start <= symbol.line_end AND piece.line_end >= symbol.line_start
WHERE count > 0{} ORDER BY number"""
_DECLARED = """SELECT number, name, qualified_name FROM piece JOIN symbol ON symbol.artifact = piece.artifact
AND symbol.line_start BETWEEN piece.line_start AND piece.line_end WHERE number IN ({})"""
_PATHS = "SELECT first, path FROM artifact JOIN piece ON piece.artifact = artifact.id WHERE number IN ({})"

SqlCondition = tuple[str, Iterable[object]]
IndexRow = tuple[str, str, str]  # The words of a chunk, those of its title, and its names.


class ChunkIndexer:
    """Adds and removes chunks in batches, because FTS5 is slow at small changes."""

    def __init__(self, database: db.Database) -> None:
        self.database = database
        self._removed: dict[int, IndexRow] = {}
        self._added: dict[int, IndexRow] = {}

    def add(self, first: int, file: records.IngestedFile) -> None:
        self._added.update(_make_index_rows(first, file))
        self.flush(_BATCH)

    def remove(self, first: int, file: records.IngestedFile) -> None:
        """FTS5 needs the words with which the chunks were added."""
        for number, words in _make_index_rows(first, file):
            if self._added.pop(number, None) is None:
                self._removed[number] = words
        self.flush(_BATCH)

    def flush(self, least: int = 1) -> None:
        if len(self._removed) + len(self._added) < least:
            return
        # In ascending order: before FTS5 accepts a smaller number, it writes everything that it has collected.
        removed, added = (
            [(number, *row) for number, row in sorted(some.items())] for some in (self._removed, self._added)
        )
        self._removed, self._added = {}, {}
        delete = "INSERT INTO found(found, rowid, words, title, names) VALUES ('delete', ?, ?, ?, ?)"
        self.database.run_many(delete, removed)
        self.database.run_many("INSERT INTO found(rowid, words, title, names) VALUES (?, ?, ?, ?)", added)


def _make_index_rows(first: int, file: records.IngestedFile) -> Iterator[tuple[int, IndexRow]]:
    path = file.artifact.path
    for ordinal, piece in enumerate(file.pieces):
        title = piece.title if ordinal else f"{path} {piece.title}"
        lines = range(piece.line_start, piece.line_end + 1)
        names = [_DECLARED_MARK + join_name(one.name) for one in file.symbols if one.line_start in lines]
        if ordinal == 0:
            name = path.rpartition("/")[2]
            names += [_FILE_MARK + join_name(one) for one in (name, _strip_ending(name))]
        words = extract_index_words(file.text[piece.start : piece.end])
        titles = dict.fromkeys(extract_index_words(title))
        yield first + ordinal, (" ".join(words), " ".join(titles), " ".join(dict.fromkeys(names)))


def _strip_ending(name: str) -> str:
    # A leading dot does not begin an extension.
    return name[: name.find(".", 1)] if "." in name[1:] else name


class ChunkSearch(tables.StoreTables):
    _flush: Callable[[], None] | None = None  # Indexes the chunks of the change in progress, if any.
    _last_allowed: tuple[str, records.ChunkFilters, Sequence[int] | None] | None = None
    _counts: tuple[str, dict[str, int]] = ("", {})  # The number of chunks with each word, in one revision.

    def _settle(self) -> None:
        if self._flush is not None:
            self._flush()

    def chunk_total(self) -> int:
        self._settle()
        return db.read_state(self.database).total

    def find_by_words(
        self, terms: Sequence[str], filters: records.ChunkFilters, limit: int, *, every: bool
    ) -> records.ScoredChunks:
        """Find the best chunks with all terms or, without `every`, with any of them; scores are BM25, scaled to at most 1."""
        self._settle()
        words = list(dict.fromkeys(word for term in terms for word in extract_words(term)))[:MAX_QUERY_WORDS]
        counts = self._count_chunks(words)
        if limit < 1 or not words or (every and not all(counts.values())):
            return []
        total, allowed = db.read_state(self.database).total, self.allowed(filters)
        # Sqlite scores only the chunks that pass a condition, but reading a very long list takes more than that saves.
        is_listed = allowed is not None and len(allowed) <= _FILTERED_CANDIDATES
        # As one value, because sqlite keeps the text of recent statements, and with it up to 1 MB for each filter.
        listed = [f"[{','.join(map(str, allowed or ()))}]"] if is_listed else []
        among = None if allowed is None or is_listed else frozenset(allowed)
        rarities = (log(1 + (max(total - count, 0) + 0.5) / (count + 0.5)) for count in counts.values())
        most = _TERM_LIMIT * sum(rarities)
        found: records.ScoredChunks = []
        expressions: Iterable[tuple[str, int]] = [(_join_words(words, " AND " if every else " OR "), 1)]
        if not (every or is_listed):
            expressions = _list_any_expressions(counts, _CANDIDATES if among is None else _FILTERED_CANDIDATES)
        for matching, times in expressions:
            rows = self.database.read_each(
                lambda row: (records.decode_count(row[0]), records.decode_time(row[1]) or 0.0),
                _BEST.format(" AND +rowid IN (SELECT value FROM json_each(?))" if listed else ""),
                matching,
                *listed,
                limit if among is None else -1,
            )
            shares = ((number, min(score / times / most, 1.0)) for number, score in rows)
            found = list(islice((one for one in shares if among is None or one[0] in among), limit))
            if len(found) == limit:
                break
        return found

    def _count_chunks(self, words: Iterable[str]) -> dict[str, int]:
        revision = db.read_state(self.database).revision
        if self._flush is not None or self._counts[0] != revision or len(self._counts[1]) > _MAX_CACHED_COUNTS:
            self._counts = revision, {}
        cached = self._counts[1]
        for word in words:
            if word not in cached:
                query = "SELECT count(*) FROM found WHERE found MATCH ?"
                ((cached[word],),) = self.database.rows(query, _join_words([word]))
        return {word: cached[word] for word in words}

    def find_declaring(self, name: str, filters: records.ChunkFilters) -> Sequence[int]:
        self._settle()
        numbers = _select(self._find_marked_chunks(_DECLARED_MARK, name), self.allowed(filters))
        names = self.database.read_many(
            lambda row: (records.decode_count(row[0]), tables.decode_symbol_name(*row[1:])), _DECLARED, numbers
        )
        exact = {number for number, declared in names if declared == name}
        return [number for number in numbers if number in exact] if exact else numbers

    def find_named(self, path: str, filters: records.ChunkFilters) -> Sequence[int]:
        """Return the first chunk of the file at `path`, or else of each file that `path` could mean."""
        self._settle()
        allowed = self.allowed(filters)
        if exact := self.chunk_numbers(path)[:1]:
            return _select(exact, allowed)
        query, found = fold_name(path), set[int]()
        numbers = self._find_marked_chunks(_FILE_MARK, path.rpartition("/")[2])
        for number, known in self.database.read_many(
            lambda row: (records.decode_count(row[0]), fold_name(records.decode_text(row[1]))), _PATHS, numbers
        ):
            folder, _, name = known.rpartition("/")
            spellings = (f"/{known}", f"/{folder}/{_strip_ending(name)}")
            if any(one.endswith(f"/{query}") for one in spellings) or query.endswith(f"/{known}"):
                found.add(number)
        return _select([number for number in numbers if number in found], allowed)

    def _find_marked_chunks(self, mark: str, name: str) -> Sequence[int]:
        word = join_name(name)
        query = "SELECT rowid FROM found WHERE found MATCH ? ORDER BY rowid LIMIT ?"
        return self.database.read(_decode_number, query, f'"{mark}{word}"', _MAX_NAMESAKES) if word else []

    def allowed(self, filters: records.ChunkFilters) -> Sequence[int] | None:
        """Return the numbers of the matching chunks in ascending order, or None without filters."""
        if self._flush is not None:
            return self._find_allowed(filters)
        # Both halves of a search ask for the same chunks.
        revision = db.read_state(self.database).revision
        if self._last_allowed is None or self._last_allowed[:2] != (revision, filters):
            self._last_allowed = (revision, filters, self._find_allowed(filters))
        return self._last_allowed[2]

    def _find_allowed(self, filters: records.ChunkFilters) -> Sequence[int] | None:
        if filters == records.ChunkFilters():
            return None
        in_files, of_symbols = [*self._make_file_conditions(filters)], [*_make_symbol_conditions(filters)]
        if filters.symbols:
            where, values = _join_conditions([*in_files, *of_symbols])
            return self.database.read(_decode_number, _FILTERED_SYMBOLS.format(where), *values)
        found: list[Sequence[int]] = []
        if of_symbols:
            where, values = _join_conditions(_make_symbol_conditions(filters, "declared"))
            # Sqlite joins the numbers, which is faster.
            query = f"SELECT group_concat(number) FROM declared WHERE true{where}"
            found += self.database.read(
                lambda row: sorted({*map(int, row[0].split(","))}) if row[0] else [], query, *values
            )
        if in_files:
            where, values = _join_conditions(in_files)
            query = f"SELECT first, count FROM artifact WHERE count > 0{where} ORDER BY first"
            ranges = self.database.read(lambda row: records.decode_piece_range(*row), query, *values)
            found.append(list(chain.from_iterable(ranges)))
        return found[0] if len(found) == 1 else sorted({*found[0]}.intersection(found[1]))

    def _make_file_conditions(self, filters: records.ChunkFilters) -> Iterator[SqlCondition]:
        if filters.subsystems:
            names = _fold(filters.subsystems)
            subsystems = self.database.read(
                lambda row: (records.decode_count(row[0]), [*map(records.decode_text, row[1:])]),
                "SELECT id, key, name FROM node WHERE label = ?",
                db.LABEL_NUMBERS[records.NodeLabel.SUBSYSTEM],
            )
            nodes = [id for id, spellings in subsystems if any(one in names for one in _fold(spellings))]
            own = _TRAIT.format(db.Trait.SUBSYSTEM, db.make_placeholders(names))
            yield f"({own} OR artifact.{_LINKED.format(db.make_placeholders(nodes))})", [*names, *nodes]
        if filters.kinds:
            yield _is_in("artifact.kind", _fold(filters.kinds))
        for trait, wanted in ((db.Trait.NAMESPACE, filters.namespaces), (db.Trait.TAG, filters.tags)):
            if wanted:
                values = _fold(wanted)
                yield _TRAIT.format(trait, db.make_placeholders(values)), values
        if filters.since is not None:
            yield "git_timestamp >= ?", (filters.since,)


def _join_words(words: Iterable[str], between: str = " OR ") -> str:
    # FTS5 reads a quoted string as text, and words contain no quotes.
    return between.join(f'"{word}"' for word in words)


def _list_any_expressions(counts: Mapping[str, int], candidates: int) -> Iterator[tuple[str, int]]:
    words = sorted((word for word, count in counts.items() if count), key=counts.__getitem__)
    sums = accumulate(counts[word] for word in words)
    few = sum(1 for count in sums if count <= candidates)
    alone, paired, rest = words[:few], words[few : few + 1], words[few + 1 :]
    if paired and (alone or rest):
        # Chunks with one of the rare words, or with the next word and a more common one.
        times = 2 if alone else 1
        yield f"({_join_words(alone + times * paired)}) AND ({_join_words(alone + times * rest)})", times
    if rest:
        yield f"({_join_words(alone + paired)}) AND ({_join_words(alone + paired + 2 * rest)})", 2
    if words:
        yield _join_words(words), 1


def _join_conditions(conditions: Iterable[SqlCondition]) -> tuple[str, list[object]]:
    texts, values = [], list[object]()
    for condition, some in conditions:
        texts.append(f" AND {condition}")
        values += some
    return "".join(texts), values


def _make_symbol_conditions(filters: records.ChunkFilters, table: str = "symbol") -> Iterator[SqlCondition]:
    if filters.symbols:
        yield _is_in("coalesce(symbol.folded, symbol.qualified_name)", _fold(filters.symbols))
    for column, names in (("kind", filters.symbol_kinds), ("language", filters.symbol_languages)):
        if names:
            values = [records.encode_word(name) for name in dict.fromkeys(map(fold_name, names))]
            yield _is_in(f"{table}.{column}", values)


def _is_in(column: str, values: Sequence[object]) -> SqlCondition:
    return f"{column} IN ({db.make_placeholders(values)})", values


def _fold(names: Iterable[str]) -> list[object]:
    return [*dict.fromkeys(records.encode_text(fold_name(name)) for name in names)]


def _decode_number(row: db.DatabaseRow) -> int:
    return records.decode_count(*row)


def _select(numbers: Iterable[int], allowed: Sequence[int] | None) -> list[int]:
    among = None if allowed is None else frozenset(allowed)
    return [number for number in numbers if among is None or number in among]


_KEPT_RUNS = 1000
_VALUES = ",".join("?" * (tables.ARTIFACT_FIELDS.count(",") + 1))
_PUT = f"INSERT INTO artifact({tables.ARTIFACT_FIELDS}, first, count) VALUES ({_VALUES}, ?, ?) RETURNING id"
_TOUCH = f"UPDATE artifact SET ({tables.ARTIFACT_FIELDS}) = ({_VALUES}) WHERE id = ?"
_VECTORS = "INSERT OR REPLACE INTO vectors(artifact, rows) VALUES (?, ?)"
_LARGE_SHARE = 4  # The index is optimized, or the file truncated, when a quarter of its space is unused.

StoreMoment = tuple[object, ...]  # A token that identifies one state of a store.


class Store(ChunkSearch):
    """Any thread may use a store, but only one at a time."""

    @property
    def revision(self) -> str:
        """A token that changes with every run that changes the index."""
        return db.read_state(self.database).revision

    @property
    def is_current(self) -> bool:
        """False if the store must be reopened to see the changes of another process."""
        return self.database.is_current

    def kept(self, name: str) -> bytes | None:
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
        ##= man/spec/knowledge.md#storage
        ##% duvet MUST check the whole index for damage before it makes or restores a backup.
        for (fault,) in self.database.rows("PRAGMA quick_check(1)"):
            if fault != "ok":
                raise db.make_damaged_error(self.database.path, str(fault))
        check = "INSERT INTO found(found) VALUES ('integrity-check')"
        self.database.retry_while_busy(lambda: self.database.run(check), seconds=10.0)
        nodes = (self.nodes(label) for label in records.NodeLabel)
        deque(chain(self.artifacts(), self.segments(), *nodes, self.runs(limit=-1)), maxlen=0)
        for (name,) in self.database.rows("SELECT name FROM kept"):
            self.kept(name)
        for (name,) in self.database.rows("SELECT DISTINCT name FROM report"):
            self.reports(name, _KEPT_RUNS)

    def runs(self, profile: str | None = None, limit: int = 20) -> Sequence[records.IngestRun]:
        query = "SELECT data FROM run WHERE ? IS NULL OR profile = ? ORDER BY id DESC LIMIT ?"
        name = None if profile is None else records.encode_text(profile)
        return self.database.read(
            lambda row: records.unpack_record(records.decode_bytes(*row), records.IngestRun), query, name, name, limit
        )

    def reports(self, name: str, limit: int = 1) -> Sequence[bytes]:
        query = "SELECT data FROM report WHERE name = ? ORDER BY id DESC LIMIT ?"
        return self.database.read(lambda row: zlib.decompress(records.decode_bytes(*row)), query, name, max(limit, 0))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Within the block, read one consistent snapshot, or raise StoreBusyError if that is impossible.

        A block inside another block, or during a change by this store, has no effect.
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
            self.database.rollback()
        if not self.is_current:
            raise db.make_busy_error(self.database.path)

    @contextmanager
    def writing(self, patience: float = 0.0) -> Iterator[StoreWriter]:
        """Wait up to `patience` seconds for another writer; then save all changes of the block, or none if it raises."""
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
            self.database.rollback()
            raise
        finally:
            self._flush, self._counts = None, ("", {})
        with suppress(db.StoreError):
            (free,), (pages,) = self.database.rows("PRAGMA freelist_count") + self.database.rows("PRAGMA page_count")
            if free * _LARGE_SHARE > pages:
                self.database.retry_while_busy(self.database.shrink, 0)
            self.database.retry_while_busy(lambda: self.database.rows("PRAGMA wal_checkpoint(TRUNCATE)"), 0)


class StoreWriter:
    def __init__(self, store: Store) -> None:
        self.store = store
        self.database = store.database
        self._indexer = ChunkIndexer(self.database)
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
        with self._part() as database:
            self._forget(file.artifact.path)
            first, pieces = self._next, file.pieces
            self._next += len(pieces)
            row = database.row(_PUT, *_encode_artifact(file.artifact), first, len(pieces))
            id = row[0] if row else 0
            self._add_traits(file.artifact, id)
            if pieces:
                rows = [(one.start, one.end, one.line_start, one.line_end) for one in pieces]
                insert = "INSERT INTO piece VALUES (?, ?, ?, ?, ?, ?)"
                database.run_many(insert, [(first + n, id, *row) for n, row in enumerate(rows)])
                self._texts.put(id, file.text, [one.title for one in pieces])
                self._indexer.add(first, file)
            symbols = [(id, n, *_encode_symbol(one)) for n, one in enumerate(file.symbols)]
            database.run_many("INSERT INTO symbol VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", symbols)
            database.run_many("INSERT OR IGNORE INTO declared VALUES (?, ?, ?)", _list_declared(first, file))
            if file.vectors:
                database.run(_VECTORS, id, records.seal_bytes(file.vectors))

    def touch(self, artifact: records.Artifact) -> None:
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
        """Skip edges of missing nodes; of edges with the same ends and relation, keep the last."""
        with self._part(changes=False) as database:
            self._is_changed |= tables.write_graph(database, nodes, edges)

    def put_run(self, run: records.IngestRun) -> None:
        with self._part(changes=False) as database:
            values = records.encode_text(run.profile), records.pack_record(run)
            database.run("INSERT INTO run(profile, data) VALUES (?, ?)", *values)
            database.run("DELETE FROM run WHERE id <= (SELECT max(id) FROM run) - ?", _KEPT_RUNS)

    def put_report(self, name: str, run_id: str, data: bytes, keep: int) -> None:
        with self._part(changes=False) as database:
            database.run("INSERT INTO report(name, run_id, data) VALUES (?, ?, ?)", name, run_id, zlib.compress(data))
            newest = "SELECT id FROM report WHERE name = ? ORDER BY id DESC LIMIT ?"
            database.run(f"DELETE FROM report WHERE name = ? AND id NOT IN ({newest})", name, name, max(keep, 0))

    def keep(self, name: str, data: bytes) -> None:
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
        undeclare = "DELETE FROM declared WHERE kind = ? AND language = ? AND number >= ? AND number < ?"
        database.run_many(undeclare, [(*pair, numbers.start, numbers.stop) for pair in database.rows(pairs, id)])
        for table in ("text", "vectors", "symbol"):
            database.run(f"DELETE FROM {table} WHERE artifact = ?", id)
        database.run("DELETE FROM piece WHERE number >= ? AND number < ?", numbers.start, numbers.stop)
        database.run("DELETE FROM artifact WHERE id = ?", id)

    def _add_traits(self, artifact: records.Artifact, id: int) -> None:
        statement = "INSERT OR IGNORE INTO trait(what, value, artifact) VALUES (?, ?, ?)"
        self.database.run_many(statement, _encode_traits(artifact, id))

    def _forget_traits(self, id: int) -> None:
        statement = "DELETE FROM trait WHERE what = ? AND value = ? AND artifact = ?"
        for artifact in self.store.artifacts_by_id([id]).values():
            self.database.run_many(statement, _encode_traits(artifact, id))


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


def _encode_traits(artifact: records.Artifact, id: int) -> list[tuple[object, ...]]:
    own = ((db.Trait.SUBSYSTEM, artifact.subsystem), (db.Trait.NAMESPACE, artifact.namespace))
    traits = (*(one for one in own if one[1]), *((db.Trait.TAG, tag) for tag in artifact.tags))
    return [(trait, records.encode_text(fold_name(value)), id) for trait, value in traits]


def _encode_symbol(symbol: records.Symbol) -> tuple[object, ...]:
    # Names that follow from the qualified name are not stored.
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
    """Raise StoreChangedError, and change nothing, if the store is no longer in the state `only`."""
    until, is_checked = time.monotonic() + patience, only is None

    def wait(status: int, remaining: int, total: int) -> None:
        nonlocal is_checked
        if status not in (db.load_sqlite().SQLITE_BUSY, db.load_sqlite().SQLITE_LOCKED):
            # The first page is written; from here on, no other process can write.
            if not is_checked:
                with db.translate_errors(database.path), closing(db.load_sqlite().connect(database.path)) as connection:
                    moment = read_moment(db.Database(connection, database.path))
                if moment != only:
                    message = "another process has changed the index"
                    raise db.StoreChangedError(message, path=database.path, hint="try again")
            is_checked = True
        elif time.monotonic() > until:
            raise db.make_busy_error(database.path)

    database.run("PRAGMA busy_timeout=0")
    try:
        with db.translate_errors(database.path), closing(db.load_sqlite().connect(path)) as source:
            # Page by page, but in one transaction.
            source.backup(database.connection, pages=1, progress=wait, sleep=0.05)
    finally:
        database.run(f"PRAGMA busy_timeout={db.BUSY_TIMEOUT}")
    with db.translate_errors(database.path):
        database.retry_while_busy(lambda: database.rows("PRAGMA wal_checkpoint(TRUNCATE)"), 0)


def move_store_aside(path: str, folder: str) -> list[str]:
    moved: list[str] = []
    try:
        os.makedirs(folder)
        # Move the log first: it must never be next to a different file, and the file must never be without it.
        for end in (*db.STORE_FILE_ENDINGS[1:], ""):
            if os.path.lexists(path + end):
                moved.append(os.path.join(folder, os.path.basename(path) + end))
                os.replace(path + end, moved[-1])
    except OSError as error:
        hint = "check the permissions of its folder"
        raise db.StoreError(str(error.strerror or error), path=path, hint=hint) from error
    return moved
