"""Characters of a text by their bytes in UTF-8, and the other way round."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate


class Characters:
    """The places of a text; only characters of several bytes are looked at one by one."""

    def __init__(self, text: str) -> None:
        self._wide: list[int] = []
        """The places of characters of several bytes."""
        self._more: list[int] = [0]
        """By how many bytes the first of these exceed one byte each."""
        if not text.isascii():
            wide = [(found.start(), len(found[0].encode()) - 1) for found in re.finditer(r"[^\x00-\x7f]", text)]
            self._wide = [place for place, _ in wide]
            self._more = list(accumulate([more for _, more in wide], initial=0))
        self._bytes = [place + more for place, more in zip(self._wide, self._more, strict=False)]
        """Where in UTF-8 they begin."""

    def byte(self, character: int) -> int:
        """Where the character begins in UTF-8."""
        return character + self._more[bisect_left(self._wide, character)]

    def at(self, byte: int) -> int:
        """The character that the byte belongs to."""
        count = bisect_right(self._bytes, byte)
        # What all bytes of the last wide one exceed one byte by is taken off its first bytes, too.
        return max(byte - self._more[count], self._wide[count - 1]) if count else byte
