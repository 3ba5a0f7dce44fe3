"""A section as one line of bytes, and the way back to its file."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, compress, count
from operator import add

from msgspec import Struct

from duvet.model import Section
from duvet.text import WHITESPACE, byte_length
from duvet.trace.records import Piece


class View(Struct, frozen=True):
    """The lines that are not blank, trimmed and joined with single blanks."""

    section: Section
    data: bytes
    lines: list[int]
    """The index of each of these lines in the section."""
    offsets: list[int]
    """Where each line begins in the view, and where a further one would."""


def view_of(section: Section) -> View:
    """The view of a section."""
    ##= man/spec/trace.md#quotes
    ##% A quote MUST be found in its section however it is wrapped.
    trimmed = [line.strip(WHITESPACE) for line in section.lines]
    texts = list(filter(None, trimmed))
    text = " ".join(texts)
    sizes = map(len if text.isascii() else byte_length, texts)
    offsets = list(map(add, accumulate(sizes, initial=0), count()))
    return View(section, text.encode(), list(compress(count(), trimmed)), offsets)


def pieces(view: View, start: int, end: int) -> tuple[Piece, ...]:
    """A stretch of the view cut where lines meet, as bytes of the file."""
    found: list[Piece] = []
    offsets, lines = view.offsets, view.lines
    texts, starts = view.section.lines, view.section.starts
    index = bisect_right(offsets, start) - 1
    low = start
    while low < end:
        line = lines[index]
        shift = starts[line] - offsets[index]
        text = texts[line]
        if text[0] in WHITESPACE:
            shift += byte_length(text[: len(text) - len(text.lstrip(WHITESPACE))])
        index += 1
        following = offsets[index]
        high = end if end < following else following - 1
        # awslabs duvet loses a piece of one byte: it stays as a place to cut, and covers nothing.
        if high - low > 1:
            found.append(Piece(line, low + shift, high + shift))
        elif high > low:
            found.append(Piece(line, low + shift, low + shift))
        low = following
    return tuple(found)
