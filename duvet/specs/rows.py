"""The physical lines of a file, with the bytes that each of them takes."""

from __future__ import annotations

from itertools import accumulate
from operator import add

from msgspec import Struct


class Rows(Struct, frozen=True):
    """Lines without their ends, and the offsets at which each begins and ends."""

    texts: list[str]
    starts: list[int]
    ends: list[int]

    def forget(self, row: int) -> None:
        """As if the line had never been there; offsets stay as they are."""
        for column in (self.texts, self.starts, self.ends):
            del column[row]


def split_rows(text: str) -> Rows:
    """The lines of a file; a carriage return belongs to a line end only before a line feed."""
    texts = text.split("\n")
    lengths = [len(row) if row.isascii() else len(row.encode()) for row in texts]
    starts = list(accumulate([length + 1 for length in lengths], initial=0))
    ends = list(map(add, starts, lengths))
    if "\r\n" in text:
        last = len(texts) - 1
        returns = [row.endswith("\r") for row in texts[:last]]
        ends[:last] = [end - cut for end, cut in zip(ends, returns, strict=False)]
        texts[:last] = [row.removesuffix("\r") for row in texts[:last]]
    starts.pop()
    if not texts[-1]:
        for column in (texts, starts, ends):
            column.pop()
    return Rows(texts, starts, ends)
