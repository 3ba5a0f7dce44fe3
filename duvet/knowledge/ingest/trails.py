"""What stands above each place of a text: headings, or what code declares."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from duvet.knowledge.ingest.outline import Heading, Outline
from duvet.store.records import Symbol
from duvet.text import line_at, line_starts

_MOST = 4
"""So many symbols are named."""
_FARTHEST = 500
"""One that so many others stand behind is around nothing any more."""


class Trails:
    """The headings above each place of a document."""

    def __init__(self, outline: Outline, title: str = "") -> None:
        """The title is that of the whole document, where its first heading says something else."""
        self._starts = [one.start for one in outline.headings]
        self._trails: list[str] = []
        self._before = title
        above: list[Heading] = []
        first = title if title != outline.title else ""
        for one in outline.headings:
            while above and above[-1].level >= one.level:
                above.pop()
            above.append(one)
            self._trails.append(" > ".join(filter(None, [first, *(each.title for each in above)])))

    def at(self, start: int, end: int) -> str:
        """The headings above a stretch."""
        index = bisect_right(self._starts, start) - 1
        if index < 0 and self._starts and self._starts[0] < end:
            # Nothing but front matter and the like stands before it.
            index = 0
        return self._trails[index] if index >= 0 else self._before


class Declared:
    """What code declares around each place, and in it."""

    def __init__(self, text: str, symbols: Sequence[Symbol]) -> None:
        """The symbols are in the order of their first lines, what is around others first."""
        self._lines = line_starts(text)
        self._symbols = symbols
        self._firsts = [one.line_start for one in symbols]

    def at(self, start: int, end: int) -> str:
        """The symbol around the beginning of a stretch, and those that begin in it."""
        first, last = (line_at(self._lines, place) + 1 for place in (start, end - 1))
        low, high = bisect_left(self._firsts, first), bisect_right(self._firsts, last)
        nearest = reversed(self._symbols[max(0, low - _FARTHEST) : low])
        around = next((one for one in nearest if one.line_end >= first), None)
        inside = [one.qualified_name for one in self._symbols[low:high]]
        return ", ".join(([around.qualified_name] if around else []) + inside[:_MOST])
