"""Searches requirements by name, by words in an index (SQLite FTS5) and by meaning, and fuses the rankings."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cached_property, partial
from itertools import islice, repeat
from math import log
from typing import TYPE_CHECKING, Any
from weakref import finalize

from msgspec import Struct, msgpack

from duvet.errors import DuvetError, NotFoundError, QueryError
from duvet.queries import references
from duvet.queries.records import RequirementFilter, RequirementRow, make_row_fields, select_requirements
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue
from duvet.trace.locations import ProjectFiles, list_section_tree, match_sections, match_specifications
from duvet.tree.cache import Cache
from duvet.tree.recorder import digest_content
from duvet.words import MAX_QUERY_CHARACTERS, Query, make_storable, parse_query, quote_term

if TYPE_CHECKING:
    from sqlite3 import Connection

    from duvet.queries.embeddings import Embedder
    from duvet.queries.vectors import Matrix

MatchSpans = tuple[tuple[int, int], ...]  # The offsets of the matching parts of a text.

##= man/spec/search.md#queries
##% In requirements, titles of sections and names of specifications, `duvet search` MUST find every form of a word, and
##% quoted phrases as a whole.
_TABLE = "CREATE VIRTUAL TABLE found USING fts5(text, title, specification, tokenize='porter unicode61'{})"
_INSERT = "INSERT INTO found(rowid, text, title, specification) VALUES (?, ?, ?, ?)"
_SCORES = "SELECT rowid, bm25(found, 1.0, 2.0, 1.0) FROM found WHERE found MATCH ?"
_MATCHES = "SELECT rowid FROM found WHERE found MATCH ?"
_TERM_LIMIT = 2.2  # `k1` + 1: the score of a word is less than this times its rarity.
_HIGHLIGHTS = "SELECT rowid, highlight(found, 0, char(1), char(2)) FROM found WHERE found MATCH ?"
# Blanks separate words, too, and the offsets stay the same.
_UNMARKED = str.maketrans("\0\1\2", "   ")
_RAW_HINT = (
    'use words, "phrases", AND, OR, NOT, NEAR(…) and the columns text, title and specification; or leave out --raw'
)


class RequirementIndex:
    """A word index of the requirements in a catalogue; any thread may use it, but only one at a time."""

    def __init__(self, catalogue: Catalogue, memory: Cache) -> None:
        names = [" ".join(dict.fromkeys((one.name.lower(), one.id.lower()))) for one in catalogue.specifications]
        titles = [one.titles for one in catalogue.specifications]
        # The text of each requirement, the title of its section, and the names of its specification.
        self._texts: list[tuple[str, str, str]] = [
            (card.text, titles[card.specification].get(card.section, ""), names[card.specification])
            for card in catalogue.requirements
        ]
        key = (_import_sqlite().sqlite_version, digest_content(msgpack.encode(self._texts)))
        self._data = memory.compute("search", bytes, key, self._build)

    def _build(self) -> bytes:
        with closing(open_memory_database()) as connection:
            # The texts are left out, because the catalogue contains them.
            _fill(connection, ", content=''", enumerate(self._texts))
            connection.execute("INSERT INTO found(found) VALUES ('optimize')")
            connection.commit()
            return connection.serialize()

    @cached_property
    def _connection(self) -> Connection:
        connection = open_memory_database(check_same_thread=False)
        finalize(self, connection.close)
        connection.deserialize(self._data)
        return connection

    def find_matches(self, expression: str, allowed: Container[int]) -> dict[int, float]:
        """Return the matching requirements with scores, best first; raise QueryError for an invalid expression."""
        scores: list[tuple[float, int]] = []
        for index, score in _query(self._connection, _SCORES, expression):
            if index in allowed:
                # Further digits may differ between machines.
                scores.append((float(f"{score:.6g}"), index))
        # In sqlite, the lowest score is the best.
        return {index: -score for score, index in sorted(scores)}

    def compute_shares(self, query: Query, allowed: Container[int]) -> dict[int, float]:
        """Map each allowed requirement with any of the words to its score, as a share of the highest possible score."""
        total = len(self._texts)
        counts = [len(_query(self._connection, _MATCHES, quote_term(word))) for word in query.words]
        most = sum(_TERM_LIMIT * log(1 + (total - count + 0.5) / (count + 0.5)) for count in counts)
        return {index: min(score / most, 1.0) for index, score in self.find_matches(query.disjunction, allowed).items()}

    def marks(self, expression: str, indexes: Sequence[int]) -> dict[int, MatchSpans]:
        found: dict[int, MatchSpans] = {}
        with closing(open_memory_database()) as connection:
            rows = [(index, self._texts[index]) for index in indexes]
            _fill(connection, "", [(index, (text.translate(_UNMARKED), *rest)) for index, (text, *rest) in rows])
            for index, marked in _query(connection, _HIGHLIGHTS, expression):
                spans, at = [], 0
                for part in marked.split("\2")[:-1]:
                    before, _, inside = part.partition("\1")
                    at += len(before)
                    spans.append((at, at + len(inside)))
                    at += len(inside)
                found[index] = tuple(spans)
        return found


def _fill(connection: Connection, options: str, rows: Iterable[tuple[int, Iterable[str]]]) -> None:
    try:
        connection.execute(_TABLE.format(options))
    except connection.OperationalError as error:
        raise _make_sqlite_error(str(error)) from error
    connection.executemany(_INSERT, [(index, *texts) for index, texts in rows])


def _query(connection: Connection, statement: str, expression: str) -> list[Any]:
    try:
        return connection.execute(statement, (expression,)).fetchall()
    except connection.Error as error:
        raise QueryError(f"invalid FTS5 query: {error}", hint=_RAW_HINT) from error


def open_memory_database(**options: bool) -> Connection:
    connection: Connection = _import_sqlite().connect(":memory:", **options)
    if not hasattr(connection, "serialize"):
        connection.close()
        raise _make_sqlite_error("Connection.serialize is missing")
    return connection


def _import_sqlite() -> Any:
    try:
        import sqlite3
    except ImportError as error:
        raise _make_sqlite_error(str(error)) from error
    return sqlite3


def _make_sqlite_error(reason: str) -> DuvetError:
    return DuvetError(
        f"Python's sqlite has no full-text search: {reason}", hint="run duvet with a Python whose sqlite has FTS5"
    )


def blend_scores(by_words: Mapping[int, float], by_vectors: Mapping[int, float], share: float) -> dict[int, float]:
    """Return the weighted mean of each item's word score and cosine, best first; `share` is the weight of cosines."""
    scores = {item: score * (1 - share) for item, score in by_words.items()}
    for item, cosine in by_vectors.items():
        scores[item] = scores.get(item, 0.0) + cosine * share
    return {item: scores[item] for item in sorted(scores, key=scores.__getitem__, reverse=True)}


