"""A list as a table that fits the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from duvet.reports.bands import GAP, Band, bands
from duvet.reports.cells import visible, width, wrapped
from duvet.reports.listing import Column, Listing, Look
from duvet.reports.marks import BOLD, HEAD, PLAIN, Spans, painted, pieces


class _Cell(Struct, frozen=True):
    """A value as it is seen, with the stretches that have to be coloured."""

    text: str
    spans: Spans = ()


_Row = Sequence[_Cell]


def table(listing: Listing, look: Look) -> str:
    """The rows under their heads or headings."""
    if not listing.rows:
        return ""
    columns = listing.grouped
    head = [_Cell(visible(column.name)) for column in columns]
    groups = [(_Cell(visible(title)), [_cells(columns, row, look) for row in rows]) for title, rows in listing.groups]
    counting = [row for _, rows in groups for row in rows] + ([] if listing.heading else [head])
    needs = [max(width(cell.text) for cell in column) for column in zip(*counting, strict=True)]
    layout = bands(needs, [index for index, column in enumerate(columns) if column.wraps], look.width)
    blocks = []
    for title, rows in groups:
        above = _lines([title], [Band(0, {0: look.width})]) if listing.heading else _lines(head, layout)
        below = (line for row in rows for line in _lines(row, layout))
        blocks.append("".join(f"{line}\n" for line in [*_headed(above, look), *below]))
    return "\n".join(blocks)


def _cells(columns: Sequence[Column], row: Any, look: Look) -> _Row:
    return [_cell(column.value(row), column.marks(row), look) for column in columns]


def _cell(value: str, spans: Spans, look: Look) -> _Cell:
    """Without colours, marks are text, too."""
    if not (spans and look.colour):
        return _Cell(painted(value, spans, PLAIN, visible))
    parts, found, at = [], [], 0
    for piece, matters in pieces(value, spans):
        parts.append(visible(piece))
        if matters:
            found.append((at, at + len(parts[-1])))
        at += len(parts[-1])
    return _Cell("".join(parts), found)


def _headed(lines: Iterable[str], look: Look) -> Iterator[str]:
    return (f"{HEAD.before}{line}{HEAD.after}" for line in lines) if look.colour else iter(lines)


def _lines(row: _Row, layout: Sequence[Band]) -> Iterator[str]:
    for band in layout:
        columns = [list(_wrapped(row[index], room)) for index, room in band.widths.items()]
        for number in range(max(map(len, columns))):
            parts = [column[number] if number < len(column) else ("", 0) for column in columns]
            line = _joined(parts, band)
            # What stands below the other columns needs no line where there is nothing.
            if line or len(layout) == 1:
                yield line


def _joined(parts: Sequence[tuple[str, int]], band: Band) -> str:
    padded = [text + " " * (room - used) for (text, used), room in zip(parts, band.widths.values(), strict=True)]
    return (" " * band.indent + GAP.join(padded)).rstrip()


def _wrapped(cell: _Cell, room: int) -> Iterator[tuple[str, int]]:
    """Its lines, and how wide they are."""
    for start, end in wrapped(cell.text, room):
        inside = [
            (max(low, start) - start, min(high, end) - start) for low, high in cell.spans if low < end and high > start
        ]
        text = cell.text[start:end]
        yield painted(text, inside, BOLD, str), width(text)
