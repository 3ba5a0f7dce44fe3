"""Searches encoded text, exactly and with one edit."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import groupby, tee

from msgspec import Struct


class SearchText:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.work = 0
        """The cost of the searches so far; reading a kilobyte costs 1."""

    def find(self, part: bytes) -> int:
        at = self.data.find(part)
        self.work += (at if at >= 0 else len(self.data)) >> 10
        return at

    def find_places(self, part: bytes) -> Iterable[int]:
        self.work += len(self.data) >> 10
        at = self.data.find(part)
        while at >= 0:
            self.work += 10
            yield at
            at = self.data.find(part, at + 1)

    def split(self, quote: bytes) -> int:
        """Return the offset at which to cut a quote of at least two bytes; one edit leaves one part unchanged."""
        return len(quote) // 2


def find_one_edit(quote: bytes, text: SearchText) -> tuple[int, int] | None:
    """Return the first range of the text that one insertion, deletion or substitution turns into the quote.

    The text must not contain the quote itself. Like awslabs duvet, this returns the longest of the ranges with the same
    end, and prefers a later range unless it also begins later. rapidfuzz's alignment would find other ranges.
    """
    best: tuple[int, int] | None = None
    for end, _ in groupby(_list_possible_ends(quote, text)):
        start = _find_longest_start(quote, text.data, end)
        if start is None:
            continue
        if best is not None and start > best[0]:
            return best
        best = (start, end)
    return best


def _list_possible_ends(quote: bytes, text: SearchText) -> Iterator[int]:
    """Yield possible ends in order; one edit leaves at least one half of the quote unchanged."""
    size = len(quote)
    if size < 2:
        return iter(range(3))

    split = text.split(quote)
    shorter, equal, longer = tee(text.find_places(quote[:split]), 3)
    return merge(
        (place + size - 1 for place in shorter),
        (place + size for place in equal),
        (place + size + 1 for place in longer),
        (place + size - split for place in text.find_places(quote[split:])),
    )


def _find_longest_start(quote: bytes, text: bytes, end: int) -> int | None:
    if end > len(text):
        return None
    for size in (len(quote) + 1, len(quote), len(quote) - 1):
        start = end - size
        if start >= 0 and _is_within_one_edit(quote, text[start:end]):
            return start
    return None


def _is_within_one_edit(one: bytes, other: bytes) -> bool:
    half = min(len(one), len(other)) // 2
    if one[:half] != other[:half] and one[-half:] != other[-half:]:
        return False
    # `front` becomes the length of the common prefix, by bisection: comparing slices is far faster than a loop.
    front, high = 0, min(len(one), len(other))
    while front < high:
        middle = (front + high + 1) // 2
        if one[front:middle] == other[front:middle]:
            front = middle
        else:
            high = middle - 1
    shorter, longer = sorted((len(one), len(other)))
    if shorter == longer:
        return one[front + 1 :] == other[front + 1 :]
    if len(one) < len(other):
        one, other = other, one
    return one[front + 1 :] == other[front:]


_BLANK = re.compile(b" ")
_FIRST, _MOST = 24, 256  # The number of bytes by which words are sorted, and by which equal words are sorted.


class OrderRange(Struct, frozen=True):
    """A range in a sorted list of offsets, and how far the sorted word is from the start of the searched part."""

    first: int
    size: int
    shift: int


class WordOrder:
    """The offsets of all words after a blank, sorted by the bytes that follow."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        behind_blanks = sorted([blank.end() for blank in _BLANK.finditer(data)], key=self._bytes(0, _FIRST))
        self._places: list[int] = []
        for _, alike in groupby(behind_blanks, self._bytes(0, _FIRST)):
            self._places += sorted(alike, key=self._bytes(_FIRST, _MOST))

    def _bytes(self, start: int, end: int) -> Callable[[int], bytes]:
        data = self.data
        return lambda place: data[place + start : place + end]

    def range(self, part: bytes) -> OrderRange:
        """Return the range for the first whole word in the part; the widest range if no word begins in it."""
        shift = part.find(b" ") + 1
        word = part[shift : shift + _MOST]
        if not shift or not word:
            return OrderRange(0, sys.maxsize, 0)
        key = self._bytes(0, len(word))
        low = bisect_left(self._places, word, key=key)
        return OrderRange(low, bisect_right(self._places, word, low, key=key) - low, shift)

    def starts(self, range: OrderRange) -> list[int]:
        return [place - range.shift for place in self._places[range.first : range.first + range.size]]


_FEW, _MANY = 8, 500


class OrderedText(SearchText):
    """A text with a sorted word index.

    Sorting takes as long as a thousand searches, and then each search is fast.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._ahead, self._behind = WordOrder(data), WordOrder(data[::-1])

    def find(self, part: bytes) -> int:
        return next(iter(self.find_places(part)), -1)

    def find_places(self, part: bytes) -> Iterable[int]:
        ahead, behind = self._ahead.range(part), self._behind.range(part[::-1])
        if min(ahead.size, behind.size) > _MANY:
            # Callers usually need only the first place of such a part.
            return super().find_places(part)
        if ahead.size <= behind.size:
            starts = self._ahead.starts(ahead)
        else:
            last = len(self.data) - len(part)
            starts = [last - start for start in self._behind.starts(behind)]
        return sorted([start for start in starts if start >= 0 and self.data.startswith(part, start)])

    def split(self, quote: bytes) -> int:
        low, high = 1, len(quote) - 1
        at = len(quote) // 2
        while low < high:
            front, back = self._size(quote[:at]), self._size(quote[at:])
            if max(front, back) <= _FEW:
                break
            low, high = (at + 1, high) if front > back else (low, at)
            at = (low + high) // 2
        return at

    def _size(self, part: bytes) -> int:
        return min(self._ahead.range(part).size, self._behind.range(part[::-1]).size)