_ID = re.compile(r"[0-9a-fA-F]{4,64}\Z")
_REFERENCE = re.compile(r"\S+(?:#\S+|:\d+)\Z|[0-9a-fA-F]{12,64}\Z")
_WORD = r"[^\W\d_]{3,}"
_UNSPACED = r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]"
_SIMILARITY = 0.75  # Minimum similarity of a suggested word.
_DEPTH = 100  # Minimum number of hits to fuse from each ranking.


class SearchQuery(Struct, frozen=True):
    query: str
    filters: RequirementFilter = RequirementFilter()
    is_raw: bool = False  # The query is an expression of FTS5.
    limit: int = 0  # 0 means all.


class HitRow(RequirementRow, frozen=True, kw_only=True):
    score: float | None  # Higher is better; None for a requirement that the query only names.
    marks: MatchSpans


class SearchHits(Struct, frozen=True):
    indexes: Sequence[int]  # The requirements that the query names, followed by those with its words, best first.
    scores: Mapping[int, float]
    marks: Callable[[Sequence[int]], Mapping[int, MatchSpans]]  # Returns the matching parts of requirements.
    is_loose: bool = False  # True if no requirement contains every word; then these contain some of the words.
    dropped: tuple[str, ...] = ()  # The stop words, if the query has no other words.
    is_cut: bool = False  # True if the query was too long.


class SearchAnswer(Struct, frozen=True):
    """The rows of the answer, up to the limit, and the number of matches found."""

    rows: tuple[HitRow, ...]
    total: int
    is_loose: bool = False
    dropped: tuple[str, ...] = ()
    is_cut: bool = False


def search_requirements(
    catalogue: Catalogue, request: SearchQuery, memory: Cache, files: ProjectFiles, embedder: Embedder | None = None
) -> SearchAnswer:
    """Search by words and, with an embedder, by meaning; raise QueryError if the query has no words or is invalid."""
    vectors = None if embedder is None else partial(RequirementVectors, catalogue, memory, embedder)
    found = find_hits(catalogue, request, lambda: RequirementIndex(catalogue, memory), files, vectors)
    shown = found.indexes[: request.limit or None]
    cards, scores, marks = catalogue.requirements, found.scores, found.marks(shown)
    rows = [
        HitRow(**make_row_fields(catalogue, cards[index]), score=scores.get(index), marks=marks.get(index, ()))
        for index in shown
    ]
    return SearchAnswer(tuple(rows), len(found.indexes), found.is_loose, found.dropped, found.is_cut)


