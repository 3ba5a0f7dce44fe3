"""Lists as tables for people, and as lines, JSON, CSV and Markdown for programs and pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from itertools import groupby
from typing import Any

from msgspec import Struct

from duvet.reports.cells import visible
from duvet.reports.marks import BOLD, MARKDOWN, PLAIN, Marks, Spans, painted


class ListFormat(StrEnum):
    """How a list is written."""

    TABLE = "table"
    PLAIN = "plain"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    MARKDOWN = "markdown"


class Column(Struct, frozen=True):
    """What a column is called, and what stands in it for a row; long texts are wrapped where there is no room."""

    name: str
    value: Callable[[Any], str]
    wraps: bool = False
    marks: Callable[[Any], Spans] = lambda row: ()
    """The stretches of the value that matter."""
    in_heading: bool = False
    """Whether headings say it, so that it is left out below them."""


class Listing(Struct, frozen=True):
    """Rows, which are records, with the columns that people see of them."""

    columns: tuple[Column, ...]
    rows: Sequence[Any]
    heading: Callable[[Any], str] | None = None
    """What stands above neighbouring rows for which it is the same."""

    @property
    def grouped(self) -> Sequence[Column]:
        """The columns of rows that may stand below headings."""
        return [column for column in self.columns if self.heading is None or not column.in_heading]

    @property
    def groups(self) -> list[tuple[str, list[Any]]]:
        """The rows by their heading."""
        if self.heading is None:
            return [("", list(self.rows))]
        return [(heading, list(rows)) for heading, rows in groupby(self.rows, self.heading)]


class Look(Struct, frozen=True):
    """How a table may look."""

    width: int = 100
    colour: bool = False


def render(listing: Listing, format: ListFormat, look: Look = Look()) -> bytes:  # noqa: B008 - immutable
    """The list in that format."""
    match format:
        case ListFormat.TABLE:
            from duvet.reports.table import table

            return table(listing, look).encode(errors="replace")
        case ListFormat.PLAIN:
            return _plain(listing, BOLD if look.colour else PLAIN).encode(errors="replace")
        case ListFormat.MARKDOWN:
            return _markdown(listing).encode(errors="replace")
        case ListFormat.CSV:
            return _csv(listing).encode(errors="replace")
        case _:
            return _json(listing.rows, in_lines=format is ListFormat.JSONL)


def _json(rows: Sequence[Any], *, in_lines: bool) -> bytes:
    from duvet.reports.json_document import document, line

    return b"".join(map(line, rows)) if in_lines else document(list(rows))


def _plain(listing: Listing, marks: Marks) -> str:
    """One line for each row, with tabs between its values: for `cut`, `sort` and `grep`."""
    lines = ("\t".join(_cell(column, row, marks) for column in listing.columns) for row in listing.rows)
    return "".join(f"{line}\n" for line in lines)


def _cell(column: Column, row: Any, marks: Marks) -> str:
    return painted(column.value(row), column.marks(row), marks, visible)


def _csv(listing: Listing) -> str:
    import csv
    from io import StringIO

    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(column.name for column in listing.columns)
    writer.writerows([visible(column.value(row)) for column in listing.columns] for row in listing.rows)
    return out.getvalue()


def _markdown(listing: Listing) -> str:
    columns = listing.grouped
    names = [column.name for column in columns]
    blocks = []
    for heading, rows in listing.groups:
        lines = [_markdown_row(names), _markdown_row(["---"] * len(names))]
        lines += [_markdown_row([_markdown_cell(column, row) for column in columns]) for row in rows]
        title = f"### {escaped(visible(heading))}\n\n" if heading else ""
        blocks.append(title + "".join(f"{line}\n" for line in lines))
    return "\n".join(blocks)


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(column: Column, row: Any) -> str:
    return painted(column.value(row), column.marks(row), MARKDOWN, lambda text: escaped(visible(text)))


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>|#~&" else char for char in text)
