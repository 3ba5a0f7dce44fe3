"""The headings of a document, and what it links to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from msgspec import Struct

from duvet.text import shortened

MARKDOWN = (".md", ".markdown", ".mdx")

_FENCE = re.compile(r"`{3,}|~{3,}")
_MARKED = re.compile(r"(#{1,6})[ \t]+(.*)")
_CLOSING = re.compile(r"(?:^|[ \t])#+$")
_UNDERLINE = re.compile(r"=+|-+")
_NO_PARAGRAPH = re.compile(r"[>|#]|(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|\s*$")
_CODE = re.compile(r"(?<!`)(`{1,9})(?!`).{0,500}?(?<!`)\1(?!`)")
_LINK = re.compile(
    r"""\[\[(?P<page>[^\[\]|]{1,300})(?:\|[^\[\]]{0,300})?\]\]
    | \]\([ \t]{0,9}(?:<(?P<angled>[^<>]{1,1000})>|(?P<plain>[^\s()<>]{1,1000}))
    | ^\[[^\]]{1,300}\]:[ \t]{0,9}<?(?P<defined>[^\s<>]{1,1000})
    """,
    re.VERBOSE,
)
_ADOC = re.compile(r"(={1,6})[ \t]+(\S.*)")
_RULE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}")
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#")

_LONGEST_LINE = 500
"""No heading is longer."""
_LONGEST_TITLE = 100
_MOST_LINKS = 10_000


class Heading(Struct, frozen=True):
    """Where a part of a document begins."""

    start: int
    level: int
    title: str


class Outline(Struct, frozen=True):
    """The headings, and the links as they are written: to files, and between `[[` and `]]`."""

    headings: tuple[Heading, ...] = ()
    links: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The first heading."""
        return self.headings[0].title if self.headings else ""


def outline_of(path: str, text: str, start: int = 0) -> Outline:
    """The outline of a document whose text begins at that character; of a file of another kind, nothing."""
    ending = path[path.rfind(".") :].lower()
    if ending in MARKDOWN:
        reader = _Markdown()
        reader.read(text, start)
        return Outline(tuple(reader.headings), tuple(reader.links), tuple(reader.pages))
    headings = _PLAIN.get(ending)
    return Outline(tuple(headings(text, start))) if headings else Outline()


def _lines(text: str, start: int) -> Iterator[tuple[int, str]]:
    for line in text[start:].split("\n"):
        yield start, line
        start += len(line) + 1


class _Markdown:
    """Goes through a text line by line: of blocks, only fences matter here."""

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self.links: dict[str, None] = {}
        self.pages: dict[str, None] = {}
        self._fence = ""

    def read(self, text: str, start: int) -> None:
        """Note everything from that character on."""
        above: tuple[int, str] | None = None
        for at, line in _lines(text, start):
            plain = line.strip()
            if self._is_fenced(plain):
                above = None
                continue
            if "[" in line:
                self._link(plain)
            title = self._marked(plain) if plain[:1] == "#" else None
            if title:
                self.headings.append(_heading(at, *title))
            elif above and _UNDERLINE.fullmatch(plain):
                self.headings.append(_heading(above[0], 1 if plain[0] == "=" else 2, above[1]))
            is_text = not title and len(plain) < _LONGEST_LINE and not _NO_PARAGRAPH.match(plain)
            above = (at, plain) if is_text else None

    def _is_fenced(self, plain: str) -> bool:
        """Whether a line is part of a block of code."""
        found = _FENCE.match(plain) if plain[:1] in ("`", "~") else None
        if self._fence:
            if found and found[0].startswith(self._fence) and found.end() == len(plain):
                self._fence = ""
            return True
        if found and not (found[0][0] == "`" and "`" in plain[found.end() :]):
            self._fence = found[0]
            return True
        return False

    @staticmethod
    def _marked(plain: str) -> tuple[int, str] | None:
        found = _MARKED.fullmatch(plain) if len(plain) < _LONGEST_LINE else None
        return (len(found[1]), _CLOSING.sub("", found[2])) if found else None

    def _link(self, plain: str) -> None:
        for found in _LINK.finditer(_CODE.sub("", plain) if "`" in plain else plain):
            if len(self.links) + len(self.pages) >= _MOST_LINKS:
                return
            if found["page"]:
                self.pages[found["page"]] = None
                continue
            written = found["angled"] or found["plain"] or found["defined"]
            target = unquote(written).partition("#")[0].partition("?")[0]
            if target and "\0" not in target and not _REMOTE.match(written):
                self.links[target] = None


def _of_adoc(text: str, start: int) -> Iterator[Heading]:
    for at, line in _lines(text, start):
        found = _ADOC.fullmatch(line.rstrip()) if line[:1] == "=" and len(line) < _LONGEST_LINE else None
        if found:
            yield _heading(at, len(found[1]), found[2])


def _of_rst(text: str, start: int) -> Iterator[Heading]:
    levels: dict[str, int] = {}
    above = (start, "")
    for at, line in _lines(text, start):
        if above[1] and _RULE.fullmatch(line.rstrip()) and not _RULE.fullmatch(above[1]):
            # What stands below a title first is the highest level.
            yield _heading(above[0], levels.setdefault(line[0], len(levels) + 1), above[1])
        above = (at, line.strip() if len(line) < _LONGEST_LINE else "")


_PLAIN: dict[str, Callable[[str, int], Iterator[Heading]]] = {
    ".adoc": _of_adoc,
    ".asciidoc": _of_adoc,
    ".rst": _of_rst,
}


def _heading(start: int, level: int, title: str) -> Heading:
    plain = " ".join(title.replace("`", "").replace("**", "").split())
    return Heading(start, level, shortened(plain, _LONGEST_TITLE))
