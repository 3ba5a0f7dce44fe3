"""Searches pages by words."""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from duvet.knowledge.pages.catalogue import PageCollection, PageStore
from duvet.knowledge.pages.page import Page
from duvet.words import compose, parse_query

_END = "\n"


def fold_text(text: str) -> str:
    """The text as it is compared: without case, and with one spelling for each character."""
    return compose(text).lower()


def flatten_text(text: str) -> str:
    """The same with one blank between words."""
    return " ".join(fold_text(text).split())


class WordIndex:
    """The words of numbered texts that are folded. Everything between blanks is a word, so that no part of a text is missed."""

    def __init__(self, texts: Iterable[tuple[int, str]]) -> None:
        found: dict[str, array[int]] = {}
        self.count = 0
        for number, text in texts:
            self.count += 1
            for word in set(text.split()):
                numbers = found.get(word)
                if numbers is None:
                    found[word] = array("I", (number,))
                else:
                    numbers.append(number)
        self._numbers = list(found.values())
        self._all = _END.join(["", *found, ""])
        self._starts = array("Q")
        at = 1
        for word in found:
            self._starts.append(at)
            at += len(word) + 1

    def holding(self, part: str) -> set[int]:
        """The texts with a word that has this in it, which is folded and has no blank in it."""
        return self._found(part, part)

    def beginning(self, part: str) -> set[int]:
        """Those with a word that begins so."""
        return self._found(_END + part, part)

    def _found(self, wanted: str, part: str) -> set[int]:
        found: set[int] = set()
        at = self._all.find(wanted) if part else -1
        while at >= 0 and len(found) < self.count:
            start = at + len(wanted) - len(part)
            found.update(self._numbers[bisect_right(self._starts, start) - 1])
            at = self._all.find(wanted, self._all.index(_END, start))
        return found


PageReader = Callable[[Page], str | None]
"""The text of a page; None where it is gone."""

_MOST_CHANGED = 200
"""When more pages than these have changed, all are gone through again."""
_MOST_KEPT = 64 << 20
"""So many bytes of texts are kept; others are read again where words are looked for as they stand."""


class _Base(Struct, frozen=True):
    """The pages as they were when all were gone through."""

    shelf: PageStore
    paths: list[str]
    words: WordIndex
    texts: dict[str, bytes]
    """Folded, by their paths."""

    def changed_in(self, shelf: PageStore) -> list[str]:
        """The files that are not as they were then."""
        rows, before = shelf.rows, self.shelf.rows
        found = [path for path, (_, parsed) in rows.items() if path not in before or before[path][1] is not parsed]
        return [*found, *(path for path in before if path not in rows)]


class PageIndex:
    """All pages, and which of them hold what."""

    def __init__(self, notes: PageCollection, read: PageReader, earlier: PageIndex | None = None) -> None:
        self.notes = notes
        self.read = read
        kept = _kept(notes, earlier) if earlier else None
        self._base = kept or self._gone_through()
        self._stale = frozenset(self._base.changed_in(notes.shelf))
        changed = [page for page in notes.pages if page.path in self._stale]
        self._recent = {page.path: self._text(page) for page in changed}

    def _gone_through(self) -> _Base:
        texts: dict[str, bytes] = {}

        def kept() -> Iterator[str]:
            room = _MOST_KEPT
            for page in self.notes.pages:
                text = self._text(page)
                data = text.encode()
                if len(data) <= room:
                    room -= len(data)
                    texts[page.path] = data
                yield text

        shelf = self.notes.shelf
        return _Base(shelf, [page.path for page in shelf.pages], WordIndex(enumerate(kept())), texts)

    def _text(self, page: Page) -> str:
        # No phrase goes over the end of a title.
        return f"{flatten_text(page.title)}\n{flatten_text(self.read(page) or '')}"

    def has_phrase(self, page: Page, phrase: str) -> bool:
        """Whether it has these words as they stand, with one blank between them."""
        if page.path in self._stale:
            return phrase in self._recent[page.path]
        text = self._base.texts.get(page.path)
        return phrase in self._text(page) if text is None else phrase.encode() in text

    def holding(self, part: str) -> set[str]:
        """The paths of the pages that have this in a word."""
        return {
            *self._current(self._base.words.holding(part)),
            *(path for path, text in self._recent.items() if part in text),
        }

    def beginning(self, part: str) -> set[str]:
        """The paths of those with a word that begins so."""
        recent = (path for path, text in self._recent.items() if any(one.startswith(part) for one in text.split()))
        return {*self._current(self._base.words.beginning(part)), *recent}

    def _current(self, numbers: Iterable[int]) -> set[str]:
        paths = self._base.paths
        return {paths[number] for number in numbers} - self._stale

    def of(self, paths: set[str]) -> list[Page]:
        """These pages, the newest first."""
        return [page for page in self.notes.pages if page.path in paths]

    def titled(self, paths: set[str]) -> list[tuple[str, Page]]:
        """These pages, the newest first, with their titles as they are compared."""
        places = self._places
        return [self._titles[place] for place in sorted(places[path] for path in paths if path in places)]

    @cached_property
    def _titles(self) -> list[tuple[str, Page]]:
        return [(fold_text(page.title), page) for page in self.notes.pages]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {page.path: place for place, page in enumerate(self.notes.pages)}


