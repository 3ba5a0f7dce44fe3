"""Walks the events of Markdown text, and parses Markdown specifications into sections."""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import accumulate, chain, count
from threading import Lock
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from duvet.errors import MarkdownError
from duvet.model import RequirementForm, Section
from duvet.specs.extraction import find_level
from duvet.specs.section_names import compile_ids, make_anchor, qualify_sections
from duvet.text import BOM, byte_length, trim

if TYPE_CHECKING:
    from pyromark import Markdown

    from duvet.specs.plain_text import Block

_MAX_DESCRIPTION = 400

MarkdownEvent = tuple[str, str, Any, int, int]
"""An event's kind, its tag name (for `Start` and `End`), its text or tag attributes, and its byte range."""


def walk_markdown(parser: Markdown, text: str, *, is_outline: bool = False) -> Iterator[MarkdownEvent]:
    """With `is_outline`, leave out texts and breaks outside headings."""
    kind, span = "", {"start": 0, "end": 0}
    value: Any
    is_shown = not is_outline
    try:
        events, failure = _parse_events(parser, text, merge_text=is_outline)
        for event, span in events:
            if isinstance(event, str):
                kind = event
                if is_shown:
                    yield kind, "", " ", span["start"], span["end"]
                continue
            kind, value = event.popitem()
            if kind == "Text" and not is_shown:
                continue
            if kind != "Start" and kind != "End":
                yield kind, "", value, span["start"], span["end"]
                continue
            tag, attributes = (value, None) if isinstance(value, str) else value.popitem()
            is_shown = not is_outline or (tag == "Heading" and kind == "Start") or (is_shown and tag != "Heading")
            yield kind, tag, attributes, span["start"], span["end"]
        if failure is not None:
            raise failure
    except BaseException as error:
        if not _is_panic(error):
            raise
        raise MarkdownError(
            "the Markdown parser fails on this line",
            line=text.encode().count(b"\n", 0, span["start" if kind == "Start" else "end"]) + 1,
            hint="rewrite the line; write attributes such as `{#id}` after the text of the heading",
        ) from None


# Attributes on a separate line of an underlined heading: pulldown-cmark fails on some of them.
_RISKY = re.compile(r"\{[^{}\n]*\}[ \t\r]*\n[ \t>]*[=-]")
_stderr_lock = Lock()


def _parse_events(
    parser: Markdown, text: str, *, merge_text: bool
) -> tuple[Iterable[tuple[Any, Any]], BaseException | None]:
    events: Iterable[tuple[Any, Any]] = parser.events_with_range(text, merge_text=merge_text)
    if "}" not in text or not _RISKY.search(text):
        return events, None
    found: list[tuple[Any, Any]] = []
    try:
        with _silence_stderr():
            found.extend(events)
    except BaseException as error:
        if not _is_panic(error):
            raise
        return found, error
    return found, None


def _is_panic(error: BaseException) -> bool:
    # PyO3 derives the class from BaseException, and no module exports it.
    return type(error).__name__ == "PanicException"


@contextmanager
def _silence_stderr() -> Iterator[None]:
    """Discard what native code writes to standard error, because a failing Rust library prints its backtrace there."""
    with _stderr_lock:
        try:
            kept = os.dup(2)
        except OSError:
            yield
            return
        try:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 2)
            os.close(nothing)
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


class MarkdownDocument(Struct, frozen=True):
    title: str  # The title of the first heading of level 1.
    description: str  # The text of the first paragraph.
    sections: tuple[Section, ...]


def parse_markdown(data: bytes, form: RequirementForm | None = None, stem: str = "") -> MarkdownDocument:
    text = data.decode()
    outline = _Outline(data, text, is_like_upstream=form is None)
    if form is None:
        outline.read(walk_markdown(_parser(), text))
        sections = outline.sections()
    else:
        # Not needed for awslabs duvet's schema.
        from duvet.specs.markdown_requirements import add_plain_texts
        from duvet.specs.plain_text import read_blocks

        events = list_extended_events(text)
        outline.read(iter(events))
        sections = outline.sections()
        blocks = read_blocks(data, events)
        preamble = outline.make_preamble(blocks, sections, form, stem)
    title = next((s.title for s, part in zip(sections, outline.parts, strict=True) if part.level == "H1"), "")
    if form is not None:
        sections = add_plain_texts([*preamble, *sections], blocks, form)
    ordered = tuple(sorted(sections, key=lambda one: one.heading))
    return MarkdownDocument(title, outline.description, ordered if form is None else qualify_sections(ordered))


@cache
def _parser() -> Markdown:
    from pyromark import Markdown, Options

    return Markdown(options=Options.ENABLE_HEADING_ATTRIBUTES)


