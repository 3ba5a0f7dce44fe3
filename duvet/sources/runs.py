"""Stretches of lines that belong to annotations, with the rules of awslabs duvet: the prefix comes first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from duvet.sources.finder import Finder
from duvet.text import WHITESPACE


class Run(Struct, frozen=True):
    """Lines that follow one another without a gap."""

    line: int
    start: int
    """Where the prefix of the first line stands."""
    found: re.Match[str]
    """Where it begins before the run does, it caught a line on which no prefix comes first."""

    @property
    def text(self) -> str:
        """All from the first prefix to the end of the last line."""
        return self.found.string[self.start : self.found.end()]


def has_any(data: bytes, meta: str, content: str) -> bool:
    """Whether the file can hold an annotation at all; most can't, and need no more than this."""
    return meta.encode() in data or content.encode() in data


def runs(text: str, finder: Finder) -> Iterator[Run]:
    """The runs of a text in order."""
    line, counted = 1, 0
    for found in finder.runs(text):
        start = found.start()
        ##= man/spec/trace.md#annotations
        ##% A line MUST belong to an annotation only if one of the two prefixes comes first on it.
        if start and text[start - 1] != "\n" and text[text.rfind("\n", 0, start) + 1 : start].strip(WHITESPACE):
            below = found[0].partition("\n")[2].lstrip(WHITESPACE)
            if not below:
                continue
            start = found.end() - len(below)
        line += text.count("\n", counted, start)
        counted = start
        yield Run(line, start, found)