def find_hits(
    catalogue: Catalogue,
    request: SearchQuery,
    index: Callable[[], RequirementIndex],
    files: ProjectFiles,
    vectors: Callable[[], RequirementVectors] | None = None,
) -> SearchHits:
    """Return the matches, or raise QueryError; the index and the vectors are created only if needed."""
    is_filtered = request.filters != RequirementFilter()
    allowed: Collection[int] = range(len(catalogue.requirements))
    if is_filtered:
        allowed = set(select_requirements(catalogue, request.filters))
    if request.is_raw:
        return _match(index(), [make_storable(request.query)], allowed)
    query = parse_query(request.query)
    named = [one for one in find_named_requirements(catalogue, request.query, files) if one in allowed]
    if not (query.terms or query.dropped or named):
        raise QueryError("the query contains no words", hint="give a word, a requirement id, FILE:LINE or SPEC#SECTION")
    found = _NO_HITS
    if query.terms and vectors is not None and not is_reference(request.query):
        text = request.query[:MAX_QUERY_CHARACTERS]
        meanings = vectors()
        near = meanings.find_nearest(text, len(catalogue.requirements), sorted(allowed) if is_filtered else None)
        ##= man/spec/search.md#queries
        ##% With `--semantic`, `duvet search` MUST rank requirements by both words and vectors.
        words = index()
        shares = words.compute_shares(query, allowed)
        most = max(request.limit, _DEPTH) if request.limit else len(catalogue.requirements)
        scores = dict(islice(blend_scores(shares, dict(near), meanings.share).items(), most))
        found = SearchHits([*scores], scores, partial(words.marks, query.disjunction))
    elif query.terms:
        ##= man/spec/search.md#queries
        ##% `duvet search` MUST list the requirements that contain every word of the query. If no requirement contains
        ##% every word, and the query is not a reference, `duvet search` MUST list those that contain some of the words,
        ##% and say so.
        needs_all = bool(named) or is_reference(request.query)
        found = _match(index(), [query.conjunction, *(() if needs_all else [query.disjunction])], allowed)
        # The full-text index takes a stretch of text without spaces for one word.
        if not all(map(str.isascii, query.terms)):
            found = _add_unspaced(found, catalogue, query.terms, allowed)
    dropped = () if query.terms or named else query.dropped
    indexes = [*dict.fromkeys([*named, *found.scores])]
    return SearchHits(indexes, found.scores, found.marks, found.is_loose, dropped, query.is_cut)


def _match(index: RequirementIndex, expressions: Sequence[str], allowed: Container[int]) -> SearchHits:
    for number, expression in enumerate(expressions):
        if scores := index.find_matches(expression, allowed):
            return SearchHits([*scores], scores, partial(index.marks, expression), is_loose=number > 0)
    return _NO_HITS


def _add_unspaced(found: SearchHits, catalogue: Catalogue, terms: Sequence[str], allowed: Iterable[int]) -> SearchHits:
    ##= man/spec/search.md#queries
    ##% `duvet search` MUST find Chinese, Japanese and Thai words in text without spaces.
    if not any(re.search(_UNSPACED, term) for term in terms):
        return found
    parts = {one: spans for one in sorted(allowed) if (spans := _find_parts(catalogue.requirements[one].text, terms))}
    if not parts:
        return found
    exact = {} if found.is_loose else found.scores
    scores = {**exact, **{one: 0.0 for one in parts if one not in exact}}

    def mark(indexes: Sequence[int]) -> Mapping[int, MatchSpans]:
        known = found.marks([one for one in indexes if one in exact])
        return {**known, **{one: parts[one] for one in indexes if one in parts}}

    return SearchHits([*scores], scores, mark)


def _find_parts(text: str, terms: Iterable[str]) -> MatchSpans:
    places = [[found.span() for found in re.finditer(re.escape(term), text, re.IGNORECASE)] for term in terms]
    if not all(places):
        return ()
    spans: list[tuple[int, int]] = []
    for low, high in sorted(span for found in places for span in found):
        if spans and low < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(high, spans[-1][1]))
        else:
            spans.append((low, high))
    return tuple(spans)


_NO_HITS = SearchHits((), {}, lambda indexes: {})


def describe_answer(answer: SearchAnswer | SearchHits) -> Iterator[str]:
    if answer.is_cut:
        yield f"the search used only the first {MAX_QUERY_CHARACTERS:,} characters of the query"
    if answer.dropped:
        words = ", ".join(answer.dropped)
        yield f"the search ignored common words: {words}; put them in double quotes to find them as a phrase"
    if answer.is_loose:
        yield "no requirement contains every word; the results contain some of the words"


