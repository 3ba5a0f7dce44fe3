"""The full-text index of chunks: terms, filters, ranking, names."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import chain
from math import log

from duvet.store.chunks import find_symbol_name, read_chunk_numbers
from duvet.store.database import (
    LABEL_NUMBERS,
    NAMESPACE_TRAIT,
    RELATION_NUMBERS,
    SUBSYSTEM_TRAIT,
    TAG_TRAIT,
    Database,
    DatabaseRow,
    decode_count,
    decode_piece_range,
    decode_text,
    encode_text,
    encode_word,
    make_placeholders,
    read_state,
)
from duvet.store.records import KIND_LABELS, ChunkFilters, IngestedFile, NodeLabel, Relation, TextPiece

MAX_INDEXED_CHARACTERS = 2000
"""So many characters of a query count."""
MAX_QUERY_WORDS = 64
"""So many words of a query count."""

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")
_PART = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z0-9]+")
_COMPOSED = re.compile(r"(?<![^\W_])[^\W_]++(?:_++[^\W_]++)++")


def extract_words(text: str) -> list[str]:
    """Its words in lower case, in their order, each as often as it stands there."""
    return _WORD.findall(_composed(text).lower())


def extract_query_words(query: str) -> tuple[list[str], bool]:
    """The words of a query that count, each once, and whether there are more."""
    words = list(dict.fromkeys(extract_words(query[:MAX_INDEXED_CHARACTERS])))
    return words[:MAX_QUERY_WORDS], len(query) > MAX_INDEXED_CHARACTERS or len(words) > MAX_QUERY_WORDS


def extract_index_words(text: str) -> list[str]:
    """The words that the text is found by: its own, the parts of names such as `parseHeaderLine`, and names such as
    `parse_header_line` as one word."""
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST find words in any of their forms, symbols by their names or parts of these, and files by their
    ##% path or name.
    plain = _composed(text)
    names = _WORD.findall(plain)
    joined = [name.replace("_", "").lower() for name in _COMPOSED.findall(plain)] if "_" in plain else ()
    return [*map(str.lower, names), *split_names(names), *joined]


def join_name(name: str) -> str:
    """What is left of a name, however its parts are joined: `parseheaderline`."""
    return "".join(extract_words(name))


def split_names(names: Iterable[str]) -> Iterator[str]:
    """What the names are composed of that have capitals inside, in lower case."""
    for name in names:
        if not name.islower() and _HUMP.search(name):
            for part in _PART.findall(name):
                yield part.lower()


def fold_name(text: str) -> str:
    """The text as names are compared: without case, and with one spelling for each character."""
    return text.lower() if text.isascii() else _composed(text).casefold()


def _composed(text: str) -> str:
    # A mark of its own would cut the word that it stands in.
    return text if text.isascii() else unicodedata.normalize("NFC", text)


FREQUENCY_MARKS, TITLE_MARK, DECLARED_MARK, FILE_MARK = ("\ue001", "\ue002", "\ue003"), "\ue004", "\ue005", "\ue006"
"""Before a word: it stands there often, more often, most often; in the title; it is the name of something that is declared
there; it is that of the file, of which this is the first piece. No word of a text begins so."""
_OFTEN = (1.6, 3.2, 6.4)
"""How often a word has to stand in a piece of usual length to be one of these."""
_SHORT = 2
"""So short a word hardly tells anything, and is everywhere."""
_USUAL = 1000
_LENGTH = 0.75
"""How much the length of a piece counts, from 0 to 1; `b` of BM25."""
_INSERT = "INSERT INTO found(rowid, words) VALUES (?, ?)"
_DELETE = "INSERT INTO found(found, rowid, words) VALUES ('delete', ?, ?)"
_MOST = 4000
"""So many pieces wait to be indexed together."""


class ChunkIndexer:
    """Puts pieces into the index and takes them out, many at once: each time that is begun anew costs much."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._gone: dict[int, str] = {}
        self._new: dict[int, str] = {}

    def add(self, first: int, taken: IngestedFile) -> None:
        """The pieces of a file, numbered from the first on."""
        self._new.update(_rows(first, taken))
        self._pour()

    def forget(self, first: int, taken: IngestedFile) -> None:
        """The same pieces again."""
        for number, words in _rows(first, taken):
            if self._new.pop(number, None) is None:
                self._gone[number] = words
        self._pour()

    def _pour(self) -> None:
        if len(self._gone) + len(self._new) >= _MOST:
            self.flush()

    def flush(self) -> None:
        """Whatever waits."""
        # Ascending: the index is begun anew for every number that is less than the one before.
        gone, new = sorted(self._gone.items()), sorted(self._new.items())
        self._gone, self._new = {}, {}
        self.database.many(_DELETE, gone)
        self.database.many(_INSERT, new)