@cache
def extended_parser() -> Markdown:
    from pyromark import Markdown, Options

    options = Options.ENABLE_HEADING_ATTRIBUTES | Options.ENABLE_TABLES | Options.ENABLE_TASKLISTS
    options |= Options.ENABLE_STRIKETHROUGH | Options.ENABLE_FOOTNOTES
    options |= Options.ENABLE_YAML_STYLE_METADATA_BLOCKS | Options.ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS
    return Markdown(options=options)


def list_extended_events(text: str) -> list[MarkdownEvent]:
    # Three blanks in place of a byte order mark change no offset.
    text = text.replace(BOM, "   ", 1) if text[:1] == BOM else text
    if "!!! " in text or "??? " in text or "???+ " in text:
        # The same number of characters in a form that the parser knows.
        text = _ADMONITION.sub(lambda found: f"{found[1]}-   {'.' * (len(found[2]) - len('!!! '))}", text)
    return list(walk_markdown(extended_parser(), text))


_TITLED = r"[a-z][a-z ,-]*(?:\"[^\"\n]*\")?[ \t\r]*$"
_ADMONITION = re.compile(rf"^([ \t>]*)(!!! |\?\?\?\+? )(?={_TITLED})", re.MULTILINE)
"""The marker that begins an indented block of MkDocs, such as `!!! ` in `!!! note`."""
CONTAINER = re.compile(
    rf"[ \t>]*(?:(?:!!!|\?\?\?\+?) {_TITLED}|:::+[ \t]*(?:[a-z][a-z-]*)?(?:[ \t]*(?:\[[^\]\n]*\]|\{{[^}}\n]*\}}))?[ \t\r]*$"
    r"|\[![A-Za-z]+\][-+]?)".encode(),
    re.MULTILINE,
)
"""A line that begins or ends a note, warning or similar block, without the title of the block."""


def remove_markup(text: str) -> str:
    from duvet.specs.plain_text import read_blocks

    blocks = read_blocks(text.encode(), walk_markdown(extended_parser(), text))
    return " ".join([block.text for block in blocks])


def split_rows(text: str) -> tuple[list[str], list[int], list[int]]:
    """Return the lines, and the bytes where each begins and ends; a `\\r` belongs to a line end only before `\\n`."""
    rows = text.split("\n")
    starts = list(accumulate([byte_length(row) + 1 for row in rows], initial=0))
    ends = [start - 1 for start in starts[1:]]
    del starts[-1]
    for index in range(len(rows) - 1) if "\r\n" in text else ():
        if rows[index].endswith("\r"):
            rows[index] = rows[index][:-1]
            ends[index] -= 1
    if not rows[-1]:
        del rows[-1], starts[-1], ends[-1]
    return rows, starts, ends


class _OutlinePart(Struct, frozen=True):
    level: str
    anchor: str | None
    heading: tuple[int, int]
    row: int
    first: int


