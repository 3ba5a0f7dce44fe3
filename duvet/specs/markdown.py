"""Markdown specifications: text to sections, as CommonMark with heading attributes reads it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.model import Section
from duvet.specs.outline import Outline
from duvet.specs.rows import split_rows
from duvet.specs.slug import slug
from duvet.text import trim

if TYPE_CHECKING:
    from pyromark import Markdown

_NONE: frozenset[int] = frozenset()


class Document(Struct, frozen=True):
    """What a Markdown text holds."""

    title: str
    """The title of the first heading of level 1."""
    description: str
    """The text of the first paragraph."""
    sections: tuple[Section, ...]


def parse(data: bytes) -> Document:
    """The sections of a Markdown text, which has to be UTF-8."""
    text = data.decode()
    outline = Outline(data, split_rows(text))
    outline.read(_parser().events_with_range(text))
    sections = _sections(outline)
    title = next((s.title for s, part in zip(sections, outline.parts, strict=True) if part.level == "H1"), "")
    return Document(title, outline.description, tuple(sorted(sections, key=_place)))


@cache
def _parser() -> Markdown:
    from pyromark import Markdown, Options

    return Markdown(options=Options.ENABLE_HEADING_ATTRIBUTES)


def _place(section: Section) -> tuple[int, int]:
    return section.heading


def _sections(outline: Outline) -> list[Section]:
    data, breaks = outline.data, outline.breaks
    texts, starts = tuple(outline.rows.texts), tuple(outline.rows.starts)
    stops = [part.row for part in outline.parts[1:]]
    stops.append(len(texts))
    counts: dict[str, int] = {}
    sections = []
    for part, stop in zip(outline.parts, stops, strict=False):
        heading = part.heading
        full_title = data[heading[0] : heading[1]].decode()
        name = _unique(counts, slug(full_title) if part.anchor is None else part.anchor)
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
    ##= man/spec/trace.md#specifications
    ##% A section's id MUST be unique in its Markdown text.
    count, given = counts.get(wanted, 0), wanted
    while given in counts:
        count += 1
        given = f"{wanted}-{count}"
    counts[wanted] = count
    counts.setdefault(given, 0)
    return given
