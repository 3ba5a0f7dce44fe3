"""Markdown events and the lines of the file, put together to parts that begin at headings."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from msgspec import Struct

from duvet.specs.prose import Events, paragraph_text
from duvet.specs.rows import Rows


class Part(Struct, frozen=True):
    """A heading, the line on which it begins, and the first line after it."""

    level: str
    anchor: str | None
    heading: tuple[int, int]
    row: int
    first: int


class Outline:
    """Reads events in order and keeps the line at which they have arrived.

    An event arrives at the line on which it begins; one that begins at a line end, or in a line that a heading has
    taken, arrives at the next. The order of breaks and headings follows awslabs duvet.
    """

    def __init__(self, data: bytes, rows: Rows) -> None:
        self.data = data
        self.rows = rows
        self.row = 0
        self.break_due = False
        self.breaks: list[int] = []
        self.parts: list[Part] = []
        self.description = ""

    def read(self, events: Events) -> None:
        """All parts of a document, the breaks between its lines, and the text of its first paragraph."""
        span: Any = {"start": 0}
        for event, next_span in events:
            if "End" in event:
                if event["End"] == "Item":
                    self.arrive(span["start"])
                    self.break_due = True
                continue
            span = next_span
            if "Start" in event:
                tag = event["Start"]
                if tag == "Item":
                    ##= man/spec/trace.md#requirements
                    ##% An item of a list in Markdown MUST be a sentence of its own.
                    self.arrive(span["start"])
                    self.add_break(self.row)
                elif tag == "Paragraph":
                    if not self.description:
                        self.description, span = paragraph_text(events, span)
                elif "Heading" in tag:
                    ##= man/spec/trace.md#specifications
                    ##% Each heading of a Markdown text MUST begin a section.
                    self.read_heading(events, tag["Heading"], span)
        self.arrive(len(self.data))

    def arrive(self, offset: int) -> None:
        """All lines that end before the offset are complete, and so are the items that end with them."""
        row = bisect_right(self.rows.ends, offset, self.row)
        if self.break_due and row > self.row:
            self.add_break(self.row + 1)
        self.row = row

    def add_break(self, row: int) -> None:
        """No sentence crosses the beginning of this line."""
        self.break_due = False
        self.breaks.append(row)

    def read_heading(self, events: Events, tag: Any, span: Any) -> None:
        """A heading takes all lines on which it stands."""
        start = span["start"]
        self.arrive(start)
        title, offset = _title(self.data, events, start)
        last = bisect_right(self.rows.ends, offset, self.row)
        anchor = tag["id"]
        if self.break_due and last > self.row:
            last = self.cut_heading(offset)
            title = anchor = None
        row = self.row
        if last < len(self.rows.texts):
            heading = title or (self.rows.starts[row], self.rows.ends[last])
            self.row = max(last + 1, bisect_left(self.rows.starts, span["end"], last))
            self.parts.append(Part(tag["level"], anchor, heading, row, self.row))
        else:
            self.row = last
        self.break_due = False

    def cut_heading(self, offset: int) -> int:
        """Where an item ends on the first of a heading's lines, awslabs duvet loses that line and keeps the last."""
        self.rows.forget(self.row)
        self.add_break(self.row)
        self.arrive(offset)
        return self.row


def _title(data: bytes, events: Events, offset: int) -> tuple[tuple[int, int] | None, int]:
    """From the first text of a heading to the last, and where the last event begins.

    Markup that follows a text belongs to the title; an entity is no text of the file.
    """
    title: tuple[int, int] | None = None
    for event, span in events:
        end = span["end"]
        if "Text" in event:
            offset = span["start"]
            if data[offset:end] == event["Text"].encode():
                title = (title[0], max(title[1], end)) if title else (offset, end)
            continue
        if "End" not in event:
            offset = span["start"]
        elif "Heading" in event["End"]:
            break
        title = title and (title[0], end)
    return title, offset
