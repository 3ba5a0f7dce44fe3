"""The pages by the words in them, brought up to date page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from duvet.knowledge.pages.notes import Notes
from duvet.knowledge.pages.records import Page
from duvet.knowledge.pages.words import Words, folded

Read = Callable[[Page], str | None]
"""The text of a page; None where it is gone."""

_MOST_CHANGED = 200
"""When more pages than these have changed, all are gone through again."""


class Index:
    """All pages, and which of them hold what."""

    def __init__(self, notes: Notes, read: Read, earlier: Index | None = None) -> None:
        self.notes = notes
        self.read = read
        self._rows = notes.shelf.rows
        changed = _changed(notes, earlier) if earlier else None
        if earlier is not None and changed is not None:
            self._base, self._paths = earlier._base, earlier._paths
            self._before = earlier._before
            stale = frozenset(changed)
        else:
            self._paths: Sequence[str] = [page.path for page in notes.pages]
            self._before = self._rows
            self._base = Words(enumerate(map(self._text, notes.pages)))
            stale = frozenset[str]()
        self._pages = {page.path: page for page in notes.pages}
        self._recent = {path: folded(self._text(self._pages[path])) for path in stale if path in self._pages}
        self._stale = stale

    def _text(self, page: Page) -> str:
        return f"{page.title}\n{self.read(page) or ''}"

    def holding(self, part: str) -> set[str]:
        """The paths of the pages that have this in a word."""
        return {
            *self._current(self._base.holding(part)),
            *(path for path, text in self._recent.items() if part in text),
        }

    def beginning(self, part: str) -> set[str]:
        """The paths of those with a word that begins so."""
        recent = (path for path, text in self._recent.items() if any(one.startswith(part) for one in text.split()))
        return {*self._current(self._base.beginning(part)), *recent}

    def _current(self, numbers: Iterable[int]) -> Iterator[str]:
        paths = map(self._paths.__getitem__, numbers)
        return (path for path in paths if path not in self._stale) if self._stale else paths

    def of(self, paths: set[str]) -> list[Page]:
        """These pages, the newest first."""
        return [page for page in self.notes.pages if page.path in paths]


def _changed(notes: Notes, earlier: Index) -> list[str] | None:
    """The files that are not as they were when all were gone through; None where there are too many of them."""
    rows, before = notes.shelf.rows, earlier._before
    found = [path for path, (_, parsed) in rows.items() if path not in before or before[path][1] is not parsed]
    found += [path for path in before if path not in rows]
    return found if len(found) <= _MOST_CHANGED else None
