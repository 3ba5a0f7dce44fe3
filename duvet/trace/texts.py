"""Texts in which quotes are looked for."""

from __future__ import annotations

from collections.abc import Iterable


class Text:
    """A text as it is: each search reads it from the beginning."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.work = 0
        """What the searches have cost, where one is the time that it takes to read a kilobyte."""

    def find(self, part: bytes) -> int:
        """Where the part stands first, or -1."""
        at = self.data.find(part)
        self.work += (at if at >= 0 else len(self.data)) >> 10
        return at

    def places(self, part: bytes) -> Iterable[int]:
        """Every place where the part stands, in order."""
        self.work += len(self.data) >> 10
        at = self.data.find(part)
        while at >= 0:
            self.work += 10
            yield at
            at = self.data.find(part, at + 1)

    def split(self, quote: bytes) -> int:
        """Where to cut a quote of two bytes or more, so that few places hold one of its parts."""
        return len(quote) // 2
