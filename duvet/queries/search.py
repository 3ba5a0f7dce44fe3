"""Searches requirements by name, words and meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, msgpack

from duvet.errors import NotFoundError, QueryError
from duvet.queries.embeddings import Embedder, VectorSpace
from duvet.queries.full_text import MatchSpans, RequirementIndex
from duvet.queries.gaps import RequirementFilter, select_requirements
from duvet.queries.records import RequirementRow, make_row_fields
from duvet.queries.references import (
    CitationRef,
    FileRef,
    RequirementRef,
    ResolvedReference,
    SectionRef,
    SpecRef,
    resolve_place,
    resolve_reference,
)
from duvet.store.records import VectorSegment
from duvet.trace.catalogue import Catalogue
from duvet.trace.locations import ProjectFiles
from duvet.trace.names import find_section, find_sections, match_whole_specifications
from duvet.tree.cache import ResultCache, make_cache_key
from duvet.tree.record import digest_content
from duvet.words import MAX_QUERY_CHARACTERS, make_storable, parse_query

if TYPE_CHECKING:
    from duvet.queries.vector_matrix import Matrix


_ID = re.compile(r"[0-9a-fA-F]{4,64}\Z")
_REFERENCE = re.compile(r"\S+(?:#\S+|:\d+)\Z|[0-9a-fA-F]{12,64}\Z")


def find_named_requirements(catalogue: Catalogue, query: str, files: ProjectFiles | None = None) -> list[int]:
    """Their indexes, in the order of the catalogue; with the files, lines of code that belong to an annotation count."""
    wanted = query.strip()
    ##= man/spec/search.md#results
    ##% `duvet search` MUST list the requirements that a query names by id, `file:line`, file, target, section or
    ##% specification before those that contain its words.
    return sorted({index for one in _meant(catalogue, wanted, files) for index in _requirements(catalogue, one)})


def is_reference(query: str) -> bool:
    """Whether a query can only be meant as a reference: words of it that stand somewhere are not what is looked for."""
    return _REFERENCE.match(query.strip()) is not None


def suggest_similar(catalogue: Catalogue, query: str, files: ProjectFiles) -> str:
    """What a single word may be meant to name, for people; nothing where there is nothing like it."""
    if len(query.split()) == 1:
        try:
            resolve_reference(catalogue, query, files)
        except NotFoundError as error:
            if is_reference(query):
                return "; ".join(filter(None, [error.message, error.hint]))
            if error.hint.endswith("?"):
                return error.hint
    return ""


def _meant(catalogue: Catalogue, wanted: str, files: ProjectFiles | None) -> Iterator[ResolvedReference]:
    if not wanted:
        return
    if _ID.match(wanted):
        digits = wanted.lower()
        yield RequirementRef(tuple([index for index, id in enumerate(catalogue.ids) if id.startswith(digits)]))
    # Most queries name nothing, and to look for what is near takes long.
    if "#" in wanted or "/specifications/" in wanted:
        with suppress(NotFoundError):
            yield resolve_reference(catalogue, wanted)
    yield from map(SpecRef, match_whole_specifications(catalogue, wanted))
    for index, card in enumerate(catalogue.specifications):
        section = find_section(card, wanted)
        if section is not None:
            yield SectionRef(index, section)
    with suppress(NotFoundError):
        place = resolve_place(catalogue, wanted, files)
        if place is not None:
            yield place


def _requirements(catalogue: Catalogue, found: ResolvedReference) -> Iterable[int]:
    match found:
        case RequirementRef(indexes):
            return indexes
        case CitationRef(indexes) | FileRef(_, indexes):
            return (index for number in indexes for index in catalogue.citations[number].requirements)
        case SpecRef(specification):
            return _where(catalogue, specification, catalogue.specifications[specification].titles)
        case SectionRef(specification, section):
            ##= man/spec/queries.md#filters
            ##% A filter for a numbered section MUST include the sections below it.
            below = find_sections(catalogue.specifications[specification], section)
            return _where(catalogue, specification, below)


def _where(catalogue: Catalogue, specification: int, sections: Iterable[str]) -> Iterable[int]:
    return (index for section in sections for index in catalogue.stated.get((specification, section), ()))


class _Kept(Struct, array_like=True):
    """What is kept between runs."""

    space: bytes
    rows: bytes


class RequirementVectors:
    """The vectors of the requirements of a catalogue."""

    def __init__(self, catalogue: Catalogue, memory: ResultCache, embedder: Embedder) -> None:
        self._texts = _texts(catalogue)
        self._embedder = embedder
        how = make_cache_key(embedder.name, digest_content(msgpack.encode(self._texts)))
        self._kept = memory.of_tree("vectors", _Kept, how, self._made)

    def _made(self) -> _Kept:
        space = self._embedder.fitted(self._texts)
        return _Kept(space.data, space.rows(self._texts))

    def nearest(self, query: str, limit: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """So many of those that are allowed, each with its cosine, the nearest first; None is all."""
        return self._matrix.best(self._space.query(query), limit, allowed)

    @cached_property
    def _space(self) -> VectorSpace:
        # Where what was kept is not what it says, the rows are of a space like this.
        return self._embedder.space(self._kept.space) or self._embedder.fitted(self._texts)

    @cached_property
    def _matrix(self) -> Matrix:
        from duvet.queries.vector_matrix import Matrix

        width = self._space.width
        return Matrix(width, [VectorSegment(tuple(range(len(self._texts))), self._kept.rows)])


def _texts(catalogue: Catalogue) -> list[str]:
    titles = [one.titles for one in catalogue.specifications]
    return [
        f"{titles[card.specification].get(card.section, '')}\n{card.text}".strip() for card in catalogue.requirements
    ]


_DEPTH = 100
"""So many of each ranking are looked at, or as many as are asked for."""


class SearchQuery(Struct, frozen=True):
    """What is asked for."""

    query: str
    wanted: RequirementFilter = RequirementFilter()
    is_raw: bool = False
    """Whether the query is an expression of FTS5."""
    limit: int = 0
    """0 is all."""


class HitRow(RequirementRow, frozen=True, kw_only=True):
    """A requirement that was found."""

    score: float | None
    """How well it matches, the more the better; None for one that is only named."""
    marks: MatchSpans
    """The stretches of the text that matched, in characters."""


class SearchAnswer(Struct, frozen=True):
    """What was found."""

    rows: tuple[HitRow, ...]
    total: int
    """How many there are without the limit."""
    is_loose: bool = False
    """Whether nothing has all the words, and these have some."""
    dropped: tuple[str, ...] = ()
    """Words of the query that every text is full of, where it has no others."""
    is_cut: bool = False
    """Whether the query was too long."""


class SearchHits(Struct, frozen=True):
    """What was found, before it is told."""

    indexes: Sequence[int]
    """The requirements: what the query names first, then what its words find, the best first."""
    scores: Mapping[int, float]
    marks: Callable[[Sequence[int]], Mapping[int, MatchSpans]]
    """Which stretches of some sentences match."""
    is_loose: bool = False
    dropped: tuple[str, ...] = ()
    is_cut: bool = False


class _Matches(Struct, frozen=True):
    """What the words of a query found."""

    marks: Callable[[Sequence[int]], Mapping[int, MatchSpans]]
    scores: Mapping[int, float]
    """The requirements that match, the best first."""
    is_loose: bool = False


def search_requirements(
    catalogue: Catalogue,
    asked: SearchQuery,
    memory: ResultCache,
    files: ProjectFiles | None = None,
    embedder: Embedder | None = None,
) -> SearchAnswer:
    """The requirements that a query finds, with a model by their meaning, too; QueryError for one that can't be
    understood."""
    meanings = None if embedder is None else partial(_meanings, catalogue, memory, embedder)
    found = find_hits(catalogue, asked, lambda: RequirementIndex(catalogue, memory), files, meanings)
    shown = found.indexes[: asked.limit or None]
    marks = found.marks(shown)
    rows = tuple(
        HitRow(
            **make_row_fields(catalogue, catalogue.requirements[index]),
            score=found.scores.get(index),
            marks=marks.get(index, ()),
        )
        for index in shown
    )
    return SearchAnswer(rows, len(found.indexes), found.is_loose, found.dropped, found.is_cut)


def find_hits(
    catalogue: Catalogue,
    asked: SearchQuery,
    index: Callable[[], RequirementIndex],
    files: ProjectFiles | None = None,
    meanings: Callable[[], RequirementVectors] | None = None,
) -> SearchHits:
    """The same, for those who keep the index, whatever the limit is."""
    allowed = _allowed(catalogue, asked.wanted)
    if asked.is_raw:
        found = _found(index(), [make_storable(asked.query)], allowed)
        return SearchHits([*found.scores], found.scores, found.marks)
    query = parse_query(asked.query)
    first = [one for one in find_named_requirements(catalogue, asked.query, files) if one in allowed]
    if not (query.terms or query.dropped or first):
        ##= man/spec/search.md#queries
        ##% `duvet search` MUST refuse a query without words, one that `--raw` cannot parse, and `--raw` together with
        ##% `--semantic`.
        raise QueryError("the query has no word in it", hint="give a word, an id, file:line or spec#section")
    found = _NOTHING
    means_words = not is_reference(asked.query)
    if query.terms and means_words and meanings is not None:
        depth = max(asked.limit, _DEPTH) if asked.limit else len(catalogue.requirements)
        near = meanings().nearest(
            asked.query[:MAX_QUERY_CHARACTERS], depth, None if asked.wanted == RequirementFilter() else sorted(allowed)
        )
        found = _with_near(_found(index(), [query.some_of_it], allowed), near, depth)
    elif query.terms:
        ##= man/spec/search.md#queries
        ##% `duvet search` MUST find the requirements that contain every word or, if there are none, those that contain
        ##% any word, and then say so.
        wants_all = bool(first) or not means_words
        expressions = [query.all_of_it] if wants_all else [query.all_of_it, query.some_of_it]
        found = _found(index(), expressions, allowed)
    ##= man/spec/search.md#queries
    ##% `duvet search` MUST ignore very common words, but not the keywords of RFC 2119, and say so when a query has no
    ##% others.
    dropped = () if query.terms or first else query.dropped
    every = [*dict.fromkeys([*first, *found.scores])]
    return SearchHits(every, found.scores, found.marks, found.is_loose, dropped, query.is_cut)


def describe_answer(answer: SearchAnswer | SearchHits) -> Iterator[str]:
    """What is to say of an answer, in sentences without an end."""
    ##= man/spec/search.md#queries
    ##% `duvet search` MUST say how much of a long query it uses, and when Python's sqlite lacks FTS5.
    if answer.is_cut:
        yield f"only the first {MAX_QUERY_CHARACTERS:,} characters of the query count"
    if answer.dropped:
        words = ", ".join(answer.dropped)
        yield f'words as common as these don\'t count: {words}; put them in "…" to find them as a phrase'
    if answer.is_loose:
        yield "nothing has all words; these have some"


def _meanings(catalogue: Catalogue, memory: ResultCache, embedder: Embedder) -> RequirementVectors:
    # Most searches are for words alone.
    return RequirementVectors(catalogue, memory, embedder)


def _allowed(catalogue: Catalogue, wanted: RequirementFilter) -> Collection[int]:
    """The requirements that may be found."""
    return (
        range(len(catalogue.requirements))
        if wanted == RequirementFilter()
        else set(select_requirements(catalogue, wanted))
    )


def _found(index: RequirementIndex, expressions: Sequence[str], allowed: Container[int]) -> _Matches:
    """What the first expression finds that finds anything."""
    for number, expression in enumerate(expressions):
        scores = {one: score for one, score in index.matches(expression).items() if one in allowed}
        if scores:
            return _Matches(partial(index.marks, expression), scores, is_loose=number > 0)
    return _NOTHING


def _with_near(found: _Matches, near: Sequence[tuple[int, float]], depth: int) -> _Matches:
    """What words found, together with what is near in meaning."""
    ##= man/spec/search.md#queries
    ##% With `--semantic`, `duvet search` MUST rank requirements by their words and their vectors, and find references
    ##% as without it.
    return _Matches(
        found.marks, fuse_rankings([compute_shares([*found.scores.items()][:depth], 2), compute_shares(near, 2)])
    )


_NOTHING = _Matches(lambda indexes: {}, {})


_Item = TypeVar("_Item", bound=Hashable)

_LEVEL = 60
"""How little the first places stand out: the more, the more it counts in how many rankings something stands."""


def compute_shares(ranking: Sequence[tuple[_Item, object]], rankings: int = 1) -> dict[_Item, float]:
    """What the places in one of so many rankings are worth, where first places in all of them are 1.

    Each item comes with what it is ranked by; where that is equal, they share a place.
    """
    worth: dict[_Item, float] = {}
    place, before = 0, None
    for rank, (item, by) in enumerate(ranking):
        if by != before:
            place, before = rank, by
        worth[item] = (_LEVEL + 1) / (_LEVEL + 1 + place) / rankings
    return worth


def fuse_rankings(worths: Sequence[Mapping[_Item, float]]) -> dict[_Item, float]:
    """What stands in any of the rankings, by the sum of what its places are worth, the best first."""
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST rank chunks by the sum of their reciprocal ranks by words and by vectors, or with
    ##% `sort_by_vector` by vectors alone.
    scores: dict[_Item, float] = {}
    for worth in worths:
        for item, value in worth.items():
            scores[item] = scores.get(item, 0.0) + value
    # Equal ones stay in the order of the first ranking: sorting leaves it.
    return {item: scores[item] for item in sorted(scores, key=scores.__getitem__, reverse=True)}
