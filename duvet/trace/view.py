"""A section as one line of bytes, and the way back to its file."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

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
    lines = [index for index, text in enumerate(trimmed) if text]
    texts = [trimmed[index] for index in lines]
    text = " ".join(texts)
    sizes = map(len if text.isascii() else byte_length, texts)
    offsets = list(accumulate(sizes, lambda end, size: end + size + 1, initial=0))
    return View(section, text.encode(), lines, offsets)


def pieces(view: View, start: int, end: int) -> tuple[Piece, ...]:
    """A stretch of the view cut where lines meet, as bytes of the file."""
    found: list[Piece] = []
    index = bisect_right(view.offsets, start) - 1
    while view.offsets[index] < end:
        offset = view.offsets[index]
        low, high = max(start, offset), min(end, view.offsets[index + 1] - 1)
        if low < high:
            line = view.lines[index]
            shift = _origin(view.section, line) - offset
            # awslabs duvet loses a piece of one byte: it stays as a place to cut, and covers nothing.
            high = low if high - low == 1 else high
            found.append(Piece(line, low + shift, high + shift))
        index += 1
    return tuple(found)


def _origin(section: Section, line: int) -> int:
    """Where the trimmed line begins in the file."""
    text = section.lines[line]
    return section.starts[line] + byte_length(text[: len(text) - len(text.lstrip(WHITESPACE))])
