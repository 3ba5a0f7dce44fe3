"""The lines of an annotation, and the code around it."""

from __future__ import annotations

from msgspec import Struct

from duvet.queries.catalogue import CitationCard
from duvet.text import line_at, line_starts, trim


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


def last_line(text: Text, card: CitationCard) -> int:
    """The last line of an annotation."""
    _, end = card.span
    last = card.line
    if text.is_blank(last) or not text.lines[last - 1].startswith("[["):
        return max(last, line_at(text.starts, end - 1) + 1 if end else 0)
    # An entry of a requirement file goes on until the next table.
    while not text.is_blank(last + 1) and not text.lines[last].startswith("["):
        last += 1
    return last


class Snippet(Struct, frozen=True):
    """An annotation as it is written, and where."""

    comment: str
    last: int
    start: int
    """The number of the first line around it."""
    lines: tuple[str, ...]


def snippet(text: Text, card: CitationCard, around: int) -> Snippet:
    """The annotation with so many lines before and after it."""
    last = last_line(text, card)
    start = max(card.line - around, 1)
    own = "\n".join(trim(line) for line in text.lines[card.line - 1 : last])
    return Snippet(own, last, start, text.lines[start - 1 : last + around])
