"""One search: what the query names first, then what its words find."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.cache.memory import Memory
from duvet.errors import QueryError
from duvet.queries.catalogue import Catalogue
from duvet.queries.filters import Filter, selected
from duvet.queries.places import Files
from duvet.queries.rows import RequirementRow, fields_of
from duvet.search.index import Index, Spans
from duvet.search.named import is_reference, named
from duvet.search.query import MOST, parsed, storable

if TYPE_CHECKING:
    from duvet.search.semantic import Meanings
    from duvet.search.vectors.protocol import Embedder

_DEPTH = 100
"""So many of each ranking are looked at, or as many as are asked for."""


class Search(Struct, frozen=True):
    """What is asked for."""

    query: str
    wanted: Filter = Filter()
    is_raw: bool = False
    """Whether the query is an expression of FTS5."""
    limit: int = 0
    """0 is all."""


class HitRow(RequirementRow, frozen=True, kw_only=True):
    """A requirement that was found."""

    score: float | None
    """How well it matches, the more the better; None for one that is only named."""
    marks: Spans
    """The stretches of the text that matched, in characters."""


class Answer(Struct, frozen=True):
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


class Hits(Struct, frozen=True):
    """What was found, before it is told."""

    indexes: Sequence[int]
    """The requirements: what the query names first, then what its words find, the best first."""
    scores: Mapping[int, float]
    marks: Callable[[Sequence[int]], Mapping[int, Spans]]
    """Which stretches of some sentences match."""
    is_loose: bool = False
    dropped: tuple[str, ...] = ()
    is_cut: bool = False


class _Matches(Struct, frozen=True):
    """What the words of a query found."""

    marks: Callable[[Sequence[int]], Mapping[int, Spans]]
    scores: Mapping[int, float]
    """The requirements that match, the best first."""
    is_loose: bool = False


def search(
    catalogue: Catalogue, asked: Search, memory: Memory, files: Files | None = None, embedder: Embedder | None = None
) -> Answer:
    """The requirements that a query finds, with a model by their meaning, too; QueryError for one that can't be
    understood."""
    meanings = None if embedder is None else partial(_meanings, catalogue, memory, embedder)
    found = hits(catalogue, asked, lambda: Index(catalogue, memory), files, meanings)
    shown = found.indexes[: asked.limit or None]
    marks = found.marks(shown)
    rows = tuple(
        HitRow(
            **fields_of(catalogue, catalogue.requirements[index]),
            score=found.scores.get(index),
            marks=marks.get(index, ()),
        )
        for index in shown
    )
    return Answer(rows, len(found.indexes), found.is_loose, found.dropped, found.is_cut)


def hits(
    catalogue: Catalogue,
    asked: Search,
    index: Callable[[], Index],
    files: Files | None = None,
    meanings: Callable[[], Meanings] | None = None,
) -> Hits:
    """The same, for those who keep the index, whatever the limit is."""
    allowed = _allowed(catalogue, asked.wanted)
    if asked.is_raw:
        found = _found(index(), [storable(asked.query)], allowed)
        return Hits([*found.scores], found.scores, found.marks)
    query = parsed(asked.query)
    first = [one for one in named(catalogue, asked.query, files) if one in allowed]
    if not (query.terms or query.dropped or first):
        ##= man/spec/search.md#queries
        ##% A query without a word MUST be refused, and so MUST one after `--raw` that the search engine can't read.
        raise QueryError("the query has no word in it", hint="give a word, an id, file:line or spec#section")
    found = _NOTHING
    ##= man/spec/search.md#meaning
    ##% `--semantic` MUST NOT change what a reference finds.
    means_words = not is_reference(asked.query)
    if query.terms and means_words and meanings is not None:
        depth = max(asked.limit, _DEPTH) if asked.limit else len(catalogue.requirements)
        near = meanings().nearest(asked.query[:MOST], depth, None if asked.wanted == Filter() else sorted(allowed))
        found = _with_near(_found(index(), [query.some_of_it], allowed), near, depth)
    elif query.terms:
        ##= man/spec/search.md#queries
        ##% Without `--semantic`, each result MUST hold every word of the query; where there is none, duvet MUST find what
        ##% holds any of them, and say so.
        wants_all = bool(first) or not means_words
        expressions = [query.all_of_it] if wants_all else [query.all_of_it, query.some_of_it]
        found = _found(index(), expressions, allowed)
    ##= man/spec/search.md#queries
    ##% Words that every text is full of MUST NOT count; where a query has no others, duvet MUST say so.
    dropped = () if query.terms or first else query.dropped
    every = [*dict.fromkeys([*first, *found.scores])]
    return Hits(every, found.scores, found.marks, found.is_loose, dropped, query.is_cut)


def notes_on(answer: Answer | Hits) -> Iterator[str]:
    """What is to say of an answer, in sentences without an end."""
    ##= man/spec/search.md#queries
    ##% Of a query that is too long, duvet MUST say how much of it counts.
    if answer.is_cut:
        yield f"only the first {MOST:,} characters of the query count"
    if answer.dropped:
        words = ", ".join(answer.dropped)
        yield f'words as common as these don\'t count: {words}; put them in "…" to find them as a phrase'
    if answer.is_loose:
        yield "nothing has all words; these have some"


def _meanings(catalogue: Catalogue, memory: Memory, embedder: Embedder) -> Meanings:
    # Most searches are for words alone.
    from duvet.search.semantic import Meanings

    return Meanings(catalogue, memory, embedder)


def _allowed(catalogue: Catalogue, wanted: Filter) -> Collection[int]:
    """The requirements that may be found."""
    return range(len(catalogue.requirements)) if wanted == Filter() else set(selected(catalogue, wanted))


def _found(index: Index, expressions: Sequence[str], allowed: Container[int]) -> _Matches:
    """What the first expression finds that finds anything."""
    for number, expression in enumerate(expressions):
        scores = {one: score for one, score in index.matches(expression).items() if one in allowed}
        if scores:
            return _Matches(partial(index.marks, expression), scores, is_loose=number > 0)
    return _NOTHING


def _with_near(found: _Matches, near: Sequence[tuple[int, float]], depth: int) -> _Matches:
    """What words found, together with what is near in meaning."""
    from duvet.search.fusion import fused, shares

    ##= man/spec/search.md#meaning
    ##% With `--semantic`, requirements MUST be found by any of the words of the query and by vectors of their titles and
    ##% texts, and be ranked by both.
    return _Matches(found.marks, fused([shares([*found.scores.items()][:depth], 2), shares(near, 2)]))


_NOTHING = _Matches(lambda indexes: {}, {})
