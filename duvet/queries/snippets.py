"""The lines of an annotation, and the code around it."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from duvet.text import line_at, line_starts, trim

_LONG = ("'''", '"""')


class Text(Struct, frozen=True):
    """The text of a file, line by line."""

    lines: tuple[str, ...]
    starts: tuple[int, ...]

    def is_blank(self, number: int) -> bool:
        """Whether nothing stands on a line; there is nothing before the first one and after the last one."""
        return not 0 < number <= len(self.lines) or not trim(self.lines[number - 1])

    def has_code(self, number: int) -> bool:
        """Whether there is more on a line than signs, such as those that begin and end comments."""
        return any(char.isalnum() for char in self.lines[number - 1])


def text_of(written: str) -> Text:
    """The lines of what is written; an end of the last one begins no further one."""
    lines = written.split("\n")
    if lines[-1] == "":
        lines.pop()
    return Text(tuple(line.removesuffix("\r") for line in lines), tuple(line_starts(written)))


class Written(Protocol):
    """An annotation where it is written."""

    @property
    def line(self) -> int:
        """Its first one."""

    @property
    def span(self) -> tuple[int, int]:
        """Its characters in the file; in a requirement file those of the head of its table."""


def last_line(text: Text, one: Written) -> int:
    """The last line of an annotation."""
    _, end = one.span
    last = one.line
    if text.is_blank(last) or not text.lines[last - 1].startswith("[["):
        return max(last, line_at(text.starts, end - 1) + 1 if end else 0)
    # An entry of a requirement file goes on until the next table, be there blank lines in its texts.
    is_within = False
    while last < len(text.lines) and (is_within or not (text.is_blank(last + 1) or text.lines[last].startswith("["))):
        is_within ^= sum(map(text.lines[last].count, _LONG)) % 2 == 1
        last += 1
    return last


class Snippet(Struct, frozen=True):
    """An annotation as it is written, and where."""

    comment: str
    last: int
    start: int
    """The number of the first line around it."""
    lines: tuple[str, ...]


def snippet(text: Text, one: Written, around: int) -> Snippet:
    """The annotation with so many lines before and after it."""
    last = last_line(text, one)
    start = max(one.line - around, 1)
    return Snippet(_lines(text, one.line, last), last, start, text.lines[start - 1 : last + around])


def comment_of(text: Text, one: Written) -> str:
    """The lines of the annotation without their indentation."""
    return _lines(text, one.line, last_line(text, one))


def _lines(text: Text, first: int, last: int) -> str:
    return "\n".join(trim(line) for line in text.lines[first - 1 : last])