def find_named_requirements(catalogue: Catalogue, query: str, files: ProjectFiles) -> list[int]:
    name = query.strip()
    if not name:
        return []
    ##= man/spec/search.md#results
    ##% If a query is an id, a file, a `file:line`, a target, a section or a specification, `duvet search` MUST first
    ##% list the requirements that the query names.
    found = set(catalogue.find_named(name, range(len(catalogue.specifications))))
    specifications = set(match_specifications(catalogue, name, is_whole=True))
    sections: list[tuple[int, str]] = []
    for index, card in enumerate(catalogue.specifications):
        sections += zip(repeat(index), match_sections(card, name))
    if _ID.match(name):
        digits = name.lower()
        same = [index for index, id in enumerate(catalogue.ids) if id.startswith(digits)]
        found.update(same)
        if not same and len(digits) >= SHORT_ID_DIGITS:
            with suppress(NotFoundError):
                found.update(references.find_requirements_by_id(catalogue, name, files))
    resolvers: list[Callable[..., references.ResolvedReference | None]] = [references.resolve_place]
    # Only for these, because most queries are not references, and the suggestions in the error are slow.
    if "#" in name or "/specifications/" in name:
        resolvers.append(references.resolve_reference)
    for resolve in resolvers:
        with suppress(NotFoundError):
            match resolve(catalogue, name, files):
                case references.RequirementRef(indexes):
                    found.update(indexes)
                case references.CitationRef(numbers) | references.FileRef(_, numbers):
                    found.update(index for number in numbers for index in catalogue.citations[number].requirements)
                case references.SpecRef(specification):
                    specifications.add(specification)
                case references.SectionRef(specification, section):
                    sections.append((specification, section))
    for number, section in sections:
        for id in list_section_tree(catalogue.specifications[number], section):
            found.update(catalogue.stated.get((number, id), ()))
    if specifications:
        found.update(i for i, card in enumerate(catalogue.requirements) if card.specification in specifications)
    return sorted(found)


def is_reference(query: str) -> bool:
    """Return True if a query can only be a reference, so that searching for its words makes no sense."""
    return _REFERENCE.match(query.strip()) is not None


def suggest_similar(catalogue: Catalogue, query: str, files: ProjectFiles) -> str:
    """Return a suggestion for an unknown word, or why a reference is not found; otherwise an empty string."""
    if len(query.split()) == 1:
        try:
            references.resolve_reference(catalogue, query, files)
        except NotFoundError as error:
            if is_reference(query):
                return "; ".join(filter(None, [error.message, error.hint]))
            ##= man/spec/search.md#results
            ##% If the query is a single unknown word, `duvet search` MUST suggest a similar word or name.
            from difflib import get_close_matches

            titles = (title for card in catalogue.specifications for title in (card.name, *card.titles.values()))
            texts = (*(card.text for card in catalogue.requirements), *titles)
            words = [*dict.fromkeys(word for text in texts for word in re.findall(_WORD, text.lower()))]
            word = query.strip().lower()
            if word not in words and (near := get_close_matches(word, words, 1, _SIMILARITY)):
                return f"did you mean {near[0]}?"
            if error.hint.endswith("?"):
                return error.hint
    return ""


class _CachedVectors(Struct, array_like=True):
    space: bytes
    rows: bytes
    sentences: dict[bytes, bytes] = {}


class RequirementVectors:
    def __init__(self, catalogue: Catalogue, memory: Cache, embedder: Embedder) -> None:
        titles = [one.titles for one in catalogue.specifications]
        self._texts = [
            f"{titles[card.specification].get(card.section, '')}\n{card.text}".strip()
            for card in catalogue.requirements
        ]
        self._embedder = embedder
        key = (embedder.name, digest_content(msgpack.encode(self._texts)))
        self._cached = memory.compute("vectors", _CachedVectors, key, lambda: self._compute(memory))

        # A damaged cache has no space; then use the space of the same texts, to which its rows belong.
        self._space = embedder.space(self._cached.space) or embedder.fitted(self._texts)
        self.share = self._space.share

    def _compute(self, memory: Cache) -> _CachedVectors:
        last = memory.load_last("vectors", _CachedVectors)
        known = self._embedder.sentences
        if known is not None and last is not None:
            known.update(last.sentences)
        space, count = self._embedder.fitted(self._texts), len(self._texts)
        return _CachedVectors(space.data, space.rows(self._texts), dict([*(known or {}).items()][-2 * count :]))

    def find_nearest(self, query: str, limit: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        return self._matrix.best(self._space.query(query), limit, allowed)

    @cached_property
    def _matrix(self) -> Matrix:
        from duvet.queries.vectors import make_matrix

        return make_matrix(self._space.width, self._cached.rows, len(self._texts))
