"""Finds a page's title, headings, wikilinks (`[[…]]`), and Markdown links and images."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import cache
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING
from urllib.parse import unquote

from msgspec import Struct

from duvet.specs.markdown import walk_markdown
from duvet.text import shorten_text
from duvet.words import fold_name

if TYPE_CHECKING:
    from pyromark import Markdown

REQUIREMENT_PREFIX = "req:"  # The prefix of a link to a requirement id.
MAX_TITLE_LENGTH = 300
_WIKILINK = re.compile(rb"\[\[([^\[\]|\n]{1,1200})(?:\|((?:[^\[\n]|\[(?!\[)){0,2000}?))?\]\](?!\()")
"""A label must not contain `[[`, so a label without an end is not searched again for each link inside it."""
_WEB_WIKILINK = re.compile(r"(?:https?|obsidian|mailto|ftp|file):", re.IGNORECASE)
_WEB_LINK = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(?!:)|//")
_LABELLED = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")
_HEADING_ID = re.compile(r"\s*\{#([^{}]*)\}\s*\Z")
_NUMBERED = re.compile(r"[-_]\d+\Z")
_BLOCK = re.compile(r"(?:^|(?<=\s))\^([A-Za-z0-9-]+)[ \t\r]*$", re.MULTILINE)


class LinkSyntax(StrEnum):
    WIKI = "wiki"  # `[[target#heading|label]]`
    MARKDOWN = "markdown"  # `[label](target#heading)`
    EXTERNAL = "external"  # A URL, in either syntax.


class PageLink(Struct, frozen=True, array_like=True, gc=False):
    written: str  # The target with the heading, without blanks around it.
    syntax: LinkSyntax = LinkSyntax.WIKI
    line: int = 0
    column: int = 0
    width: int = 0

    @property
    def target(self) -> str:
        return self.written if self.syntax is LinkSyntax.EXTERNAL else self.written.partition("#")[0].strip()

    @property
    def heading(self) -> str | None:
        _, sign, heading = self.written.partition("#")
        if not sign or self.syntax is LinkSyntax.EXTERNAL:
            return None
        return (unquote(heading) if self.syntax is LinkSyntax.MARKDOWN else heading).strip()

    @property
    def path(self) -> str:
        return unquote(self.target.partition("?")[0]) if self.syntax is LinkSyntax.MARKDOWN else self.target


class LinkSpan(Struct, frozen=True, gc=False):
    start: int  # In UTF-8 bytes.
    end: int
    written: str
    syntax: LinkSyntax
    label: str = ""


class HeadingSpan(Struct, frozen=True, gc=False):
    text: str
    level: int
    start: int  # In UTF-8 bytes.
    end: int


class PageOutline(Struct, frozen=True):
    title: str  # The heading of level 1 that opens the text; empty without one.
    headings: tuple[HeadingSpan, ...]
    blocks: tuple[str, ...]  # Ids, such as `^id` at the end of a line, which links can name like headings.
    links: tuple[LinkSpan, ...]


@cache
def _parser() -> Markdown:
    from pyromark import Markdown, Options

    # Otherwise `[^1]: [label](target)` would be the definition of a link.
    return Markdown(options=Options.ENABLE_FOOTNOTES)


def read_outline(body: str) -> PageOutline:
    data = body.encode()
    hidden: list[tuple[int, int]] = []
    headings: list[HeadingSpan] = []
    spans: list[LinkSpan] = []
    heading: list[str] | None = None
    title, first, level = "", "", ""
    for kind, tag, value, start, end in walk_markdown(_parser(), body, is_outline=True):
        if heading is not None and kind in ("Text", "Code", "SoftBreak", "HardBreak", "Rule"):
            heading.append(value)
        if kind == "Start":
            first = first or (value["level"] if tag == "Heading" else tag)
            if tag == "Link" or tag == "Image":
                is_mail = value["link_type"] == "Email" and not value["dest_url"].strip().startswith("mailto:")
                spans.append(_make_link("mailto:" * is_mail + value["dest_url"].strip(), start, end))
            elif tag == "Heading":
                heading, level = [], value["level"]
            elif tag == "CodeBlock" or tag == "HtmlBlock":
                hidden.append((start, end))
        elif kind == "Code" or (kind == "InlineHtml" and value.startswith("<!--")):
            hidden.append((start, end))
        elif kind == "End" and tag == "Heading" and heading is not None:
            text = _make_heading(heading)
            title = text if first == "H1" and not headings else title
            headings.append(HeadingSpan(text, int(level[1:]), start, end))
            heading = None
    hidden = sorted([*hidden, *_find_comments(data, hidden)])
    if "[[" in body:
        wikilinks = list(_find_wikilinks(data, hidden))
        inside = [(link.start, link.end) for link in wikilinks]
        spans = [*wikilinks, *(link for link in spans if not _is_inside(link.start, inside))]
    shown = sorted((link for link in spans if not _is_inside(link.start, hidden)), key=attrgetter("start"))
    blocks = dict.fromkeys(_BLOCK.findall(body)) if "^" in body else ()
    return PageOutline(_HEADING_ID.sub("", title), tuple(headings), tuple(blocks), tuple(shown))


def find_definitions(body: str) -> Iterator[LinkSpan]:
    """Yield the link definitions (`[label]: target`), used or not."""
    for found in _parser().reference_definitions(body).values() if "]:" in body else ():
        yield _make_link(found["dest"].strip(), found["span"]["start"], found["span"]["end"])


def _make_link(target: str, start: int, end: int) -> LinkSpan:
    return LinkSpan(start, end, target, LinkSyntax.EXTERNAL if _WEB_LINK.match(target) else LinkSyntax.MARKDOWN)


def _make_heading(parts: list[str]) -> str:
    text = "".join(parts)
    if "[[" in text:
        text = _LABELLED.sub(lambda found: found[2] or found[1], text)
    text = text.replace("==", "").replace("~~", "")
    if "^" in text:
        text = _BLOCK.sub("", text)
    return shorten_text(" ".join(text.split()), MAX_TITLE_LENGTH)


def _find_wikilinks(data: bytes, hidden: list[tuple[int, int]]) -> Iterator[LinkSpan]:
    masked = data
    if hidden:
        copy = bytearray(data)
        for start, end in hidden:
            copy[start:end] = bytes(end - start)
        masked = bytes(copy)
    for found in _WIKILINK.finditer(masked):
        start, end = found.span()
        backslashes = 0
        while masked[start - backslashes - 1 : start - backslashes] == b"\\":
            backslashes += 1
        # Code in the heading is part of the link.
        if backslashes % 2 or (hidden and b"\0" in found[1].partition(b"#")[0]):
            continue
        written = data[slice(*found.span(1))].decode()
        label = data[slice(*found.span(2))].decode() if found[2] else ""
        if found[2] is not None:
            # In a table, the bar is escaped.
            written = written.removesuffix("\\")
        if written := written.strip():
            syntax = LinkSyntax.EXTERNAL if ":" in written and _WEB_WIKILINK.match(written) else LinkSyntax.WIKI
            is_embed = masked[start - 1 : start] == b"!"
            yield LinkSpan(start - is_embed, end, written, syntax, " ".join(label.split()))


def _find_comments(data: bytes, hidden: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    opened = -1
    for found in re.finditer(rb"(?<!%)%%", data) if b"%%" in data else ():
        if _is_inside(found.start(), hidden):
            continue
        if opened < 0:
            opened = found.start()
        else:
            yield opened, found.end()
            opened = -1
    if opened >= 0:
        yield opened, len(data)


def _is_inside(place: int, ranges: list[tuple[int, int]]) -> bool:
    index = bisect_right(ranges, place, key=itemgetter(0)) - 1
    return index >= 0 and place < ranges[index][1]


def locate_links(body: str, links: tuple[LinkSpan, ...], line: int) -> Iterator[PageLink]:
    """`line` is the line on which `body` begins."""
    data = body.encode()
    scanned, column = 0, 1
    for link in links:
        line += data.count(b"\n", scanned, link.start)
        start = data.rfind(b"\n", scanned, link.start) + 1
        column = (1 if start else column) + len(data[start or scanned : link.start].decode(errors="ignore"))
        scanned = link.start
        yield PageLink(link.written, link.syntax, line, column, len(data[link.start : link.end].decode()))


def rewrite_wikilinks(body: str, write: Callable[[PageLink, str], str]) -> str:
    if "[[" not in body:
        return body
    data = body.encode()
    parts, at = [], 0
    for link in read_outline(body).links:
        if data.startswith((b"[[", b"![["), link.start) and link.start >= at:
            parts += [data[at : link.start], write(PageLink(link.written, link.syntax), link.label).encode()]
            at = link.end
    return b"".join([*parts, data[at:]]).decode()


def has_heading(headings: tuple[str, ...], blocks: tuple[str, ...], heading: str) -> bool:
    if heading.startswith("^"):
        return heading[1:].strip() in blocks
    last = heading.rpartition("#")[2]

    def fold(*texts: str) -> set[str]:
        return {"".join(filter(str.isalnum, fold_name(text))) for text in texts}

    wanted = fold(last, _make_heading([last]), _NUMBERED.sub("", last))
    for one in headings:
        named = _HEADING_ID.search(one)
        if wanted & fold(one, *((named[1], one[: named.start()]) if named else ())):
            return True
    return False
