"""The text of a page: its title, and the links in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from duvet.knowledge.pages.records import Link
from duvet.knowledge.pages.slugs import plain
from duvet.text import shortened

if TYPE_CHECKING:
    from pyromark import Markdown

_LINK = re.compile(rb"(?<!\\)\[\[([^\[\]|\\]{1,1200})(?:\\?\|[^\[\]]{0,2000})?\]\](?!\()")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_LABELLED = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")
_BLOCKS = ("CodeBlock", "HtmlBlock")
MOST_LINKS = 10_000
"""No page has more."""

Range = tuple[int, int]


class Text(Struct, frozen=True):
    """What the Markdown of a page holds."""

    title: str
    links: tuple[Link, ...]


def read_text(body: str, line: int) -> Text:
    """The title and the links of a text that begins on this line of its file."""
    data = body.encode()
    outline = _Outline(data)
    outline.read(_parser().events_with_range(body), stops=b"[[" not in data)
    return Text(outline.title, tuple(_links(data, outline.hidden, line)))


@cache
def _parser() -> Markdown:
    from pyromark import Markdown

    return Markdown()


class _Outline:
    """The first heading, and the stretches in which nothing is a link."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.title = ""
        self.hidden: list[Range] = []
        self._heading: list[str] | None = None

    def read(self, events: Any, *, stops: bool) -> None:
        """Whoever looks for no links stops at the first heading."""
        for event, span in events:
            if isinstance(event, str):
                self._say(" ")
                continue
            ((kind, value),) = event.items()
            if kind == "Text":
                self._say(value)
            elif kind == "Start":
                self._start(value, span["start"], span["end"])
            elif kind == "End":
                if self._ended(value) and stops:
                    return
            elif kind == "Code":
                ##= man/spec/pages.md#links
                ##% What stands in code, be it a span, a fence or an indented block, or in an HTML comment MUST NOT be a
                ##% link.
                self.hidden.append((span["start"], span["end"]))
                self._say(value)
            elif kind == "InlineHtml" and value.startswith("<!--"):
                self.hidden.append((span["start"], span["end"]))

    def _say(self, text: str) -> None:
        if self._heading is not None:
            self._heading.append(text)

    def _start(self, tag: Any, start: int, end: int) -> None:
        if "CodeBlock" in tag:
            self.hidden.append((start, end))
        elif tag == "HtmlBlock":
            self.hidden += [found.span() for found in _COMMENT.finditer(self.data, start, end)]
        elif "Heading" in tag and not self.title and self._heading is None:
            self._heading = []

    def _ended(self, tag: Any) -> bool:
        """Whether the title is known now."""
        if self._heading is None or "Heading" not in tag:
            return False
        self.title = _title("".join(self._heading))
        self._heading = None
        return bool(self.title)


def _title(text: str) -> str:
    labelled = _LABELLED.sub(lambda found: found[2] or found[1], text)
    return shortened(" ".join(labelled.split()), 300)


def _links(data: bytes, hidden: list[Range], line: int) -> Iterator[Link]:
    starts = [start for start, _ in hidden]
    row_start, scanned = 0, 0
    count = 0
    for found in _LINK.finditer(data):
        start, end = found.span()
        index = bisect_right(starts, start) - 1
        if index >= 0 and hidden[index][1] > start:
            continue
        line += data.count(b"\n", scanned, start)
        scanned = start
        row_start = data.rfind(b"\n", row_start, start) + 1 or row_start
        target, _, heading = " ".join(found[1].decode().split()).partition("#")
        if target := plain(target):
            column = len(data[row_start:start].decode(errors="ignore")) + 1
            yield Link(target, heading.strip(), line, column, len(data[start:end].decode()))
            count += 1
        if count == MOST_LINKS:
            return
