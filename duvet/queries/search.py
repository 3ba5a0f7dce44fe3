"""Searches requirements by name, by words in an index (SQLite FTS5) and by meaning, and blends the scores."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property, partial
from itertools import islice, repeat
from math import log
from typing import TYPE_CHECKING, Any
from weakref import finalize

from msgspec import Struct, msgpack

from duvet.errors import DuvetError, QueryError
from duvet.queries.records import RequirementFilter, RequirementRow, make_row_fields, select_requirements
from duvet.trace import locations
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue
from duvet.trace.locations import ProjectFiles
from duvet.tree.cache import Cache
from duvet.tree.recorder import digest_content
from duvet.words import MAX_QUERY_CHARACTERS, STOP_WORDS

if TYPE_CHECKING:
    from sqlite3 import Connection

    from duvet.queries.embeddings import Embedder
    from duvet.queries.vectors import RequirementVectors

# Everything else is a boundary, so a term never ends a string of the search engine.
_TERM = re.compile(r"[\"“„](?P<phrase>[^\"“”„]*)[\"”]|(?P<word>[^\s\x00-\x20!\"#$%&()*,;<=>?@\[\\\]^`{|}~“”„]+)")
_INSIGNIFICANT = STOP_WORDS | {""}
_JOINTS = re.compile(r"[-_./:'\u2019+]+")
_ENDING = re.compile(r"['\u2019](?:s|t|d|m|re|ve|ll)\Z", re.IGNORECASE)


class Query(Struct, frozen=True):
    terms: tuple[str, ...]
    phrases: frozenset[str]  # The quoted terms.
    dropped: tuple[str, ...]  # The stop words in the query.
    is_cut: bool

    @property
    def conjunction(self) -> str:
        return " ".join(map(quote_term, self.terms))

    @property
    def words(self) -> Sequence[str]:
        words: dict[str, None] = {}
        for term in self.terms:
            for word in [term] if term in self.phrases else _JOINTS.split(term):
                if term in self.phrases or word not in _INSIGNIFICANT:
                    words[word] = None
        return list(words)

    @property
    def disjunction(self) -> str:
        return " OR ".join(map(quote_term, self.words))


def make_storable(text: str) -> str:
    return text.replace("\0", " ").encode(errors="replace").decode()


def parse_query(text: str) -> Query:
    terms: dict[str, None] = {}
    phrases: list[str] = []
    dropped: dict[str, None] = {}
    for match in _TERM.finditer(text[:MAX_QUERY_CHARACTERS]):
        typed = make_storable(match["word"] or match["phrase"] or "").strip().lower()
        term = _ENDING.sub("", typed)
        if not any(map(str.isalnum, term)):
            continue
        if match["word"] is None:
            phrases.append(term)
        elif _INSIGNIFICANT.issuperset(_JOINTS.split(term)):
            dropped[typed] = None
            continue
        terms[term] = None
    return Query(tuple(terms), frozenset(phrases), tuple(dropped), len(text) > MAX_QUERY_CHARACTERS)


def quote_term(term: str) -> str:
    ##= man/spec/search.md#queries
    ##% Unless `--raw` is given, `duvet search` MUST read a query as words, not in the syntax of the search engine.
    # Terms contain no double quotes, and FTS5 reads everything between them as text.
    return f'"{term}"'


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
    """Any thread may use an index, but only one at a time."""

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
        f"search can't use Python's sqlite: {reason}",
        hint="run duvet with a Python whose sqlite has FTS5 and `Connection.serialize`",
    )


def blend_scores(by_words: Mapping[int, float], by_vectors: Mapping[int, float], share: float) -> dict[int, float]:
    scores = {item: score * (1 - share) for item, score in by_words.items()}
    for item, cosine in by_vectors.items():
        scores[item] = scores.get(item, 0.0) + cosine * share
    return {item: scores[item] for item in sorted(scores, key=scores.__getitem__, reverse=True)}


_ID = re.compile(r"[0-9a-fA-F]{4,64}\Z")
_UNSPACED = r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]"
_DEPTH = 100  # Minimum number of hits to keep after blending.


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
    rows: tuple[HitRow, ...]
    total: int  # The number of matches, of which `rows` may contain only the first.
    is_loose: bool = False
    dropped: tuple[str, ...] = ()
    is_cut: bool = False


def search_requirements(
    catalogue: Catalogue, request: SearchQuery, memory: Cache, files: ProjectFiles, embedder: Embedder | None = None
) -> SearchAnswer:
    """Raise QueryError if the query has no words or is invalid."""
    vectors = None
    if embedder is not None:
        from duvet.queries.vectors import RequirementVectors

        vectors = partial(RequirementVectors, catalogue, memory, embedder)
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
    if query.terms and vectors is not None and not locations.is_reference(request.query):
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
        needs_all = bool(named) or locations.is_reference(request.query)
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
    specifications = set(locations.match_specifications(catalogue, name, is_whole=True))
    sections: list[tuple[int, str]] = []
    for index, card in enumerate(catalogue.specifications):
        sections += zip(repeat(index), locations.match_sections(card, name))
    cited, is_unknown_id = (
        list(locations.find_annotations_in_file(catalogue, locations.list_possible_paths(name, files.root))),
        False,
    )
    if _ID.match(name):
        same = [index for index, id in enumerate(catalogue.ids) if id.startswith(name.lower())]
        found.update(same)
        is_unknown_id = not same and len(name) >= SHORT_ID_DIGITS
    # Most queries are only words.
    if is_unknown_id or "#" in name or "/specifications/" in name or (not cited and locations.parse_file_line(name)):
        from duvet.queries import references

        for one in references.list_named(catalogue, name, files):
            match one:
                case references.RequirementRef(indexes):
                    found.update(indexes)
                case references.CitationRef(numbers) | references.FileRef(_, numbers):
                    cited += numbers
                case references.SpecRef(specification):
                    specifications.add(specification)
                case references.SectionRef(specification, section):
                    sections.append((specification, section))
    for number in cited:
        found.update(catalogue.citations[number].requirements)
    for number, section in sections:
        for id in locations.list_section_tree(catalogue.specifications[number], section):
            found.update(catalogue.stated.get((number, id), ()))
    if specifications:
        found.update(i for i, card in enumerate(catalogue.requirements) if card.specification in specifications)
    return sorted(found)
