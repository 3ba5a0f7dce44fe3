"""The words of a text in the order of what follows them: a part of the text is found there without reading it all."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import groupby
from typing import NamedTuple

_BLANK = re.compile(b" ")
_FIRST, _MOST = 24, 256
"""How many bytes words are ordered by at first, and how many where that does not do."""


class Range(NamedTuple):
    """Neighbours in the order, and how far they are behind the beginning of what is looked for."""

    first: int
    size: int
    shift: int


UNKNOWN = Range(0, sys.maxsize, 0)


class WordOrder:
    """Every place behind a blank, sorted by the bytes there."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        behind_blanks = sorted([blank.end() for blank in _BLANK.finditer(data)], key=self._bytes(0, _FIRST))
        self._places: list[int] = []
        for _, alike in groupby(behind_blanks, self._bytes(0, _FIRST)):
            self._places += sorted(alike, key=self._bytes(_FIRST, _MOST))

    def _bytes(self, start: int, end: int) -> Callable[[int], bytes]:
        data = self.data
        return lambda place: data[place + start : place + end]

    def range(self, part: bytes) -> Range:
        """Where the first word that begins in the part can be; of a part without one nothing is known."""
        shift = part.find(b" ") + 1
        wanted = part[shift : shift + _MOST]
        if not shift or not wanted:
            return UNKNOWN
        key = self._bytes(0, len(wanted))
        low = bisect_left(self._places, wanted, key=key)
        return Range(low, bisect_right(self._places, wanted, low, key=key) - low, shift)

    def starts(self, range: Range) -> list[int]:
        """Where what is looked for would begin."""
        return [place - range.shift for place in self._places[range.first : range.first + range.size]]
