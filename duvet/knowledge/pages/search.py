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

MAX_PAGE_HITS, MAX_RELEVANT_PAGES = 20, 5
_MAX_WORDS, _MAX_STEMS = 32, 40
_EXCERPT_BEFORE, _EXCERPT_AFTER = 50, 100
_MAX_CHANGED = 200  # If more pages have changed, the index is rebuilt.
_MAX_KEPT_BYTES = 64 << 20  # Larger texts are not kept in memory; they are read again to find phrases.

PageReader = Callable[[Page], str | None]  # Returns the text of a page, or None if it is gone.
_ENDING = re.compile(r"(?:ies|ing|ed|es|e|s|y)\Z")
_NO_WORD = re.compile(r"[^\w]+")
_PARAGRAPH = re.compile(r"\n\s*\n")
_MIN_STEM = 3
_MIN_INSIDE = 4  # Minimum length of a stem that may match inside words.
_TITLE_WEIGHT = 3.0
_MAX_PASSAGES, _PASSAGE_LENGTH = 2_000, 1_200


def fold_text(text: str) -> str:
    """Return the text in lower case and NFC."""
    return compose(text).lower()


def flatten_text(text: str) -> str:
    """Return the folded text with single blanks."""
    return " ".join(fold_text(text).split())


class WordIndex:
    """The words of numbered texts, split at blanks."""

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
        self._all = "\n".join(["", *found, ""])
        self._starts = array("Q")
        at = 1
        for word in found:
            self._starts.append(at)
            at += len(word) + 1

    def find(self, part: str, *, at_start: bool = False) -> set[int]:
        """Return the numbers of the texts with a word that contains this folded text.

        With `at_start`, the word has to begin with it.
        """
        found: set[int] = set()
        before = "\n" if at_start else ""
        at = self._all.find(before + part) if part else -1
        while at >= 0 and len(found) < self.count:
            start = at + len(before)
            found.update(self._numbers[bisect_right(self._starts, start) - 1])
            at = self._all.find(before + part, self._all.index("\n", start))
        return found


class _IndexBase(Struct, frozen=True):
    """A word index of all pages, and the pages as they were when it was built."""

    store: PageStore
    paths: list[str]
    words: WordIndex
    texts: dict[str, bytes]  # Folded texts by their paths.

    def find_changed(self, store: PageStore) -> list[str]:
        rows, before = store.rows, self.store.rows
        found = [path for path, (_, parsed) in rows.items() if path not in before or before[path][1] is not parsed]
        return [*found, *(path for path in before if path not in rows)]


class PageIndex:
    """The words of all pages; after few changes, an earlier index is reused, and changed pages are read separately."""

    def __init__(self, collection: PageCollection, read: PageReader, earlier: PageIndex | None = None) -> None:
        self.collection = collection
        self.read = read
        is_usable = earlier and len(earlier._base.find_changed(collection.store)) <= _MAX_CHANGED
        self._base: _IndexBase = earlier._base if earlier and is_usable else self._build()
        self._stale = frozenset(self._base.find_changed(collection.store))
        self._recent = {page.path: self._text(page) for page in collection.pages if page.path in self._stale}

    def _build(self) -> _IndexBase:
        texts: dict[str, bytes] = {}

        def read_all() -> Iterator[str]:
            room = _MAX_KEPT_BYTES
            for page in self.collection.pages:
                text = self._text(page)
                data = text.encode()
                if len(data) <= room:
                    room -= len(data)
                    texts[page.path] = data
                yield text

        words = WordIndex(enumerate(read_all()))
        return _IndexBase(self.collection.store, [page.path for page in self.collection.pages], words, texts)

    def _text(self, page: Page) -> str:
        # The line end keeps a phrase from matching the end of the title and the beginning of the text.
        return f"{flatten_text(page.title)}\n{flatten_text(self.read(page) or '')}"

    def has_phrase(self, page: Page, phrase: str) -> bool:
        """Return True if a page contains this flattened phrase."""
        if page.path in self._stale:
            return phrase in self._recent[page.path]
        text = self._base.texts.get(page.path)
        return phrase in self._text(page) if text is None else phrase.encode() in text

    def find(self, part: str, *, at_start: bool = False) -> set[str]:
        """Return the paths of the pages that contain this folded text.

        With `at_start`, a word has to begin with it.
        """
        paths = self._base.paths
        found = {paths[number] for number in self._base.words.find(part, at_start=at_start)} - self._stale
        for path, text in self._recent.items():
            if any(word.startswith(part) for word in text.split()) if at_start else part in text:
                found.add(path)
        return found

    def list_titled(self, paths: set[str]) -> list[tuple[str, Page]]:
        """Return these pages with their folded titles, newest first."""
        places = self._places
        return [self._titles[place] for place in sorted(places[path] for path in paths if path in places)]

    @cached_property
    def _titles(self) -> list[tuple[str, Page]]:
        return [(fold_text(page.title), page) for page in self.collection.pages]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {page.path: place for place, page in enumerate(self.collection.pages)}


