"""The pages by the words in them, brought up to date page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from msgspec import Struct

from duvet.knowledge.pages.notes import Notes
from duvet.knowledge.pages.records import Page
from duvet.knowledge.pages.shelf import Shelf
from duvet.knowledge.pages.words import Words, flat, folded

Read = Callable[[Page], str | None]
"""The text of a page; None where it is gone."""

_MOST_CHANGED = 200
"""When more pages than these have changed, all are gone through again."""
_MOST_KEPT = 64 << 20
"""So many bytes of texts are kept; others are read again where words are looked for as they stand."""


class _Base(Struct, frozen=True):
    """The pages as they were when all were gone through."""

    shelf: Shelf
    paths: list[str]
    words: Words
    texts: dict[str, bytes]
    """Folded, by their paths."""

    def changed_in(self, shelf: Shelf) -> list[str]:
        """The files that are not as they were then."""
        rows, before = shelf.rows, self.shelf.rows
        found = [path for path, (_, parsed) in rows.items() if path not in before or before[path][1] is not parsed]
        return [*found, *(path for path in before if path not in rows)]


class Index:
    """All pages, and which of them hold what."""

    def __init__(self, notes: Notes, read: Read, earlier: Index | None = None) -> None:
        self.notes = notes
        self.read = read
        kept = _kept(notes, earlier) if earlier else None
        self._base = kept or self._gone_through()
        ##= man/spec/pages.md#freshness
        ##% When one page has been edited, no other MUST be read again as Markdown.
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
        return _Base(shelf, [page.path for page in shelf.pages], Words(enumerate(kept())), texts)

    def _text(self, page: Page) -> str:
        # No phrase goes over the end of a title.
        return f"{flat(page.title)}\n{flat(self.read(page) or '')}"

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
        return [(folded(page.title), page) for page in self.notes.pages]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {page.path: place for place, page in enumerate(self.notes.pages)}


def _kept(notes: Notes, earlier: Index) -> _Base | None:
    """What is known already, as long as few pages have changed since."""
    base = earlier._base
    return base if len(base.changed_in(notes.shelf)) <= _MOST_CHANGED else None