class _Outline:
    def __init__(self, data: bytes, text: str, *, is_like_upstream: bool = True) -> None:
        self.data = data
        self.is_like_upstream = is_like_upstream
        self.rows, self.starts, self.ends = split_rows(text)
        self.row = 0
        self.break_due = False
        self.breaks: list[int] = []
        self.parts: list[_OutlinePart] = []
        self.description = ""

    def read(self, events: Iterator[MarkdownEvent]) -> None:
        last = 0
        for kind, tag, attributes, start, end in events:
            if kind == "End":
                if tag == "Item":
                    self._advance(last)
                    self.break_due = True
                continue
            last = start
            if kind != "Start":
                continue
            if tag == "Item":
                self._advance(start)
                self._add_break(self.row)
            elif tag == "Paragraph" and not self.description:
                self.description, last = _read_paragraph(events, start)
            elif tag == "Heading":
                self._read_heading(events, attributes, start, end)
        self._advance(len(self.data))

    def _advance(self, offset: int) -> None:
        row = bisect_right(self.ends, offset, self.row)
        if self.break_due and row > self.row:
            self._add_break(self.row + 1)
        self.row = row

    def _add_break(self, row: int) -> None:
        self.break_due = False
        self.breaks.append(row)

    def _read_heading(self, events: Iterator[MarkdownEvent], attributes: Any, start: int, end: int) -> None:
        self._advance(start)
        # The byte range of the title's text and the markup after it, and the offset of its last event.
        title: tuple[int, int] | None = None
        offset = start
        for kind, tag, value, first, stop in events:
            if kind == "End" and tag == "Heading":
                break
            if kind != "End":
                offset = first
            if kind != "Text":
                title = title and (title[0], stop)
            # The file spells an entity differently.
            elif self.data[first:stop] == value.encode():
                title = (title[0], max(title[1], stop)) if title else (first, stop)
        last = bisect_right(self.ends, offset, self.row)
        anchor = attributes["id"]
        if self.is_like_upstream and self.break_due and last > self.row:
            # If an item ends on the first line of a heading, awslabs duvet loses that line and keeps the last.
            del self.rows[self.row], self.starts[self.row], self.ends[self.row]
            self._add_break(self.row)
            self._advance(offset)
            last = self.row
            title = anchor = None
        row = self.row
        if last < len(self.rows):
            heading = title or (self.starts[row], self.ends[last])
            self.row = max(last + 1, bisect_left(self.starts, end, last))
            self.parts.append(_OutlinePart(attributes["level"], anchor, heading, row, self.row))
        else:
            self.row = last
        self.break_due = False

    def sections(self) -> list[Section]:
        texts, starts = tuple(self.rows), tuple(self.starts)
        stops = [part.row for part in self.parts[1:]]
        stops.append(len(texts))
        counts: dict[str, int] = {}
        above: list[tuple[str, str, str]] = []  # The level, title and anchor of each heading above, and of the section.
        sections = []
        for part, stop in zip(self.parts, stops, strict=False):
            heading = part.heading
            full_title = self.data[heading[0] : heading[1]].decode()
            wanted = make_anchor(full_title) if part.anchor is None else part.anchor
            number, id = counts.get(wanted, 0), wanted
            while id in counts:
                number += 1
                id = f"{wanted}-{number}"
            counts[wanted] = number
            counts.setdefault(id, 0)
            first, last = part.first, stop
            while first < last and not trim(texts[first]):
                first += 1
            while last > first and not trim(texts[last - 1]):
                last -= 1
            inside = self.breaks[bisect_right(self.breaks, first) : bisect_left(self.breaks, last)]
            marks = frozenset([row - first for row in inside])
            title = full_title.replace("\n", " ")
            one = Section(id, title, heading, full_title, texts[first:last], starts[first:last], marks)
            if not self.is_like_upstream:
                ##= man/spec/trace.md#sections
                ##% duvet MUST distinguish sections with the same heading by the headings above them, as in
                ##% `requirement-2/acceptance-criteria`.
                above = [each for each in above if each[0] < part.level]
                path = tuple([each[1] for each in above])
                above.append((part.level, title, wanted))
                one = replace(one, path=path, anchors=tuple([each[2] for each in above]))
            sections.append(one)
        return sections

    def make_preamble(
        self, blocks: Sequence[Block], sections: Sequence[Section], form: RequirementForm, stem: str
    ) -> Iterator[Section]:
        end = min((part.heading[0] for part in self.parts), default=len(self.data) + 1)
        above = [block for block in blocks if block.runs[0].start < end]
        ids = compile_ids(form.ids)
        ##= man/spec/trace.md#sections
        ##% duvet MUST treat the text above the first heading of a Markdown file as a section with the name of the file.
        can_state = any(find_level(one.text, any_case=True) or ids.split(one.text, one.marked) for one in above)
        if not above or (self.parts and not can_state):
            return
        taken = {name for section in sections for name in (section.id, section.anchors[-1])}
        wanted = make_anchor(stem) or "preamble"
        names = chain((wanted, f"{wanted}-preamble"), (f"{wanted}-preamble-{number}" for number in count(2)))
        id = next(name for name in names if name not in taken)
        texts, starts = self.rows, self.starts
        first = bisect_right(starts, above[0].runs[0].start) - 1
        last = self.parts[0].row if self.parts else len(texts)
        while last > first and not trim(texts[last - 1]):
            last -= 1
        at = starts[first]
        yield Section(id, stem or id, (at, at), "", tuple(texts[first:last]), tuple(starts[first:last]), anchors=(id,))


def _read_paragraph(events: Iterator[MarkdownEvent], last: int) -> tuple[str, int]:
    pieces: list[str] = []
    images = 0
    has_text = False
    for kind, tag, value, start, _ in events:
        if kind == "End":
            if tag == "Paragraph":
                break
            images -= tag == "Image"
            continue
        last = start
        images += tag == "Image"
        if kind in ("Text", "Code", "SoftBreak", "HardBreak"):
            has_text = has_text or (not images and bool(value.strip()))
            pieces.append(value)
    text = " ".join("".join(pieces).split()) if has_text else ""
    if len(text) > _MAX_DESCRIPTION:
        text = (text[: _MAX_DESCRIPTION - 1].rpartition(" ")[0] or text[: _MAX_DESCRIPTION - 1]) + "…"
    return text, last