def _rows(first: int, taken: IngestedFile) -> Iterable[tuple[int, str]]:
    path = taken.artifact.path
    for ordinal, piece in enumerate(taken.pieces):
        words = _told(taken.text[piece.start : piece.end], piece.title if ordinal else f"{path} {piece.title}")
        names = [*_declared(taken, piece), *(_called(path) if ordinal == 0 else ())]
        yield first + ordinal, " ".join([*words, *names])


def _declared(taken: IngestedFile, piece: TextPiece) -> Iterable[str]:
    lines = range(piece.line_start, piece.line_end + 1)
    return dict.fromkeys(DECLARED_MARK + join_name(one.name) for one in taken.symbols if one.line_start in lines)


def _called(path: str) -> Iterable[str]:
    """The name of a file, with its ending and without."""
    name = path.rpartition("/")[2]
    return dict.fromkeys(FILE_MARK + join_name(one) for one in (name, strip_ending(name)))


def strip_ending(name: str) -> str:
    """The name of a file without its ending; what is hidden has none."""
    return name[: name.find(".", 1)] if "." in name[1:] else name


def _told(text: str, title: str) -> Sequence[str]:
    """The words by which a piece is found."""
    words = Counter(extract_index_words(text))
    titles = dict.fromkeys(extract_index_words(title)) if title else {}
    share = _share(len(text))
    found = [*words, *(word for word in titles if word not in words), *(TITLE_MARK + word for word in titles)]
    for mark, often in zip(FREQUENCY_MARKS, _OFTEN, strict=True):
        least = often * share
        found += [mark + word for word, count in words.items() if count >= least and len(word) > _SHORT]
    return found


def _share(length: int) -> float:
    """In a short piece a word tells more, and in a long one less."""
    return 1 - _LENGTH + _LENGTH * length / _USUAL


LexicalHits = Sequence[tuple[int, float]]

_FOUND = "SELECT rowid FROM found WHERE found MATCH ?"
_COUNT = "SELECT count(*) FROM found WHERE found MATCH ?"
_WEIGHTS = (("", 1.0), *zip(FREQUENCY_MARKS, (0.42, 0.30, 0.17), strict=True), (TITLE_MARK, 0.45))
"""What BM25 with `k1` = 1.2 adds for a word that stands in a piece; for one that does so twice, four times, eight times; and
for one in the title, which counts for two."""
_RARE = 10
"""A word that stands in more than every tenth piece finds none alone, as long as others do."""
_FEW = 2000
"""So many pieces are looked through in no time."""


def search_words(
    database: Database, terms: Sequence[str], allowed: Sequence[int] | None, limit: int, *, every: bool
) -> LexicalHits:
    """The pieces with these words, by BM25; with None for what is allowed, any."""
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST read a query as words, ignore very common ones, and warn about what exceeds 2,000 characters or
    ##% 64 words.
    words = list(dict.fromkeys(word for term in terms for word in extract_words(term)))[:MAX_QUERY_WORDS]
    counts = {word: _count(database, [word]) for word in words}
    ranking = _Ranking(database, None if allowed is None else frozenset(allowed))
    if every and all(counts.values()):
        ranking.of_all(counts)
    elif not every:
        ranking.of_any({word: counts[word] for word in sorted(words, key=counts.__getitem__) if counts[word]}, limit)
    return ranking.best(limit)


