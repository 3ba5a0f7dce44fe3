"""A section as one line of bytes, and the way back to its file."""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

from duvet.model import Section
from duvet.text import WHITESPACE, byte_length
from duvet.trace.records import Piece


class View(Struct, frozen=True):
    """The lines that are not blank, trimmed and joined with single blanks."""

    data: bytes
    offsets: tuple[int, ...]
    """Where each line begins in the view."""
    origins: tuple[int, ...]
    """Where each line begins in the file."""
    lines: tuple[int, ...]
    """The index of each line in its section."""


def view_of(section: Section) -> View:
    """The view of a section."""
    texts: list[str] = []
    offsets: list[int] = []
    origins: list[int] = []
    lines: list[int] = []
    offset = 0
    for index, line in enumerate(section.lines):
        tail = line.lstrip(WHITESPACE)
        text = tail.rstrip(WHITESPACE)
        if text:
            texts.append(text)
            offsets.append(offset)
            origins.append(section.starts[index] + byte_length(line[: len(line) - len(tail)]))
            lines.append(index)
            offset += byte_length(text) + 1
    return View(" ".join(texts).encode(), tuple(offsets), tuple(origins), tuple(lines))


def pieces(view: View, start: int, end: int) -> tuple[Piece, ...]:
    """A stretch of the view cut where lines meet, as bytes of the file."""
    found: list[Piece] = []
    first = bisect_right(view.offsets, start) - 1
    for index in range(first, len(view.offsets)):
        offset = view.offsets[index]
        if offset >= end:
            break
        stop = view.offsets[index + 1] - 1 if index + 1 < len(view.offsets) else len(view.data)
        low, high = max(start, offset), min(end, stop)
        if low < high:
            shift = view.origins[index] - offset
            # awslabs duvet loses a piece of one byte: it stays as a place to cut, and covers nothing.
            high = low if high - low == 1 else high
            found.append(Piece(view.lines[index], low + shift, high + shift))
    return tuple(found)
