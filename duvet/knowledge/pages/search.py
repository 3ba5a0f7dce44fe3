"""Searches pages by words, in sqlite FTS5."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from itertools import chain, pairwise
from threading import Lock
from typing import TYPE_CHECKING
from weakref import finalize

from msgspec import Struct

from duvet.knowledge.pages.catalogue import PageCollection
from duvet.knowledge.pages.page import Page
from duvet.queries.search import open_memory_database
from duvet.words import (
    MAX_QUERY_CHARACTERS,
    STOP_WORDS,
    compose,
    extract_search_terms,
    fold_text,
    is_unspaced,
    make_storable,
    split_unspaced,
)

if TYPE_CHECKING:
    from sqlite3 import Connection

MAX_PAGE_HITS, MAX_RELEVANT_PAGES = 20, 5
_MAX_TERMS = 64
_MAX_MATCHED, _LEAST_SCORED = 2_000, 500  # If more pages match, only those with the most, or rare, words are scored.
_MAX_CHANGED = 200  # If more pages have changed, the index is rebuilt.
_EXCERPT_BEFORE, _EXCERPT_LENGTH = 50, 150
_MAX_MATCHES = 500  # Maximum number of matches to compare for an excerpt.
_MAX_PASSAGES, _PASSAGE_LENGTH = 2_000, 1_200
_PARAGRAPH = re.compile(r"\n\s*\n")
_ENDING = re.compile(r"(?:ies|ing|ed|es|e|s|y)\Z")
_MIN_STEM = 3

PageReader = Callable[[Page], str | None]  # Returns the text of a page, or None if it is gone.

_TABLE = """CREATE VIRTUAL TABLE pages USING fts5(
    name, title, headings, tags, body, content='', tokenize='porter unicode61 remove_diacritics 2'
)"""
_INSERT = "INSERT INTO pages(rowid, name, title, headings, tags, body) VALUES (?, ?, ?, ?, ?, ?)"
_ROWS = "SELECT rowid FROM pages WHERE pages MATCH ?"
_SCORES = "SELECT rowid, -bm25(pages, 10.0, 5.0, 3.0, 3.0, 1.0) FROM pages WHERE pages MATCH ?"
_SOME_SCORES = f"{_SCORES} AND +rowid IN (SELECT value FROM json_each(?))"


class _WordTable:
    """The words of pages, in rows that are never changed or removed; safe to use from any thread."""

    def __init__(self) -> None:
        self._connection: Connection = open_memory_database(check_same_thread=False)
        finalize(self, self._connection.close)
        self._connection.execute(_TABLE)
        self._lock = Lock()
        self._count = 0
        # Rows by the words of a name, title, slug or alias.
        self.named: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, pages: Sequence[Page], read: PageReader) -> dict[int, Page]:
        with self._lock:
            rows = dict(enumerate(pages, self._count))
            self._count += len(rows)
            for row, page in rows.items():
                texts = {page.name, page.title, page.slug, *page.content.aliases}
                for words in set(map(_join_terms, texts)):
                    self.named[words].append(row)
            self._connection.executemany(_INSERT, (_make_row(row, page, read(page)) for row, page in rows.items()))
            self._connection.commit()
            return rows

    def find(self, expression: str) -> list[int]:
        with self._lock:
            return list(chain.from_iterable(self._connection.execute(_ROWS, (expression,))))

    def score(self, expression: str, rows: Collection[int] | None = None) -> dict[int, float]:
        given = (expression,) if rows is None else (expression, str([*rows]))
        with self._lock:
            return dict(self._connection.execute(_SCORES if rows is None else _SOME_SCORES, given).fetchall())


def _make_row(row: int, page: Page, text: str | None) -> tuple[object, ...]:
    content = page.content
    parts = (
        page.name.replace("_", " "),
        page.title,
        "\n".join(content.headings),
        "\n".join((*content.tags, *content.aliases)),
        text or "",
    )
    return row, *(split_unspaced(fold_text(make_storable(part))) for part in parts)


class PageIndex:
    """The words of all pages; if few pages have changed, the table of the earlier index is reused."""

    def __init__(self, collection: PageCollection, read: PageReader, earlier: PageIndex | None = None) -> None:
        self.collection = collection
        self.read = read
        known = {page.path: (row, page) for row, page in earlier.rows.items()} if earlier else {}
        kept: dict[int, Page] = {}
        changed: list[Page] = []
        for page in collection.pages:
            row, before = known.get(page.path, (0, None))
            if before is not None and before.content is page.content and before.title == page.title:
                kept[row] = page
            else:
                changed.append(page)
        stale = earlier.stale + len(known) - len(kept) if earlier else 0
        is_usable = earlier is not None and len(changed) + stale <= _MAX_CHANGED
        self.table: _WordTable = earlier.table if earlier and is_usable else _WordTable()
        self.stale: int = stale if is_usable else 0  # The number of rows that are no longer used.
        added = self.table.add(changed if is_usable else collection.pages, read)
        self.rows: dict[int, Page] = {**kept, **added} if is_usable else added
        places = {page.path: place for place, page in enumerate(collection.pages)}
        self._places = {row: places[page.path] for row, page in self.rows.items()}

    def rank(self, query: str) -> list[Page]:
        """Return the pages that contain any word of the query, best first."""
        query = query[:MAX_QUERY_CHARACTERS]
        terms = extract_terms(query)
        matches = [self._match(term) for term in terms]
        counts = Counter(chain.from_iterable(rows for _, rows in matches))
        expressions = [expression for expression, rows in matches if rows]
        pairs = [f'"{pair}"' for pair in _join_neighbours(query)]
        expressions += pairs
        candidates = _find_candidates([rows for _, rows in matches], counts)
        if candidates:
            candidates.update(*map(self.table.find, pairs))
        scores = self.table.score(" OR ".join(expressions), candidates) if expressions else {}
        # Pages without a score come last, those with the most words first.
        values = {row: count - _MAX_TERMS - 1.0 for row, count in counts.items()} if candidates else {}
        values |= {row: score * counts.get(row, 0.5) for row, score in scores.items()}
        # Of equal pages, the newest is first.
        found = sorted(filter(self.rows.__contains__, values), key=self._places.__getitem__)
        found.sort(key=values.__getitem__, reverse=True)
        ##= man/spec/pages.md#search
        ##% `search` MUST first list the pages whose name, title or alias equals the query, then the pages that contain
        ##% all words of the query, then the pages that contain some of them.
        named = set(self.table.named.get(_join_terms(query), ()))
        complete = {row for row, count in counts.items() if count == len(terms)}
        first = [row for row in found if row in named or row in complete]
        first.sort(key=lambda row: (row not in named, row not in complete))
        return [self.rows[row] for row in dict.fromkeys((*first, *found))]

    def _match(self, term: str) -> tuple[str, Sequence[int]]:
        expression = f'"{term}"'
        if not is_unspaced(term) or len(term) > 1:
            rows = self.table.find(expression)
            if rows or len(term) < _MIN_STEM:
                return expression, rows
        expression += "*"
        return expression, self.table.find(expression)


def _find_candidates(matches: Sequence[Sequence[int]], counts: Counter[int]) -> set[int] | None:
    """Return the rows with the most words or a rare word; None if few enough rows match to score them all."""
    if len(counts) <= _MAX_MATCHED:
        return None
    sizes = Counter(counts.values())
    least = max(sizes)
    size = sizes[least]
    while size < _LEAST_SCORED and least > 1:
        least -= 1
        size += sizes[least]
    rare = chain.from_iterable(rows for rows in matches if len(rows) <= _LEAST_SCORED)
    return {row for row, count in counts.items() if count >= least}.union(rare)


def extract_terms(query: str) -> list[str]:
    """Return the terms of a query without stop words; with them if there are no others."""
    terms = extract_search_terms(query)
    return ([term for term in terms if term not in STOP_WORDS] or terms)[:_MAX_TERMS]


def _join_terms(text: str) -> str:
    return " ".join(extract_search_terms(text.replace("_", " ")))


def _join_neighbours(query: str) -> list[str]:
    """Return each pair of neighbouring words as one word, because `back links` may be written `backlinks`."""
    words = [word for word in extract_search_terms(query) if not is_unspaced(word)][:_MAX_TERMS]
    return [first + second for first, second in pairwise(words)]


class PageHit(Struct, frozen=True):
    slug: str
    title: str
    excerpt: str


class PageHits(Struct, frozen=True):
    hits: tuple[PageHit, ...]
    total: int  # Number of matching pages, including those that are not shown.


def search_pages(index: PageIndex, query: str) -> PageHits:
    ranked = index.rank(query)
    stems = extract_stems(query)
    hits: list[PageHit] = []
    for page in ranked:
        ##= man/spec/pages.md#search
        ##% `search` MUST return the 20 best pages, each with an excerpt around its matches, and the total number of
        ##% matching pages.
        if len(hits) == MAX_PAGE_HITS:
            break
        text = index.read(page)
        if text is not None:
            hits.append(PageHit(page.slug, page.title, make_excerpt(text, stems)))
    return PageHits(tuple(hits), len(ranked))


def make_excerpt(text: str, stems: Sequence[str]) -> str:
    """Return the part of a text with the most stems, or else its beginning."""
    text = compose(text)
    pattern = "|".join(rf"(?:{re.escape(stem)})" if is_unspaced(stem) else rf"\b{re.escape(stem)}" for stem in stems)
    found = [match for _, match in zip(range(_MAX_MATCHES), re.finditer(pattern, text, re.IGNORECASE), strict=False)]
    if not stems or not found:
        return text[:_EXCERPT_LENGTH] + ("..." if len(text) > _EXCERPT_LENGTH else "")
    best, most, end = found[0], 0, 0
    inside: Counter[str] = Counter()
    for match in found:
        while end < len(found) and found[end].end() <= match.start() + _EXCERPT_LENGTH - _EXCERPT_BEFORE:
            inside[found[end][0].lower()] += 1
            end += 1
        if len(inside) > most:
            best, most = match, len(inside)
        word = match[0].lower()
        if inside[word] > 1:
            inside[word] -= 1
        else:
            del inside[word]
    first = max(best.start() - _EXCERPT_BEFORE, 0)
    last = min(max(best.end(), best.start() + _EXCERPT_LENGTH - _EXCERPT_BEFORE), len(text))
    return f"{'...' if first else ''}{text[first:last]}{'...' if last < len(text) else ''}"


def find_relevant_pages(index: PageIndex, question: str) -> list[Page]:
    return index.rank(question)[:MAX_RELEVANT_PAGES]


def extract_stems(query: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for term in extract_terms(query[:MAX_QUERY_CHARACTERS]):
        stem = _ENDING.sub("", term)
        found[stem if len(stem) >= _MIN_STEM else term] = None
    return tuple(found)


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
