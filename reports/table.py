"""A list as a table that fits the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from duvet.reports.cells import left, visible, width, wrapped
from duvet.reports.listing import Column, Listing, Look
from duvet.reports.marks import BOLD, PLAIN, Marks, Spans, painted, pieces

_GAP = "  "
_NARROWEST = 24
"""Wrapped columns don't get narrower than this."""
_HEAD = Marks("\x1b[1m", "\x1b[0m")
_NO_MARKS = Marks("", "")


class _Cell(NamedTuple):
    """Lines, as they are shown and how wide they are."""

    lines: tuple[str, ...]
    widths: tuple[int, ...]


def table(listing: Listing, look: Look) -> str:
    """The rows under their heads and headings."""
    if not listing.rows:
        return ""
    columns = listing.grouped
    widths = _widths(listing, columns, look.width)
    marks = BOLD if look.colour else PLAIN
    head = _HEAD if look.colour else _NO_MARKS
    blocks = [[_painted_line([column.name for column in columns], widths, head)]]
    for heading, rows in listing.groups:
        title = [f"{head.before}{visible(heading)}{head.after}"] if heading else []
        blocks.append(title + [line for row in rows for line in _lines(columns, row, widths, marks)])
    joined = blocks[0] + blocks[1] if len(blocks) == 2 and listing.heading is None else None
    lines = joined or [line for block in blocks[1:] for line in [*block, ""]][:-1]
    return "".join(f"{line}\n" for line in lines)


def _widths(listing: Listing, columns: Sequence[Column], room: int) -> list[int]:
    """What the columns need; those that wrap share what the others leave."""
    texts = [[visible(column.value(row)) for row in listing.rows] for column in columns]
    heads = [0 if listing.heading else width(column.name) for column in columns]
    needed = [max([least, *map(width, column)]) for least, column in zip(heads, texts, strict=True)]
    wrapping = [index for index, column in enumerate(columns) if column.wraps]
    rest = room - sum(needed) - len(_GAP) * (len(needed) - 1) + sum(needed[index] for index in wrapping)
    for index in wrapping:
        needed[index] = min(needed[index], max(rest // len(wrapping), _NARROWEST))
    return needed


def _lines(columns: Sequence[Column], row: Any, widths: list[int], marks: Marks) -> Iterator[str]:
    cells = [_cell(column, row, room, marks) for column, room in zip(columns, widths, strict=True)]
    for number in range(max(len(cell.lines) for cell in cells)):
        yield _joined([_part(cell, number) for cell in cells], widths)


def _part(cell: _Cell, number: int) -> tuple[str, int]:
    return (cell.lines[number], cell.widths[number]) if number < len(cell.lines) else ("", 0)


def _joined(parts: Sequence[tuple[str, int]], widths: list[int]) -> str:
    padded = [text + " " * (room - used) for (text, used), room in zip(parts, widths, strict=True)]
    return _GAP.join(padded).rstrip()


def _painted_line(names: Sequence[str], widths: list[int], marks: Marks) -> str:
    line = _GAP.join(left(name, room) for name, room in zip(names, widths, strict=True)).rstrip()
    return f"{marks.before}{line}{marks.after}"


def _cell(column: Column, row: Any, room: int, marks: Marks) -> _Cell:
    text, spans = _seen(column.value(row), column.marks(row))
    extra = 0 if marks is BOLD else len(marks.before) + len(marks.after)
    lines, widths = [], []
    for start, end in wrapped(text, room) if column.wraps else [(0, len(text))]:
        inside = [
            (max(low, start) - start, min(high, end) - start) for low, high in spans if low < end and high > start
        ]
        lines.append(painted(text[start:end], inside, marks, str))
        widths.append(width(text[start:end]) + extra * len(inside))
    return _Cell(tuple(lines), tuple(widths))


def _seen(text: str, spans: Spans) -> tuple[str, Spans]:
    """The text as it can be seen, with the stretches where they then are."""
    parts, found, at = [], [], 0
    for piece, matters in pieces(text, spans):
        parts.append(visible(piece))
        if matters:
            found.append((at, at + len(parts[-1])))
        at += len(parts[-1])
    return "".join(parts), found
