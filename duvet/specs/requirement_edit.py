"""Entries of requirement files, mended with nothing else changed."""

from __future__ import annotations

from duvet.config.toml_text import one_line_string
from duvet.model import Annotation, Edit
from duvet.sources.edit import Line, edit_of, line_edits
from duvet.sources.wrapping import words
from duvet.text import WHITESPACE

_LONG = ("'''", '"""')


def target_edit(text: str, annotation: Annotation, target: str) -> Edit:
    """The edit that gives an entry another target."""
    return edit_of(text, *annotation.source.target, one_line_string(target))


def quote_edits(text: str, annotation: Annotation, quote: str) -> tuple[Edit, ...]:
    """The edits that make an entry quote something else; what it makes of the file has to be looked at."""
    start, end = annotation.source.quote
    if not text.startswith(_LONG, start):
        # A string of one line stays one.
        return (edit_of(text, start + 1, end - 1, quote),)
    lines = _lines(text, start + 3, end - 3)
    filled = [index for index, line in enumerate(lines) if line.words]
    return line_edits(text, lines[filled[0] : filled[-1] + 1], quote) if filled else ()


def _lines(text: str, at: int, end: int) -> list[Line]:
    """The lines between these characters."""
    found: list[Line] = []
    while at <= end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        written = text[at:stop]
        first = stop - len(written.lstrip(WHITESPACE))
        last = at + len(written.rstrip(WHITESPACE))
        found.append(Line(at, stop, first, max(first, last), text[at:first], words(written)))
        at = stop + 1
    return found
