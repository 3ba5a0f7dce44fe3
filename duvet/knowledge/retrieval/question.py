"""What is looked for."""

from __future__ import annotations

from msgspec import Struct

from duvet.knowledge.retrieval.asking import filters_of, limit_of
from duvet.knowledge.retrieval.naming import names_in
from duvet.knowledge.retrieval.records import MOST, Asked
from duvet.search.query import STOP_WORDS
from duvet.store.records import Filters
from duvet.store.words import MOST_CHARACTERS, MOST_WORDS, asked_words, indexed

_CUT = f"only the first {MOST_CHARACTERS:,} characters and {MOST_WORDS} words of the query count"


class Question(Struct, frozen=True, kw_only=True):
    """What counts of what was asked."""

    text: str
    terms: tuple[str, ...]
    """Its words, without those that every text is full of as long as there are others."""
    parts: tuple[str, ...]
    """The same, what names with capitals inside are composed of, and names with underlines as one word."""
    names: tuple[str, ...]
    """What may be the name of a file or of a symbol."""
    is_name: bool
    """Whether that is all."""
    filters: Filters
    limit: int
    warnings: tuple[str, ...]


def question(asked: Asked, now: float) -> Question:
    """What counts of it."""
    text = asked.query[:MOST_CHARACTERS]
    words, is_cut = asked_words(asked.query)
    ##= man/spec/knowledge.md#search
    ##% Words that every text is full of MUST NOT count, unless the query has no others.
    terms = [word for word in words if word not in STOP_WORDS] or words
    parts = [word for word in indexed(text) if word not in STOP_WORDS]
    warnings = []
    ##= man/spec/knowledge.md#search
    ##% Of a query that is too long the beginning MUST count, and a warning MUST say so.
    if is_cut:
        warnings.append(_CUT)
    if not words:
        warnings.append("the query has no word in it")
    if asked.limit > MOST:
        warnings.append(f"no more than {MOST} results are answered")
    names = names_in(text)
    return Question(
        text=text,
        names=names,
        is_name=len(names) == 1 and text.strip() == names[0],
        terms=tuple(terms),
        parts=tuple(dict.fromkeys([*terms, *parts]))[:MOST_WORDS],
        filters=filters_of(asked.filters, now),
        limit=limit_of(asked),
        warnings=tuple(warnings),
    )
