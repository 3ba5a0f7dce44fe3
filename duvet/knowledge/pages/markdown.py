"""The text of a page: its title, and the links in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from duvet.knowledge.pages.records import Link
from duvet.knowledge.pages.slugs import plain
from duvet.text import shortened

if TYPE_CHECKING:
    from pyromark import Markdown

_LINK = re.compile(rb"(?<!\\)\[\[([^\[\]|\\]{1,1200})(?:\\?\|([^\[\]]{0,2000}))?\]\](?!\()")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_LABELLED = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")
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
        self.html: list[Range] = []
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
            self.html.append((start, end))
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
    row_start, scanned = 0, 0
    for found in islice(_found(data, _Ranges(hidden)), MOST_LINKS):
        start, end = found.span()
        line += data.count(b"\n", scanned, start)
        scanned = start
        row_start = data.rfind(b"\n", row_start, start) + 1 or row_start
        target, heading = _meant(found)
        column = len(data[row_start:start].decode(errors="ignore")) + 1
        yield Link(target, heading, line, column, len(data[start:end].decode()))


def _found(data: bytes, *hidden: _Ranges) -> Iterator[re.Match[bytes]]:
    for found in _LINK.finditer(data):
        if _meant(found)[0] and not any(ranges.hold(found.start()) for ranges in hidden):
            yield found


class _Ranges:
    """Stretches one after another."""

    def __init__(self, ranges: list[Range]) -> None:
        self._ranges = ranges
        self._starts = [start for start, _ in ranges]

    def hold(self, place: int) -> bool:
        index = bisect_right(self._starts, place) - 1
        return index >= 0 and place < self._ranges[index][1]


def _meant(found: re.Match[bytes]) -> tuple[str, str]:
    target, _, heading = " ".join(found[1].decode().split()).partition("#")
    return plain(target), heading.strip()


def rewritten(body: str, written: Callable[[str, str, str], str]) -> str:
    """The text with something else in the place of its links, made from the target, the heading and the label."""
    data = body.encode()
    if b"[[" not in data:
        return body
    outline = _Outline(data)
    outline.read(_parser().events_with_range(body), stops=False)
    parts, at = [], 0
    # Among tags, Markdown means nothing.
    for found in _found(data, _Ranges(outline.hidden), _Ranges(outline.html)):
        label = " ".join((found[2] or b"").decode().split())
        parts += [data[at : found.start()], written(*_meant(found), label).encode()]
        at = found.end()
    return b"".join([*parts, data[at:]]).decode()
