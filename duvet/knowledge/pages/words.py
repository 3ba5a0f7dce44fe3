"""Which texts hold a word, or a part of one."""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterable

_END = "\n"


def folded(text: str) -> str:
    """The text as it is compared: without case, and with one spelling for each character."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).lower()


def flat(text: str) -> str:
    """The same with one blank between words."""
    return " ".join(folded(text).split())


class Words:
    """The words of numbered texts that are folded. Everything between blanks is a word, so that no part of a text is missed."""

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
        self._all = _END.join(["", *found, ""])
        self._starts = array("Q")
        at = 1
        for word in found:
            self._starts.append(at)
            at += len(word) + 1

    def holding(self, part: str) -> set[int]:
        """The texts with a word that has this in it, which is folded and has no blank in it."""
        return self._found(part, part)

    def beginning(self, part: str) -> set[int]:
        """Those with a word that begins so."""
        return self._found(_END + part, part)

    def _found(self, wanted: str, part: str) -> set[int]:
        found: set[int] = set()
        at = self._all.find(wanted) if part else -1
        while at >= 0 and len(found) < self.count:
            start = at + len(wanted) - len(part)
            found.update(self._numbers[bisect_right(self._starts, start) - 1])
            at = self._all.find(wanted, self._all.index(_END, start))
        return found
