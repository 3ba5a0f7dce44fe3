"""One search: what the query names first, then what its words find."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from duvet.cache.memory import Memory
from duvet.errors import QueryError
from duvet.queries.catalogue import Catalogue
from duvet.queries.filters import Filter, selected
from duvet.queries.places import Files
from duvet.queries.rows import RequirementRow, fields_of
from duvet.search.index import Index, Spans
from duvet.search.named import is_reference, named
from duvet.search.query import parsed, storable


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
    """How well its words match, the more the better; None for one that is only named."""
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


class _Found(Struct, frozen=True):
    """What the words of a query found."""

    marks: Callable[[Sequence[int]], Mapping[int, Spans]]
    """Which stretches of some sentences match."""
    scores: Mapping[int, float]
    """The requirements that match, the best first."""
    is_loose: bool = False


def search(catalogue: Catalogue, asked: Search, memory: Memory, files: Files | None = None) -> Answer:
    """The requirements that a query finds; QueryError for one that can't be understood."""
    allowed = set(selected(catalogue, asked.wanted))
    if asked.is_raw:
        return _answer(catalogue, asked, [], _found(Index(catalogue, memory), [storable(asked.query)], allowed))
    query = parsed(asked.query)
    first = [index for index in named(catalogue, asked.query, files) if index in allowed]
    if not (query.terms or query.dropped or first):
        ##= man/spec/search.md#queries
        ##% A query without a word MUST be refused, and so MUST one after `--raw` that the search engine can't read.
        raise QueryError("the query has no word in it", hint="give a word, an id, file:line or spec#section")
    found = _NOTHING
    if query.terms:
        ##= man/spec/search.md#queries
        ##% Each result MUST hold every word of the query; where there is none, duvet MUST find what holds any of them,
        ##% and say so.
        wants_all = bool(first) or is_reference(asked.query)
        expressions = [query.all_of_it] if wants_all else [query.all_of_it, query.some_of_it]
        found = _found(Index(catalogue, memory), expressions, allowed)
    answer = _answer(catalogue, asked, first, found)
    ##= man/spec/search.md#queries
    ##% Words that every text is full of MUST NOT count; where a query has no others, duvet MUST say so.
    return replace(answer, dropped=() if query.terms or first else query.dropped, is_cut=query.is_cut)


def _found(index: Index, expressions: Sequence[str], allowed: Container[int]) -> _Found:
    """What the first expression finds that finds anything."""
    for number, expression in enumerate(expressions):
        scores = {one: score for one, score in index.matches(expression).items() if one in allowed}
        if scores:
            return _Found(partial(index.marks, expression), scores, is_loose=number > 0)
    return _NOTHING


_NOTHING = _Found(lambda indexes: {}, {})


def _answer(catalogue: Catalogue, asked: Search, first: Sequence[int], found: _Found) -> Answer:
    every = [*dict.fromkeys([*first, *found.scores])]
    shown = every[: asked.limit or None]
    marks = found.marks(shown)
    rows = tuple(
        HitRow(
            **fields_of(catalogue, catalogue.requirements[index]),
            score=found.scores.get(index),
            marks=marks.get(index, ()),
        )
        for index in shown
    )
    return Answer(rows, len(every), found.is_loose)