def _kept(notes: PageCollection, earlier: PageIndex) -> _Base | None:
    """What is known already, as long as few pages have changed since."""
    base = earlier._base
    return base if len(base.changed_in(notes.shelf)) <= _MOST_CHANGED else None


MAX_PAGE_HITS = 20
_MOST_WORDS = 32
_BEFORE, _AFTER = 50, 100


class PageHit(Struct, frozen=True):
    """A page that was found."""

    slug: str
    title: str
    excerpt: str


def search_pages(index: PageIndex, query: str) -> list[PageHit]:
    """The pages that hold every word of the query, be it as a part of another, the best first."""
    phrase = flatten_text(query)
    words = tuple(dict.fromkeys(phrase.split(" ")))[:_MOST_WORDS]
    ##= man/spec/pages.md#tools
    ##% `search` MUST find up to 20 pages that contain every word of the query, in any case and also inside longer
    ##% words.
    paths = index.holding(words[0])
    for word in words[1:]:
        paths &= index.holding(word)
    hits: list[PageHit] = []
    for page in _best(index, paths, phrase, words):
        if len(hits) == MAX_PAGE_HITS:
            break
        text = index.read(page)
        # It may have gone a moment ago.
        if text is not None:
            hits.append(PageHit(page.slug, page.title, make_excerpt(text, phrase, words)))
    return hits


def _best(index: PageIndex, paths: set[str], phrase: str, words: Sequence[str]) -> Iterator[Page]:
    """These pages; those that nobody asks for are not looked into."""
    ##= man/spec/pages.md#tools
    ##% `search` MUST list matches in the title first, then those of the exact phrase, then the newest, each with an
    ##% excerpt around the match.
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


def _exact_first(index: PageIndex, pages: list[Page], phrase: str) -> Iterator[Page]:
    apart: list[Page] = []
    for page in pages:
        if index.has_phrase(page, phrase):
            yield page
        else:
            apart.append(page)
    yield from apart


def make_excerpt(text: str, phrase: str, words: Sequence[str]) -> str:
    """What stands around the hit in a text, or how it begins where there is none in it."""
    shown = compose(text)
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


MAX_RELEVANT_PAGES = 5
_ROOM = 1_200
"""So many characters of a page are told."""
_MOST_TERMS = 40
_ENDING = re.compile(r"(?:ies|ing|ed|es|e|s|y)\Z")
_SHORTEST = 3
_ANYWHERE = 4
"""Shorter ones are parts of too many words."""
_IN_TITLE = 3.0
_MOST_PASSAGES = 2_000
_SPLIT = re.compile(r"[^\w]+")
_PARAGRAPH = re.compile(r"\n\s*\n")


def find_relevant_pages(index: PageIndex, question: str) -> list[Page]:
    """The pages that hold the most telling words of a question, the best first."""
    stems = extract_stems(question)
    scores: dict[str, float] = {}
    total = len(index.notes.pages)
    for stem in stems:
        paths = index.holding(stem) if len(stem) >= _ANYWHERE else index.beginning(stem)
        # A word that every page has tells nothing, but in a small project that may be all there is.
        weight = math.log(1 + total / len(paths)) if paths else 0.0
        for path in paths:
            scores[path] = scores.get(path, 0.0) + weight
    pages = index.of(set(scores))
    return sorted(pages, key=lambda page: -_score(page, scores[page.path], stems))[:MAX_RELEVANT_PAGES]


def _score(page: Page, score: float, stems: tuple[str, ...]) -> float:
    words = fold_text(page.title).split()
    return score + _IN_TITLE * sum(any(word.startswith(stem) for word in words) for stem in stems)


def extract_stems(question: str) -> tuple[str, ...]:
    """What the words of a question begin with that tell something."""
    query = parse_query(question)
    found: dict[str, None] = {}
    for term in query.terms:
        for word in filter(None, _SPLIT.split(fold_text(term))):
            stem = _ENDING.sub("", word)
            found[stem if len(stem) >= _SHORTEST else word] = None
    return tuple(found)[:_MOST_TERMS]


def find_passage(text: str, stems: tuple[str, ...]) -> tuple[str, int]:
    """The part of a page that says the most about it, and how many lines stand before it."""
    best, best_at, most = "", 0, -1
    starts = [0, *(found.end() for found in _PARAGRAPH.finditer(text))]
    for start in starts[:_MOST_PASSAGES]:
        part = text[start : start + _ROOM]
        words = part.lower()
        count = sum(stem in words for stem in stems)
        if count > most:
            best, best_at, most = part, start, count
    return best, text.count("\n", 0, best_at)
