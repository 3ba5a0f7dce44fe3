"""Cuts texts into pieces that can be found on their own."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from duvet.store.records import Piece

WINDOW, OVERLAP = 1000, 200
"""Characters."""

_LEAST = 500
"""A piece that ends before a heading has as many, and one that ends with a line."""
_WORDS = 800
"""One that ends between words."""

TitleAt = Callable[[int, int], str]
"""What stands above a stretch of the text."""


def pieces(text: str, headings: Sequence[int] = (), title: TitleAt = lambda start, end: "") -> Iterator[Piece]:
    """The pieces of a text with headings at these characters; blank ones are left out."""
    ##= man/spec/knowledge.md#files
    ##% A text MUST be cut into pieces of no more than 1,000 characters, at headings and ends of lines where there are
    ##% any, and a piece that doesn't begin at a heading MUST repeat up to 200 characters of the one before.
    start, line, counted = 0, 1, 0
    while start < len(text):
        end, is_heading = _end(text, start, headings)
        line += text.count("\n", counted, start)
        counted = start
        held = text[start:end]
        if not held.isspace():
            last = line + held.rstrip("\n").count("\n")
            yield Piece(start=start, end=end, line_start=line, line_end=last, title=title(start, end))
        if end == len(text):
            return
        start = end if is_heading else _back(text, start, end)


def _end(text: str, start: int, headings: Sequence[int]) -> tuple[int, bool]:
    """Where a piece ends, and whether a heading follows."""
    most = start + WINDOW
    if most >= len(text) and not headings:
        return len(text), False
    index = bisect_right(headings, min(most, len(text) - 1)) - 1
    if index >= 0 and headings[index] >= start + _LEAST:
        return headings[index], True
    if most >= len(text):
        return len(text), False
    line = text.rfind("\n", start + _LEAST, most) + 1
    if line:
        return line, False
    word = text.rfind(" ", start + _WORDS, most) + 1
    return word or most, False


def _back(text: str, start: int, end: int) -> int:
    """Where the piece after one begins that ends there."""
    wanted = max(end - OVERLAP, start + 1)
    line = text.find("\n", wanted - 1, end - 1) + 1
    if line:
        return line
    word = text.find(" ", wanted - 1, end - 1) + 1
    return word or wanted
