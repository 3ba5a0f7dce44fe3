"""Renders lists as tables for the terminal, plain lines, JSON, CSV or Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from io import StringIO
from itertools import groupby
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from duvet.reports import cells

if TYPE_CHECKING:
    from duvet.queries.records import RequirementRow

_INDENT = 2
# A wrapping column moves below the others if it would be narrower than the first width, or narrower than the second
# width and longer than this number of lines.
_NARROWEST, _NARROW, _LINES = 20, 40, 4


class ColumnBand(Struct, frozen=True):
    indent: int
    widths: Mapping[int, int]  # By column index.


def arrange_bands(needs: Sequence[int], wrapping: Sequence[int], room: int) -> list[ColumnBand]:
    fixed = [index for index in range(len(needs)) if index not in wrapping]
    rest = room - sum(needs[index] for index in fixed) - len(cells.COLUMN_GAP) * (len(needs) - 1)
    # Wrapping columns share the rest equally, except that none gets more than it needs.
    shares: dict[int, int] = {}
    left = max(rest, 0)
    for index in sorted(wrapping, key=lambda index: needs[index]):
        shares[index] = min(needs[index], left // (len(wrapping) - len(shares)))
        left -= shares[index]
    if rest >= 0 and all(
        share >= min(needs[index], _NARROWEST) and (share >= _NARROW or needs[index] <= share * _LINES)
        for index, share in shares.items()
    ):
        return [ColumnBand(0, {index: shares.get(index, need) for index, need in enumerate(needs)})]
    below = max(room - _INDENT, 2)
    groups: list[dict[int, int]] = []
    for index in fixed:
        width = min(needs[index], below)
        if not groups or sum(groups[-1].values()) + len(cells.COLUMN_GAP) * len(groups[-1]) + width > below:
            groups.append({})
        groups[-1][index] = width
    groups += [{index: min(needs[index], below)} for index in wrapping]
    # The first band is not indented, to show where a row begins.
    return [ColumnBand(_INDENT if number else 0, widths) for number, widths in enumerate(groups)]


HighlightSpans = Sequence[tuple[int, int]]  # Ranges of a text, in order and without overlap.
PLAIN_MARKS = cells.HighlightMarks("**", "**")
BOLD_MARKS = cells.HighlightMarks("\x1b[1;33m", "\x1b[0m")
HEAD_MARKS = cells.HighlightMarks("\x1b[1m", "\x1b[0m")


def highlight_text(text: str, spans: HighlightSpans, marks: cells.HighlightMarks, shown: Callable[[str], str]) -> str:
    parts, last = [], 0
    for start, end in spans:
        parts += [shown(text[last:start]), marks.before, shown(text[start:end]), marks.after]
        last = end
    return "".join([*parts, shown(text[last:])])


class ListFormat(StrEnum):
    TABLE = "table"
    PLAIN = "plain"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    MARKDOWN = "markdown"


class Column(Struct, frozen=True):
    name: str
    value: Callable[[Any], str]
    wraps: bool = False
    marks: Callable[[Any], HighlightSpans] = lambda row: ()  # The parts of the value to highlight.
    in_heading: bool = False  # True for a column whose value the headings show.
    colour: Callable[[Any], cells.HighlightMarks | None] = lambda row: None  # The colour of the value on a terminal.
    is_optional: bool = False  # Whether to leave the column out if no row has a value.


class Listing(Struct, frozen=True):
    columns: tuple[Column, ...]
    rows: Sequence[Any]
    heading: Callable[[Any], str] | None = None  # Consecutive rows with the same heading share it.

    @property
    def used(self) -> Sequence[Column]:
        return [one for one in self.columns if not one.is_optional or any(map(one.value, self.rows))]

    @property
    def grouped(self) -> Sequence[Column]:
        return [column for column in self.used if self.heading is None or not column.in_heading]

    @property
    def groups(self) -> list[tuple[str, list[Any]]]:
        if self.heading is None:
            return [("", list(self.rows))]
        return [(heading, list(rows)) for heading, rows in groupby(self.rows, self.heading)]


def render_listing(listing: Listing, format: ListFormat, look: cells.TableLook = cells.TableLook()) -> bytes:  # noqa: B008 - immutable
    match format:
        case ListFormat.TABLE:
            return render_list_table(listing, look).encode(errors="replace")
        case ListFormat.PLAIN:
            # One line per row, with tabs between values, for `cut`, `sort` and `grep`.
            marks = BOLD_MARKS if look.colour else PLAIN_MARKS
            columns = listing.used
            lines = [
                "\t".join(highlight_text(one.value(row), one.marks(row), marks, cells.escape_cell) for one in columns)
                for row in listing.rows
            ]
            return "".join(f"{line}\n" for line in lines).encode(errors="replace")
        case ListFormat.MARKDOWN:
            columns = listing.grouped
            blocks = []
            for heading, rows in listing.groups:
                table = [[column.name for column in columns], ["---"] * len(columns)]
                table += [
                    [highlight_text(one.value(row), one.marks(row), PLAIN_MARKS, escape_markdown) for one in columns]
                    for row in rows
                ]
                title = f"### {escape_markdown(heading)}\n\n" if heading else ""
                blocks.append(title + "".join(f"| {' | '.join(line)} |\n" for line in table))
            return "\n".join(blocks).encode(errors="replace")
        case ListFormat.CSV:
            import csv

            out = StringIO()
            writer = csv.writer(out, lineterminator="\n")
            columns = listing.used
            writer.writerow(column.name for column in columns)
            writer.writerows([cells.escape_cell(column.value(row)) for column in columns] for row in listing.rows)
            return out.getvalue().encode(errors="replace")
        case ListFormat.JSONL:
            return b"".join(cells.encode_json_line(row) for row in listing.rows)
        case _:
            return cells.encode_json(list(listing.rows))


def escape_markdown(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_[]<>|#~&" else char for char in cells.escape_cell(text))


class _Cell(Struct, frozen=True):
    text: str
    spans: HighlightSpans = ()
    marks: cells.HighlightMarks = BOLD_MARKS


def render_list_table(listing: Listing, look: cells.TableLook) -> str:
    if not listing.rows:
        return ""
    columns = listing.grouped
    head = [_Cell(cells.escape_cell(column.name)) for column in columns]
    groups = [
        (_Cell(cells.escape_cell(title)), [[_make_cell(column, row, look) for column in columns] for row in rows])
        for title, rows in listing.groups
    ]
    counting = [row for _, rows in groups for row in rows] + ([] if listing.heading else [head])
    needs = [max(cells.measure_width(cell.text) for cell in column) for column in zip(*counting, strict=True)]
    layout = arrange_bands(needs, [index for index, column in enumerate(columns) if column.wraps], look.width)
    blocks = []
    for title, rows in groups:
        above = (
            _render_lines([title], [ColumnBand(0, {0: look.width})]) if listing.heading else _render_lines(head, layout)
        )
        below = (line for row in rows for line in _render_lines(row, layout))
        if look.colour:
            above = (f"{HEAD_MARKS.before}{line}{HEAD_MARKS.after}" for line in above)
        blocks.append("".join(f"{line}\n" for line in [*above, *below]))
    return "\n".join(blocks)


def _make_cell(column: Column, row: Any, look: cells.TableLook) -> _Cell:
    value, spans = column.value(row), column.marks(row)
    if look.colour and (colour := column.colour(row)):
        text = cells.escape_cell(value)
        return _Cell(text, ((0, len(text)),), colour)
    if not (spans and look.colour):
        return _Cell(highlight_text(value, spans, PLAIN_MARKS, cells.escape_cell))
    # Escapes are longer than the characters that they replace.
    escaped = [(len(cells.escape_cell(value[:start])), len(cells.escape_cell(value[:end]))) for start, end in spans]
    return _Cell(cells.escape_cell(value), escaped)


def _render_lines(row: Sequence[_Cell], layout: Sequence[ColumnBand]) -> Iterator[str]:
    for band in layout:
        columns = []
        for index, room in band.widths.items():
            cell, column = row[index], []
            for start, end in cells.wrap_cells(cell.text, room):
                inside = [(max(a, start) - start, min(b, end) - start) for a, b in cell.spans if a < end and b > start]
                text = cell.text[start:end]
                padding = " " * (room - cells.measure_width(text))
                column.append(highlight_text(text, inside, cell.marks, str) + padding)
            columns.append(column)
        for number in range(max(map(len, columns))):
            parts = [
                column[number] if number < len(column) else " " * room
                for column, room in zip(columns, band.widths.values(), strict=True)
            ]
            line = (" " * band.indent + cells.COLUMN_GAP.join(parts)).rstrip()
            # A band below the first one needs no line for empty cells.
            if line or len(layout) == 1:
                yield line


def format_section_reference(row: RequirementRow) -> str:
    return f"{row.specification}#{row.section}"


def format_section_heading(row: RequirementRow) -> str:
    return f"{format_section_reference(row)}  {row.section_title}".rstrip()


ID_COLUMN = Column("id", lambda row: row.identifier)
NAME_COLUMN = Column("name", lambda row: row.name, is_optional=True)
LEVEL_COLUMN = Column("level", lambda row: row.level or "")
STATUS_COLUMN = Column("status", lambda row: row.status, colour=lambda row: cells.STATE_MARKS.get(row.status))
SECTION_COLUMN = Column("section", format_section_reference, in_heading=True)
REQUIREMENT_COLUMNS = (ID_COLUMN, NAME_COLUMN, LEVEL_COLUMN, STATUS_COLUMN, SECTION_COLUMN)
TEXT_COLUMN = Column("text", lambda row: row.text, wraps=True)