class _Ranking:
    """Adds up what is found."""

    def __init__(self, database: Database, allowed: Collection[int] | None) -> None:
        self.database = database
        self.allowed = allowed
        self.total = read_state(database).total
        self.scores: dict[int, float] = {}

    def of_all(self, counts: Mapping[str, int]) -> None:
        """The pieces that hold every word."""
        # Most questions of many words find nothing like that, and to hear so once is enough.
        if len(counts) > 1 and not _count(self.database, counts):
            return
        together = _literals(counts, " AND ")
        for word, count in counts.items():
            self._add(word, count, together)

    def of_any(self, counts: Mapping[str, int], limit: int) -> None:
        """The pieces that hold any word, of which the rarest comes first; what only common words find is left out where
        others are found."""
        seldom = max(_FEW, self.total // _RARE)
        finding: list[str] = []
        for word, count in counts.items():
            if count <= seldom or len(self.scores) < limit:
                finding.append(word)
                self._add(word, count)
        # What was found is still the better for a common word.
        found = f"({_literals(finding, ' OR ')})"
        for word, count in counts.items():
            if word not in finding:
                self._add(word, count, found)

    def _add(self, word: str, count: int, where: str = "") -> None:
        rarity = log(1 + (max(self.total - count, 0) + 0.5) / (count + 0.5))
        scores, allowed = self.scores, self.allowed
        for mark, weight in _WEIGHTS:
            literal = _literals([mark + word], "")
            rows = self.database.rows(_FOUND, f"{literal} AND {where}" if where else literal)
            more = weight * rarity
            for (number,) in rows:
                if allowed is None or number in allowed:
                    scores[number] = scores.get(number, 0.0) + more

    def best(self, limit: int) -> LexicalHits:
        """So many, each with its score; of those that are as good, the first ones."""
        if limit < 1 or not self.scores:
            return []
        least = nlargest(limit, self.scores.values())[-1]
        good = ((-score, number) for number, score in self.scores.items() if score >= least)
        return [(number, -score) for score, number in sorted(good)[:limit]]


def _count(database: Database, words: Iterable[str]) -> int:
    ((count,),) = database.rows(_COUNT, _literals(words, " AND "))
    return int(count)


def _literals(words: Iterable[str], between: str) -> str:
    # What stands in quotes is text for the engine, and words hold none.
    return between.join(f'"{word}"' for word in words)


_SUBSYSTEMS = "SELECT id, key, name FROM node WHERE label = ?"
_TRAIT = "id IN (SELECT artifact FROM trait WHERE what = {} AND value IN ({}))"
_FILES = "SELECT first, count FROM artifact WHERE count > 0{} ORDER BY first"
_SYMBOLS = """SELECT DISTINCT number FROM symbol
JOIN artifact ON artifact.id = symbol.artifact
JOIN piece ON number >= first AND number < first + count
AND piece.line_start <= symbol.line_end AND piece.line_end >= symbol.line_start
WHERE count > 0{} ORDER BY number"""
_BELONG = ",".join(str(RELATION_NUMBERS[one]) for one in (Relation.BELONGS_TO, Relation.DESCRIBES, Relation.VALIDATES))
_OF_FILES = ",".join(str(LABEL_NUMBERS[one]) for one in sorted(set(KIND_LABELS.values())))
# A subsystem, then what belongs to it, then the files that hang together with one of these.
_LINKED = f"""id IN (
WITH core(node) AS (SELECT id FROM node WHERE id IN ({{}})),
near(node) AS (SELECT node FROM core UNION
    SELECT source FROM edge JOIN core ON target = core.node WHERE relation IN ({_BELONG})),
file(node) AS (SELECT target FROM near JOIN edge ON source = near.node UNION
    SELECT source FROM near JOIN edge ON target = near.node)
SELECT artifact.id FROM file JOIN node ON node.id = file.node AND node.label IN ({_OF_FILES})
JOIN artifact ON artifact.path = node.key)"""

SqlCondition = tuple[str, Sequence[object]]
"""What has to hold, and the values of its marks."""


def find_allowed_chunks(database: Database, filters: ChunkFilters) -> Sequence[int] | None:
    """The pieces that may be found, in ascending order; None is all."""
    if filters == ChunkFilters():
        return None
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST apply filters before it ranks, and compare names without regard to case.
    conditions = [*_of_files(database, filters), *_of_symbols(filters)]
    where = "".join(f" AND {condition}" for condition, _ in conditions)
    values = list(chain.from_iterable(values for _, values in conditions))
    if filters.symbols or filters.symbol_kinds or filters.symbol_languages:
        return database.read(lambda row: decode_count(*row), _SYMBOLS.format(where), *values)
    return list(chain.from_iterable(database.read(lambda row: decode_piece_range(*row), _FILES.format(where), *values)))


def _of_files(database: Database, filters: ChunkFilters) -> Iterator[SqlCondition]:
    if filters.subsystems:
        yield _of_subsystems(database, _folded(filters.subsystems))
    if filters.kinds:
        yield _one_of("artifact.kind", _folded(filters.kinds))
    for what, wanted in ((NAMESPACE_TRAIT, filters.namespaces), (TAG_TRAIT, filters.tags)):
        if wanted:
            names = _folded(wanted)
            yield f"artifact.{_TRAIT.format(what, make_placeholders(names))}", names
    if filters.since is not None:
        yield "git_timestamp >= ?", (filters.since,)


def _of_subsystems(database: Database, names: Sequence[object]) -> SqlCondition:
    subsystems = database.read(
        lambda row: (decode_count(row[0]), [*map(decode_text, row[1:])]),
        _SUBSYSTEMS,
        LABEL_NUMBERS[NodeLabel.SUBSYSTEM],
    )
    nodes = [id for id, called in subsystems if any(encode_text(fold_name(name)) in names for name in called)]
    ##= man/spec/knowledge.md#search
    ##% The filter for a subsystem MUST include the files that are linked to it, and the filters for symbols MUST apply
    ##% to one symbol.
    own = _TRAIT.format(SUBSYSTEM_TRAIT, make_placeholders(names))
    return f"(artifact.{own} OR artifact.{_LINKED.format(make_placeholders(nodes))})", [*names, *nodes]


def _of_symbols(filters: ChunkFilters) -> Iterator[SqlCondition]:
    if filters.symbols:
        yield _one_of("coalesce(symbol.folded, symbol.qualified_name)", _folded(filters.symbols))
    if filters.symbol_kinds:
        yield _one_of("symbol.kind", _coded(filters.symbol_kinds))
    if filters.symbol_languages:
        yield _one_of("symbol.language", _coded(filters.symbol_languages))


def _one_of(column: str, values: Sequence[object]) -> SqlCondition:
    return f"{column} IN ({make_placeholders(values)})", values


def _coded(names: Iterable[str]) -> Sequence[object]:
    return [encode_word(name) for name in dict.fromkeys(map(fold_name, names))]


def _folded(names: Iterable[str]) -> Sequence[object]:
    return [encode_text(name) for name in dict.fromkeys(map(fold_name, names))]


_NAMING_FOUND = "SELECT rowid FROM found WHERE found MATCH ? ORDER BY rowid LIMIT ?"
_NAMING_MOST = 2000
"""So many things of one name are looked at."""
_DECLARED = """SELECT number, name, qualified_name FROM piece JOIN symbol ON symbol.artifact = piece.artifact
AND symbol.line_start BETWEEN piece.line_start AND piece.line_end WHERE number IN ({})"""
_PATHS = "SELECT first, path FROM artifact JOIN piece ON piece.artifact = artifact.id WHERE number IN ({})"


def find_declaring_chunks(database: Database, name: str, allowed: Sequence[int] | None) -> Sequence[int]:
    """The pieces in which something of that name is declared."""
    numbers = [*_kept(_marked(database, DECLARED_MARK, name), allowed)]
    names = database.read_many(_named, _DECLARED, numbers)
    exact = {one for one, known in names if known == name}
    return [one for one in numbers if one in exact] if exact else numbers


def find_file_chunks(database: Database, path: str, allowed: Sequence[int] | None) -> Sequence[int]:
    """The first pieces of the files that are called so."""
    whole = read_chunk_numbers(database, path)[:1]
    if whole:
        return [*_kept(whole, allowed)]
    asked = fold_name(path)
    numbers = _marked(database, FILE_MARK, path.rpartition("/")[2])
    paths = database.read_many(_first, _PATHS, numbers)
    found = {one for one, known in paths if _is_called(fold_name(known), asked)}
    return [*_kept((one for one in numbers if one in found), allowed)]


def _named(row: DatabaseRow) -> tuple[int, str]:
    return decode_count(row[0]), find_symbol_name(*row[1:])


def _first(row: DatabaseRow) -> tuple[int, str]:
    return decode_count(row[0]), decode_text(row[1])


def _is_called(path: str, asked: str) -> bool:
    """What is asked for may say less than the path, or more: that of a folder around the project."""
    folder, _, name = path.rpartition("/")
    without = f"{folder}/{strip_ending(name)}"
    return any(f"/{one}".endswith(f"/{asked}") for one in (path, without)) or asked.endswith(f"/{path}")


def _marked(database: Database, mark: str, name: str) -> Sequence[int]:
    word = join_name(name)
    return database.read(lambda row: decode_count(*row), _NAMING_FOUND, f'"{mark}{word}"', _NAMING_MOST) if word else []


def _kept(numbers: Iterable[int], allowed: Sequence[int] | None) -> Iterator[int]:
    among = None if allowed is None else frozenset(allowed)
    return (one for one in numbers if among is None or one in among)
