"""Markdown texts as tests look at them: each section with its lines, and the breaks between those."""

from __future__ import annotations

from duvet.model import Section
from duvet.specs.markdown import MarkdownDocument, parse_markdown

Shown = tuple[str, str, int, int, list[str | None]]


def lines_and_breaks(section: Section) -> list[str | None]:
    """The lines, with None where a break stands."""
    shown: list[str | None] = []
    for row, line in enumerate(section.lines):
        if row in section.breaks:
            shown.append(None)
        shown.append(line)
    return shown


def show(document: MarkdownDocument) -> list[Shown]:
    return [(s.id, s.title, *s.heading, lines_and_breaks(s)) for s in document.sections]


def sections(text: str) -> list[Shown]:
    return show(parse_markdown(text.encode()))


def titles(text: str) -> list[tuple[str, str]]:
    return [(section[0], section[1]) for section in sections(text)]


def lines(text: str) -> list[str | None]:
    """The lines of the only section."""
    ((_, _, _, _, shown),) = sections(text)
    return shown
