"""Parses Markdown specifications into sections."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from duvet.model import Section
from duvet.specs.anchors import make_anchor
from duvet.specs.locator import PhysicalLines, split_rows
from duvet.text import trim

if TYPE_CHECKING:
    from pyromark import Markdown


MarkdownEvents = Iterator[tuple[Any, Any]]
"""What pyromark yields: an event, which is a word or a dictionary of one key, and its bytes."""

MAX_DESCRIPTION_LENGTH = 400


def read_paragraph(events: MarkdownEvents, span: Any) -> tuple[str, Any]:
    """The paragraph that has just begun as one line, and where its last event begins.

    A paragraph of images alone (badges, a logo) says nothing: its text is empty.
    """
    pieces: list[str] = []
    images = 0
    speaks = False
    for event, next_span in events:
        if "End" in event:
            if event["End"] == "Paragraph":
                break
            images -= event["End"] == "Image"
            continue
        span = next_span
        images += "Start" in event and "Image" in event["Start"]
        piece = _text_of(event)
        speaks = speaks or (not images and bool(piece.strip()))
        pieces.append(piece)
    return (shorten(" ".join("".join(pieces).split())) if speaks else ""), span


def _text_of(event: Any) -> str:
    if isinstance(event, str):
        return " "
    text: str = event.get("Text") or event.get("Code") or ""
    return text


def shorten(text: str) -> str:
    """The text, cut between two words where it is too long."""
    if len(text) <= MAX_DESCRIPTION_LENGTH:
        return text
    return (text[: MAX_DESCRIPTION_LENGTH - 1].rpartition(" ")[0] or text[: MAX_DESCRIPTION_LENGTH - 1]) + "…"


class OutlinePart(Struct, frozen=True):
    """A heading, the line on which it begins, and the first line after it."""

    level: str
    anchor: str | None
    heading: tuple[int, int]
    row: int
    first: int


class MarkdownOutline:
    """Reads events in order and keeps the line at which they have arrived.

    An event arrives at the line on which it begins; one that begins at a line end, or in a line that a heading has
    taken, arrives at the next. The order of breaks and headings follows awslabs duvet.
    """

    def __init__(self, data: bytes, rows: PhysicalLines) -> None:
        self.data = data
        self.rows = rows
        self.row = 0
        self.break_due = False
        self.breaks: list[int] = []
        self.parts: list[OutlinePart] = []
        self.description = ""

    def read(self, events: MarkdownEvents) -> None:
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
                    ##% Each sentence, and each item of a Markdown list, with a keyword of RFC 2119 MUST be a
                    ##% requirement with the level of its strongest keyword.
                    self.arrive(span["start"])
                    self.add_break(self.row)
                elif tag == "Paragraph":
                    if not self.description:
                        self.description, span = read_paragraph(events, span)
                elif "Heading" in tag:
                    ##= man/spec/trace.md#specifications
                    ##% Each heading of a Markdown specification MUST start a section with a unique id.
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

    def read_heading(self, events: MarkdownEvents, tag: Any, span: Any) -> None:
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
            self.parts.append(OutlinePart(tag["level"], anchor, heading, row, self.row))
        else:
            self.row = last
        self.break_due = False

    def cut_heading(self, offset: int) -> int:
        """Where an item ends on the first of a heading's lines, awslabs duvet loses that line and keeps the last."""
        self.rows.forget(self.row)
        self.add_break(self.row)
        self.arrive(offset)
        return self.row


def _title(data: bytes, events: MarkdownEvents, offset: int) -> tuple[tuple[int, int] | None, int]:
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


_NONE: frozenset[int] = frozenset()


class MarkdownDocument(Struct, frozen=True):
    """What a Markdown text holds."""

    title: str
    """The title of the first heading of level 1."""
    description: str
    """The text of the first paragraph."""
    sections: tuple[Section, ...]


def parse_markdown(data: bytes) -> MarkdownDocument:
    """The sections of a Markdown text, which has to be UTF-8."""
    text = data.decode()
    outline = MarkdownOutline(data, split_rows(text))
    outline.read(_parser().events_with_range(text))
    sections = _sections(outline)
    title = next((s.title for s, part in zip(sections, outline.parts, strict=True) if part.level == "H1"), "")
    return MarkdownDocument(title, outline.description, tuple(sorted(sections, key=_place)))


@cache
def _parser() -> Markdown:
    from pyromark import Markdown, Options

    return Markdown(options=Options.ENABLE_HEADING_ATTRIBUTES)


def _place(section: Section) -> tuple[int, int]:
    return section.heading


def _sections(outline: MarkdownOutline) -> list[Section]:
    data, breaks = outline.data, outline.breaks
    texts, starts = tuple(outline.rows.texts), tuple(outline.rows.starts)
    stops = [part.row for part in outline.parts[1:]]
    stops.append(len(texts))
    counts: dict[str, int] = {}
    sections = []
    for part, stop in zip(outline.parts, stops, strict=False):
        heading = part.heading
        full_title = data[heading[0] : heading[1]].decode()
        name = _unique(counts, make_anchor(full_title) if part.anchor is None else part.anchor)
        first, last = _filled(texts, part.first, stop)
        inside = breaks[bisect_right(breaks, first) : bisect_left(breaks, last)]
        marks = frozenset([row - first for row in inside]) if inside else _NONE
        title = full_title.replace("\n", " ")
        sections.append(Section(name, title, heading, full_title, texts[first:last], starts[first:last], marks))
    return sections


def _filled(texts: tuple[str, ...], first: int, stop: int) -> tuple[int, int]:
    """Where lines begin and end once the blank ones around them are dropped."""
    while first < stop and not trim(texts[first]):
        first += 1
    while stop > first and not trim(texts[stop - 1]):
        stop -= 1
    return first, stop


def _unique(counts: dict[str, int], wanted: str) -> str:
    """Each id is given once; the next one gets a number."""
    count, given = counts.get(wanted, 0), wanted
    while given in counts:
        count += 1
        given = f"{wanted}-{count}"
    counts[wanted] = count
    counts.setdefault(given, 0)
    return given
