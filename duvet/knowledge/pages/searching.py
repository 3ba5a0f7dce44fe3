"""Searches in pages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from msgspec import Struct

from duvet.knowledge.pages.index import Index
from duvet.knowledge.pages.records import Page
from duvet.knowledge.pages.words import flat

MOST = 20
_MOST_WORDS = 32
_BEFORE, _AFTER = 50, 100


class Hit(Struct, frozen=True):
    """A page that was found."""

    slug: str
    title: str
    excerpt: str


def search(index: Index, query: str) -> list[Hit]:
    """The pages that hold every word of the query, be it as a part of another, the best first."""
    phrase = flat(query)
    words = tuple(dict.fromkeys(phrase.split(" ")))[:_MOST_WORDS]
    ##= man/spec/pages.md#search
    ##% `search` MUST find the pages that hold every word of the query in their title or their text, whatever its case,
    ##% also as a part of a longer word.
    paths = index.holding(words[0])
    for word in words[1:]:
        paths &= index.holding(word)
    hits: list[Hit] = []
    for page in _best(index, paths, phrase, words):
        ##= man/spec/pages.md#search
        ##% No more than 20 pages MUST be answered.
        if len(hits) == MOST:
            break
        text = index.read(page)
        # It may have gone a moment ago.
        if text is not None:
            hits.append(Hit(page.slug, page.title, excerpt(text, phrase, words)))
    return hits


def _best(index: Index, paths: set[str], phrase: str, words: Sequence[str]) -> Iterator[Page]:
    """These pages; those that nobody asks for are not looked into."""
    ##= man/spec/pages.md#search
    ##% Pages with the words in their title MUST come before others, and pages with the words as they stand in the query
    ##% before those that have them apart; others come the newest first.
    called: list[Page] = []
    phrased: list[Page] = []
    titled: list[Page] = []
    others: list[Page] = []
    for title, page in index.titled(paths):
        if phrase in title:
            (called if phrase == title else phrased).append(page)
        else:
            (titled if all(word in title for word in words) else others).append(page)
    yield from called
    yield from phrased
    yield from titled
    yield from _exact_first(index, others, phrase) if len(words) > 1 else others


def _exact_first(index: Index, pages: list[Page], phrase: str) -> Iterator[Page]:
    apart: list[Page] = []
    for page in pages:
        if index.has_phrase(page, phrase):
            yield page
        else:
            apart.append(page)
    yield from apart


def excerpt(text: str, phrase: str, words: Sequence[str]) -> str:
    """What stands around the hit in a text, or how it begins where there is none in it."""
    ##= man/spec/pages.md#search
    ##% Each result MUST have an excerpt that shows the hit with up to 50 characters before it and 100 after it, and `...`
    ##% where it is cut.
    shown = text if text.isascii() else unicodedata.normalize("NFC", text)
    start, end = _hit(shown, phrase, words)
    first, last = max(start - _BEFORE, 0), min(end + _AFTER, len(shown))
    if start == end:
        first, last = 0, min(_BEFORE + _AFTER, len(shown))
    return f"{'...' if first else ''}{shown[first:last]}{'...' if last < len(shown) else ''}"


def _hit(text: str, phrase: str, words: Sequence[str]) -> tuple[int, int]:
    spaced = r"\s+".join(map(re.escape, phrase.split(" ")))
    for wanted in (spaced, "|".join(map(re.escape, words))):
        if found := re.search(wanted, text, re.IGNORECASE):
            return found.span()
    return 0, 0
