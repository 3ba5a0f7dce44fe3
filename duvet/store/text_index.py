"""The full-text index of chunks (FTS5): indexed words, filters, ranking, and lookup by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice
from math import log

from duvet.store import database as db, records, tables
from duvet.words import MAX_QUERY_WORDS, extract_index_words, extract_words, fold_name, join_name

_DECLARED_MARK, _FILE_MARK = "\ue005", "\ue006"
"""Prefixes of indexed names: of symbols that the chunk declares, and of the file of a first chunk; unused in words."""
_TERM_LIMIT = 2.2  # `k1` + 1: the score of a word is less than this times its rarity.
_BATCH = 4000  # Chunks to index together.
_CANDIDATES, _FILTERED_CANDIDATES = 1000, 10_000
"""About how many chunks to score for some of the words, because scoring a chunk takes much longer than finding it."""
_MAX_CACHED_COUNTS = 10_000
_MAX_NAMESAKES = 2000
_MATCH = "SELECT rowid FROM found WHERE found MATCH ?"
_COUNT = "SELECT count(*) FROM found WHERE found MATCH ?"
_BEST = "SELECT rowid, -bm25(found, 1.0, 2.0) FROM found WHERE found MATCH ? ORDER BY 2 DESC, rowid LIMIT ?"

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
_FILTERED_FILES = "SELECT first, count FROM artifact WHERE count > 0{} ORDER BY first"
_FILTERED_SYMBOLS = """SELECT DISTINCT number FROM symbol
JOIN artifact ON artifact.id = symbol.artifact
JOIN piece ON number >= first AND number < first + count
AND piece.line_start <= symbol.line_end AND piece.line_end >= symbol.line_start
WHERE count > 0{} ORDER BY number"""
_DECLARING = """SELECT group_concat(number) FROM declared WHERE {}"""
_DECLARED = """SELECT number, name, qualified_name FROM piece JOIN symbol ON symbol.artifact = piece.artifact
AND symbol.line_start BETWEEN piece.line_start AND piece.line_end WHERE number IN ({})"""
_PATHS = "SELECT first, path FROM artifact JOIN piece ON piece.artifact = artifact.id WHERE number IN ({})"

SqlCondition = tuple[str, Sequence[object]]
IndexRow = tuple[str, str, str]  # The words of a chunk, those of its title, and its names.


class ChunkIndexer:
    """Adds and removes chunks in batches, because FTS5 is slow at small changes."""

    def __init__(self, database: db.Database) -> None:
        self.database = database
        self._removed: dict[int, IndexRow] = {}
        self._added: dict[int, IndexRow] = {}

    def add(self, first: int, file: records.IngestedFile) -> None:
        self._added.update(_make_index_rows(first, file))
        self._flush_batch()

    def remove(self, first: int, file: records.IngestedFile) -> None:
        """Remove chunks; FTS5 needs the words with which they were added."""
        for number, words in _make_index_rows(first, file):
            if self._added.pop(number, None) is None:
                self._removed[number] = words
        self._flush_batch()

    def _flush_batch(self) -> None:
        if len(self._removed) + len(self._added) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        # In ascending order: before FTS5 accepts a smaller number, it writes everything that it has collected.
        removed, added = (
            [(number, *row) for number, row in sorted(some.items())] for some in (self._removed, self._added)
        )
        self._removed, self._added = {}, {}
        self.database.many(
            "INSERT INTO found(found, rowid, words, title, names) VALUES ('delete', ?, ?, ?, ?)", removed
        )
        self.database.many("INSERT INTO found(rowid, words, title, names) VALUES (?, ?, ?, ?)", added)


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
    """Return a file name without extensions; a leading dot does not begin one."""
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
        """Rank the chunks with every or any of the terms by BM25; a term is a single word."""
        self._settle()
        words = list(dict.fromkeys(word for term in terms for word in extract_words(term)))[:MAX_QUERY_WORDS]
        counts = self._count_chunks(words)
        if limit < 1 or not words or (every and not all(counts.values())):
            return []
        total, allowed = db.read_state(self.database).total, self.allowed(filters)
        among = None if allowed is None else frozenset(allowed)
        rarities = (log(1 + (max(total - count, 0) + 0.5) / (count + 0.5)) for count in counts.values())
        most = _TERM_LIMIT * sum(rarities)
        found: records.ScoredChunks = []
        candidates = _CANDIDATES if among is None else _FILTERED_CANDIDATES
        for matching, times in (
            [(_join_words(words, " AND "), 1)] if every else _list_any_expressions(counts, candidates)
        ):
            rows = self.database.read_each(
                lambda row: (records.decode_count(row[0]), records.decode_time(row[1]) or 0.0),
                _BEST,
                matching,
                limit if among is None else -1,
            )
            shares = ((number, min(score / times / most, 1.0)) for number, score in rows)
            found = list(islice((one for one in shares if among is None or one[0] in among), limit))
            if len(found) == limit:
                break
        return found

    def _count_chunks(self, words: Iterable[str]) -> dict[str, int]:
        """Return the number of chunks with each word."""
        revision = db.read_state(self.database).revision
        if self._flush is not None or self._counts[0] != revision or len(self._counts[1]) > _MAX_CACHED_COUNTS:
            self._counts = revision, {}
        cached = self._counts[1]
        for word in words:
            if word not in cached:
                ((cached[word],),) = self.database.rows(_COUNT, _join_words([word]))
        return {word: cached[word] for word in words}

    def find_declaring(self, name: str, filters: records.ChunkFilters) -> Sequence[int]:
        """Return the chunks that declare a symbol, in camel case or snake case."""
        self._settle()
        numbers = _select(self._find_marked_chunks(_DECLARED_MARK, name), self.allowed(filters))
        names = self.database.read_many(
            lambda row: (records.decode_count(row[0]), tables.decode_symbol_name(*row[1:])), _DECLARED, numbers
        )
        exact = {number for number, declared in names if declared == name}
        return [number for number in numbers if number in exact] if exact else numbers

    def find_named(self, path: str, filters: records.ChunkFilters) -> Sequence[int]:
        """Return the first chunk of each file whose path ends with `path`; the extension is optional."""
        self._settle()
        allowed = self.allowed(filters)
        if exact := self.chunk_numbers(path)[:1]:
            return _select(exact, allowed)
        query = fold_name(path)
        numbers = self._find_marked_chunks(_FILE_MARK, path.rpartition("/")[2])
        paths = self.database.read_many(
            lambda row: (records.decode_count(row[0]), records.decode_text(row[1])), _PATHS, numbers
        )
        found = {number for number, known in paths if _is_path_called(fold_name(known), query)}
        return _select([number for number in numbers if number in found], allowed)

    def _find_marked_chunks(self, mark: str, name: str) -> Sequence[int]:
        word = join_name(name)
        query = f"{_MATCH} ORDER BY rowid LIMIT ?"
        return self.database.read(_decode_number, query, f'"{mark}{word}"', _MAX_NAMESAKES) if word else []

    def allowed(self, filters: records.ChunkFilters) -> Sequence[int] | None:
        """Return the chunks that pass the filters, in ascending order; None if all do."""
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
        found = [self._find_declaring_chunks(filters)] if of_symbols else []
        if in_files:
            where, values = _join_conditions(in_files)
            ranges = self.database.read(
                lambda row: records.decode_piece_range(*row), _FILTERED_FILES.format(where), *values
            )
            found.append(list(chain.from_iterable(ranges)))
        return found[0] if len(found) == 1 else sorted({*found[0]}.intersection(found[1]))

    def _find_declaring_chunks(self, filters: records.ChunkFilters) -> Sequence[int]:
        """Return the chunks with a symbol of these kinds and languages; sqlite joins the numbers, which is faster."""
        conditions = [*_make_symbol_conditions(filters, "declared")]
        query = _DECLARING.format(" AND ".join(condition for condition, _ in conditions))
        values = chain.from_iterable(values for _, values in conditions)
        numbers = self.database.read_one(
            lambda row: sorted({*map(int, row[0].split(","))}) if row[0] else [], query, *values
        )
        return numbers or []

    def _make_file_conditions(self, filters: records.ChunkFilters) -> Iterator[SqlCondition]:
        if filters.subsystems:
            yield self._make_subsystem_condition(_fold(filters.subsystems))
        if filters.kinds:
            yield _is_in("artifact.kind", _fold(filters.kinds))
        for trait, names in ((db.Trait.NAMESPACE, filters.namespaces), (db.Trait.TAG, filters.tags)):
            if names:
                values = _fold(names)
                yield _TRAIT.format(trait, db.make_placeholders(values)), values
        if filters.since is not None:
            yield "git_timestamp >= ?", (filters.since,)

    def _make_subsystem_condition(self, names: Sequence[object]) -> SqlCondition:
        subsystems = self.database.read(
            lambda row: (records.decode_count(row[0]), [*map(records.decode_text, row[1:])]),
            "SELECT id, key, name FROM node WHERE label = ?",
            db.LABEL_NUMBERS[records.NodeLabel.SUBSYSTEM],
        )
        nodes = [
            id for id, spellings in subsystems if any(records.encode_text(fold_name(one)) in names for one in spellings)
        ]
        own = _TRAIT.format(db.Trait.SUBSYSTEM, db.make_placeholders(names))
        return f"({own} OR artifact.{_LINKED.format(db.make_placeholders(nodes))})", [*names, *nodes]


def _join_words(words: Iterable[str], between: str = " OR ") -> str:
    # FTS5 reads a quoted string as text, and words contain no quotes.
    return between.join(f'"{word}"' for word in words)


def _list_any_expressions(counts: Mapping[str, int], candidates: int) -> Iterator[tuple[str, int]]:
    """Yield expressions for chunks with any of the words, each with the number of times that it counts every word.

    The first ones find only the chunks with the rarest words; the more common words only add to the scores of these.
    """
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


def _join_conditions(conditions: Sequence[SqlCondition]) -> tuple[str, list[object]]:
    where = "".join(f" AND {condition}" for condition, _ in conditions)
    return where, list(chain.from_iterable(values for _, values in conditions))


def _make_symbol_conditions(filters: records.ChunkFilters, table: str = "symbol") -> Iterator[SqlCondition]:
    if filters.symbols:
        yield _is_in("coalesce(symbol.folded, symbol.qualified_name)", _fold(filters.symbols))
    for column, names in (("kind", filters.symbol_kinds), ("language", filters.symbol_languages)):
        if names:
            yield _is_in(
                f"{table}.{column}", [records.encode_word(name) for name in dict.fromkeys(map(fold_name, names))]
            )


def _is_in(column: str, values: Sequence[object]) -> SqlCondition:
    return f"{column} IN ({db.make_placeholders(values)})", values


def _fold(names: Iterable[str]) -> Sequence[object]:
    return [records.encode_text(name) for name in dict.fromkeys(map(fold_name, names))]


def _decode_number(row: db.DatabaseRow) -> int:
    return records.decode_count(*row)


def _is_path_called(path: str, query: str) -> bool:
    """Return whether one path ends with the other, ignoring the extension."""
    folder, _, name = path.rpartition("/")
    stripped = f"{folder}/{_strip_ending(name)}"
    return any(f"/{one}".endswith(f"/{query}") for one in (path, stripped)) or query.endswith(f"/{path}")


def _select(numbers: Iterable[int], allowed: Sequence[int] | None) -> list[int]:
    among = None if allowed is None else frozenset(allowed)
    return [number for number in numbers if among is None or number in among]
