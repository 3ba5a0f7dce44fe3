"""A text in which very many quotes are looked for."""

from __future__ import annotations

from collections.abc import Iterable

from duvet.trace.texts import Text
from duvet.trace.word_order import WordOrder

_FEW, _MANY = 8, 500


class OrderedText(Text):
    """A text with its words in order: that takes as long as a thousand searches, and makes each of them short."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._ahead, self._behind = WordOrder(data), WordOrder(data[::-1])

    def find(self, part: bytes) -> int:
        return next(iter(self.places(part)), -1)

    def places(self, part: bytes) -> Iterable[int]:
        ahead, behind = self._ahead.range(part), self._behind.range(part[::-1])
        if min(ahead.size, behind.size) > _MANY:
            # Whoever looks for such a part mostly wants no more than the first of its places.
            return super().places(part)
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