class PageHit(Struct, frozen=True):
    slug: str
    title: str
    excerpt: str


def search_pages(index: PageIndex, query: str) -> list[PageHit]:
    """Return the pages that contain every word of the query, even within longer words, best first."""
    phrase = flatten_text(query)
    words = tuple(dict.fromkeys(phrase.split(" ")))[:_MAX_WORDS]
    ##= man/spec/pages.md#tools
    ##% `search` MUST find up to 20 pages that contain every word of the query, ignoring case, even as a part of a
    ##% longer word.
    paths = index.find(words[0])
    for word in words[1:]:
        paths &= index.find(word)
    hits: list[PageHit] = []
    for page in _rank(index, paths, phrase, words):
        if len(hits) == MAX_PAGE_HITS:
            break
        text = index.read(page)
        if text is not None:
            hits.append(PageHit(page.slug, page.title, make_excerpt(text, phrase, words)))
    return hits


def _rank(index: PageIndex, paths: set[str], phrase: str, words: Sequence[str]) -> Iterator[Page]:
    """Yield the best pages first, and read texts only as the caller asks for more pages."""
    ##= man/spec/pages.md#tools
    ##% `search` MUST list matches in titles first, then matches of the exact phrase, then other matches, and in each
    ##% group newer pages first. `search` MUST show an excerpt around each match.
    exact: list[Page] = []
    with_phrase: list[Page] = []
    with_words: list[Page] = []
    others: list[Page] = []
    for title, page in index.list_titled(paths):
        if phrase in title:
            (exact if phrase == title else with_phrase).append(page)
        else:
            (with_words if all(word in title for word in words) else others).append(page)
    yield from exact
    yield from with_phrase
    yield from with_words
    if len(words) == 1:
        yield from others
        return
    rest: list[Page] = []
    for page in others:
        if index.has_phrase(page, phrase):
            yield page
        else:
            rest.append(page)
    yield from rest


def make_excerpt(text: str, phrase: str, words: Sequence[str]) -> str:
    """Return the text around the phrase, or around the first word found, or else the beginning of the text."""
    text = compose(text)
    spaced = r"\s+".join(map(re.escape, phrase.split(" ")))
    any_word = "|".join(map(re.escape, words))
    found = re.search(spaced, text, re.IGNORECASE) or re.search(any_word, text, re.IGNORECASE)
    start, end = found.span() if found else (0, 0)
    first, last = max(start - _EXCERPT_BEFORE, 0), min(end + _EXCERPT_AFTER, len(text))
    if start == end:
        first, last = 0, min(_EXCERPT_BEFORE + _EXCERPT_AFTER, len(text))
    return f"{'...' if first else ''}{text[first:last]}{'...' if last < len(text) else ''}"


def find_relevant_pages(index: PageIndex, question: str) -> list[Page]:
    """Return the pages with the rarest words of a question, best first."""
    stems = extract_stems(question)
    scores: dict[str, float] = {}
    total = len(index.collection.pages)
    for stem in stems:
        paths = index.find(stem, at_start=len(stem) < _MIN_INSIDE)
        # In a small project, the only matching word may be one that every page contains.
        weight = math.log(1 + total / len(paths)) if paths else 0.0
        for path in paths:
            scores[path] = scores.get(path, 0.0) + weight

    def score(page: Page) -> float:
        words = fold_text(page.title).split()
        in_title = sum(any(word.startswith(stem) for word in words) for stem in stems)
        return scores[page.path] + _TITLE_WEIGHT * in_title

    pages = [page for page in index.collection.pages if page.path in scores]
    return sorted(pages, key=lambda page: -score(page))[:MAX_RELEVANT_PAGES]


def extract_stems(question: str) -> tuple[str, ...]:
    """Return the words of a question without stop words and endings."""
    found: dict[str, None] = {}
    for term in parse_query(question).terms:
        for word in filter(None, _NO_WORD.split(fold_text(term))):
            stem = _ENDING.sub("", word)
            found[stem if len(stem) >= _MIN_STEM else word] = None
    return tuple(found)[:_MAX_STEMS]


def find_passage(text: str, stems: tuple[str, ...]) -> tuple[str, int]:
    """Return the passage with the most stems, and the number of lines before it."""
    best, best_at, most = "", 0, -1
    starts = [0, *(found.end() for found in _PARAGRAPH.finditer(text))]
    for start in starts[:_MAX_PASSAGES]:
        part = text[start : start + _PASSAGE_LENGTH]
        words = part.lower()
        count = sum(stem in words for stem in stems)
        if count > most:
            best, best_at, most = part, start, count
    return best, text.count("\n", 0, best_at)
