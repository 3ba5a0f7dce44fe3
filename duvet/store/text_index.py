"""The full-text index of chunks (FTS5): indexed words, filters, ranking, and lookup by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import chain
from math import log

from duvet.store import database as db, records, tables
from duvet.words import MAX_QUERY_WORDS, extract_index_words, extract_words, fold_name, join_name

# Measured with 20,000 chunks: FTS5's bm25() is 0 for every row unless `detail=full`, which makes the index five times as
# large and searches three to nine times as slow. So marked words store the term frequencies, and `_Ranking` adds the scores.
_FREQUENCY_MARKS, _TITLE_MARK, _DECLARED_MARK, _FILE_MARK = ("\ue001", "\ue002", "\ue003"), "\ue004", "\ue005", "\ue006"
"""Prefixes of indexed words: for a frequent word (three degrees), a word of the title, a name that the chunk declares, and
the name of the file of a first chunk. No word of a text begins with one."""
_FREQUENCIES = (1.6, 3.2, 6.4)  # The word frequency that each degree stands for, in a chunk of average length.
_WEIGHTS = (("", 1.0), *zip(_FREQUENCY_MARKS, (0.42, 0.30, 0.17), strict=True), (_TITLE_MARK, 0.45))
"""BM25 (`k1` = 1.2) for one occurrence of a word, and what two, four and eight occurrences and one in the
title add. An occurrence in the title counts as two."""
_SHORT = 2  # Words of this length are too common for their frequency to matter.
_USUAL_LENGTH = 1000
_LENGTH_WEIGHT = 0.75  # `b` of BM25.
_BATCH = 4000  # Chunks to index together.
_COMMON_SHARE = 10  # A word in more than a tenth of the chunks finds nothing by itself if other words find something.
_FEW_CHUNKS = 2000  # With so few matches, no word is too common.
_MAX_NAMESAKES = 2000
_MATCH = "SELECT rowid FROM found WHERE found MATCH ?"

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
_DECLARED = """SELECT number, name, qualified_name FROM piece JOIN symbol ON symbol.artifact = piece.artifact
AND symbol.line_start BETWEEN piece.line_start AND piece.line_end WHERE number IN ({})"""
_PATHS = "SELECT first, path FROM artifact JOIN piece ON piece.artifact = artifact.id WHERE number IN ({})"

SqlCondition = tuple[str, Sequence[object]]


class ChunkIndexer:
    """Adds and removes chunks in batches, because small changes are expensive in FTS5."""

    def __init__(self, database: db.Database) -> None:
        self.database = database
        self._removed: dict[int, str] = {}
        self._added: dict[int, str] = {}

    def add(self, first: int, file: records.IngestedFile) -> None:
        self._added.update(_index_rows(first, file))
        self._flush_batch()

    def remove(self, first: int, file: records.IngestedFile) -> None:
        """Remove chunks, with the same words with which they were added, because FTS5 requires them."""
        for number, words in _index_rows(first, file):
            if self._added.pop(number, None) is None:
                self._removed[number] = words
        self._flush_batch()

    def _flush_batch(self) -> None:
        if len(self._removed) + len(self._added) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        # In ascending order: before FTS5 accepts a smaller number, it writes everything that it has collected.
        removed, added = sorted(self._removed.items()), sorted(self._added.items())
        self._removed, self._added = {}, {}
        self.database.many("INSERT INTO found(found, rowid, words) VALUES ('delete', ?, ?)", removed)
        self.database.many("INSERT INTO found(rowid, words) VALUES (?, ?)", added)


def _index_rows(first: int, file: records.IngestedFile) -> Iterator[tuple[int, str]]:
    path = file.artifact.path
    for ordinal, piece in enumerate(file.pieces):
        words = _index_words(file.text[piece.start : piece.end], piece.title if ordinal else f"{path} {piece.title}")
        lines = range(piece.line_start, piece.line_end + 1)
        names = dict.fromkeys(_DECLARED_MARK + join_name(one.name) for one in file.symbols if one.line_start in lines)
        if ordinal == 0:
            name = path.rpartition("/")[2]
            names |= dict.fromkeys(_FILE_MARK + join_name(one) for one in (name, _strip_ending(name)))
        yield first + ordinal, " ".join([*words, *names])


def _index_words(text: str, title: str) -> list[str]:
    words = Counter(extract_index_words(text))
    titles = dict.fromkeys(extract_index_words(title)) if title else {}
    # A word counts more in a short chunk than in a long one.
    length = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * len(text) / _USUAL_LENGTH
    found = [*words, *(word for word in titles if word not in words), *(_TITLE_MARK + word for word in titles)]
    for mark, frequency in zip(_FREQUENCY_MARKS, _FREQUENCIES, strict=True):
        least = frequency * length
        found += [mark + word for word, count in words.items() if count >= least and len(word) > _SHORT]
    return found


def _strip_ending(name: str) -> str:
    """Return a file name without any extension; a leading dot does not begin an extension."""
    return name[: name.find(".", 1)] if "." in name[1:] else name


class ChunkSearch(tables.StoreTables):
    _flush: Callable[[], None] | None = (
        None  # Indexes the chunks of the change in progress; None if there is no change.
    )
    _last_allowed: tuple[str, records.ChunkFilters, Sequence[int] | None] | None = None

    def _settle(self) -> None:
        if self._flush is not None:
            self._flush()

    def chunk_total(self) -> int:
        self._settle()
        return db.read_state(self.database).total

    def find_by_words(
        self, terms: Sequence[str], filters: records.ChunkFilters, limit: int, *, every: bool
    ) -> records.ScoredChunks:
        self._settle()
        ##= man/spec/knowledge.md#search
        ##% `km-search` MUST ignore very common words of a query. `km-search` MUST cut a query at 2,000 characters or 64
        ##% words, and warn about it.
        words = list(dict.fromkeys(word for term in terms for word in extract_words(term)))[:MAX_QUERY_WORDS]
        ranking = _Ranking(self.database, self.allowed(filters))
        counts = {word: ranking.count([word]) for word in words}
        if every and all(counts.values()):
            ranking.add_all(counts)
        elif not every:
            ranking.add_any(
                {word: counts[word] for word in sorted(words, key=counts.__getitem__) if counts[word]}, limit
            )
        return ranking.best(limit)

    def find_declaring(self, name: str, filters: records.ChunkFilters) -> Sequence[int]:
        self._settle()
        numbers = _select(self._find_marked_chunks(_DECLARED_MARK, name), self.allowed(filters))
        names = self.database.read_many(
            lambda row: (records.decode_count(row[0]), tables.decode_symbol_name(*row[1:])), _DECLARED, numbers
        )
        exact = {number for number, declared in names if declared == name}
        return [number for number in numbers if number in exact] if exact else numbers

    def find_named(self, path: str, filters: records.ChunkFilters) -> Sequence[int]:
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
        ##= man/spec/knowledge.md#search
        ##% `km-search` MUST apply filters before it ranks chunks, and ignore case in filters by name.
        conditions = [*self._make_file_conditions(filters), *_make_symbol_conditions(filters)]
        where = "".join(f" AND {condition}" for condition, _ in conditions)
        values = list(chain.from_iterable(values for _, values in conditions))
        if filters.symbols or filters.symbol_kinds or filters.symbol_languages:
            return self.database.read(_decode_number, _FILTERED_SYMBOLS.format(where), *values)
        ranges = self.database.read(
            lambda row: records.decode_piece_range(*row), _FILTERED_FILES.format(where), *values
        )
        return list(chain.from_iterable(ranges))

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
        ##= man/spec/knowledge.md#search
        ##% The filter by subsystem MUST include the files that are linked to the subsystem. `km-search` MUST apply all
        ##% filters by symbol to the same symbol.
        own = _TRAIT.format(db.Trait.SUBSYSTEM, db.make_placeholders(names))
        return f"({own} OR artifact.{_LINKED.format(db.make_placeholders(nodes))})", [*names, *nodes]


class _Ranking:
    def __init__(self, database: db.Database, allowed: Sequence[int] | None) -> None:
        self.database = database
        self.allowed = None if allowed is None else frozenset(allowed)
        self.total = db.read_state(database).total
        self.scores: dict[int, float] = {}

    def count(self, words: Iterable[str]) -> int:
        ((count,),) = self.database.rows(
            "SELECT count(*) FROM found WHERE found MATCH ?", _join_literals(words, " AND ")
        )
        return int(count)

    def add_all(self, counts: Mapping[str, int]) -> None:
        # Most queries of many words match nothing; a single count shows this.
        if len(counts) > 1 and not self.count(counts):
            return
        together = _join_literals(counts, " AND ")
        for word, count in counts.items():
            self._add(word, count, together)

    def add_any(self, counts: Mapping[str, int], limit: int) -> None:
        """Score the chunks that contain any of the words, rarest word first.

        Once there are enough matches, common words are skipped.
        """
        rare = max(_FEW_CHUNKS, self.total // _COMMON_SHARE)
        finding: list[str] = []
        for word, count in counts.items():
            if count <= rare or len(self.scores) < limit:
                finding.append(word)
                self._add(word, count)
        # A common word still raises the score of chunks that other words found.
        found = f"({_join_literals(finding, ' OR ')})"
        for word, count in counts.items():
            if word not in finding:
                self._add(word, count, found)

    def _add(self, word: str, count: int, where: str = "") -> None:
        rarity = log(1 + (max(self.total - count, 0) + 0.5) / (count + 0.5))
        scores, allowed = self.scores, self.allowed
        for mark, weight in _WEIGHTS:
            literal = _join_literals([mark + word], "")
            rows = self.database.rows(_MATCH, f"{literal} AND {where}" if where else literal)
            score = weight * rarity
            for (number,) in rows:
                if allowed is None or number in allowed:
                    scores[number] = scores.get(number, 0.0) + score

    def best(self, limit: int) -> records.ScoredChunks:
        """Return the chunks with the best scores; chunks with the same score are sorted by number."""
        if limit < 1 or not self.scores:
            return []
        least = nlargest(limit, self.scores.values())[-1]
        good = ((-score, number) for number, score in self.scores.items() if score >= least)
        return [(number, -score) for score, number in sorted(good)[:limit]]


def _join_literals(words: Iterable[str], between: str) -> str:
    # FTS5 reads a quoted string as text, and words contain no quotes.
    return between.join(f'"{word}"' for word in words)


def _make_symbol_conditions(filters: records.ChunkFilters) -> Iterator[SqlCondition]:
    if filters.symbols:
        yield _is_in("coalesce(symbol.folded, symbol.qualified_name)", _fold(filters.symbols))
    for column, names in (("kind", filters.symbol_kinds), ("language", filters.symbol_languages)):
        if names:
            yield _is_in(
                f"symbol.{column}", [records.encode_word(name) for name in dict.fromkeys(map(fold_name, names))]
            )


def _is_in(column: str, values: Sequence[object]) -> SqlCondition:
    return f"{column} IN ({db.make_placeholders(values)})", values


def _fold(names: Iterable[str]) -> Sequence[object]:
    return [records.encode_text(name) for name in dict.fromkeys(map(fold_name, names))]


def _decode_number(row: db.DatabaseRow) -> int:
    return records.decode_count(*row)


def _is_path_called(path: str, query: str) -> bool:
    """Return True if the query is the path, the end of it, or a longer path ending in it, ignoring the extension."""
    folder, _, name = path.rpartition("/")
    stripped = f"{folder}/{_strip_ending(name)}"
    return any(f"/{one}".endswith(f"/{query}") for one in (path, stripped)) or query.endswith(f"/{path}")


def _select(numbers: Iterable[int], allowed: Sequence[int] | None) -> list[int]:
    among = None if allowed is None else frozenset(allowed)
    return [number for number in numbers if among is None or number in among]
