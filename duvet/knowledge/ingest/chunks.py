"""Reads a file and splits it into chunks at headings and symbols."""

from __future__ import annotations

import os
import re
import stat
import time
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

from msgspec import DecodeError, Struct, ValidationError, msgpack
from msgspec.structs import replace

from duvet.config.document import check_document_size
from duvet.config.document_formats import parse_scalar_as_text, parse_yaml
from duvet.errors import DuvetError, UnreadableError
from duvet.knowledge.ingest.files import make_warning, make_warnings
from duvet.knowledge.ingest.subsystems import find_imports
from duvet.knowledge.ingest.symbols import find_symbols
from duvet.knowledge.pages.page import find_body_start
from duvet.model import Problem
from duvet.project.project import Project
from duvet.store.records import FileKind, Symbol, TextPiece
from duvet.text import BOM, escape_line_ends, find_line_index, line_starts, shorten_text
from duvet.tree.record import FileStamp, is_fresh, make_file_stamp


class FileRecord(Struct, frozen=True, array_like=True, gc=False, omit_defaults=True):
    """What a file looked like, and what it says of itself and of others."""

    seen: FileStamp | None = None
    """None where it was not read from the disk."""
    subsystem: str = ""
    tags: tuple[str, ...] = ()
    title: str = ""
    slug: str = ""
    links: tuple[str, ...] = ()
    """Paths as they are written, relative to the file."""
    pages: tuple[str, ...] = ()
    """What stands between `[[` and `]]`."""
    imports: tuple[str, ...] = ()
    """What a test imports."""


class IngestMemo(Struct, frozen=True, array_like=True):
    """The files as they were, and how they were read."""

    how: str = ""
    files: dict[str, FileRecord] = {}

    def encoded(self) -> bytes:
        """To be kept."""
        return zlib.compress(msgpack.encode(self), 1)


def decode_memo(data: bytes | None, how: str) -> IngestMemo:
    """What was kept; nothing where that can't be read, or was read in another way."""
    with suppress(DecodeError, ValidationError, zlib.error):
        if data:
            memo = msgpack.decode(zlib.decompress(data), type=IngestMemo)
            if memo.how == how:
                return memo
    return IngestMemo(how)


WINDOW, OVERLAP = 1000, 200
"""Characters."""

_LEAST = 500
"""A piece that ends before a heading has as many, and one that ends with a line."""
_WORDS = 800
"""One that ends between words."""

TitleLookup = Callable[[int, int], str]
"""What stands above a stretch of the text."""


def cut_pieces(
    text: str, headings: Sequence[int] = (), title: TitleLookup = lambda start, end: ""
) -> Iterator[TextPiece]:
    """The pieces of a text with headings at these characters; blank ones are left out."""
    ##= man/spec/knowledge.md#files
    ##% `duvet ingest` MUST cut a text into chunks of at most 1,000 characters, at headings and line ends, with an
    ##% overlap of up to 200 characters.
    start, line, counted = 0, 1, 0
    while start < len(text):
        end, is_heading = _end(text, start, headings)
        line += text.count("\n", counted, start)
        counted = start
        held = text[start:end]
        if not held.isspace():
            last = line + held.rstrip("\n").count("\n")
            yield TextPiece(start=start, end=end, line_start=line, line_end=last, title=title(start, end))
        if end == len(text):
            return
        start = end if is_heading else _back(text, start, end)


def _end(text: str, start: int, headings: Sequence[int]) -> tuple[int, bool]:
    """Where a piece ends, and whether a heading follows."""
    most = start + WINDOW
    if most >= len(text) and not headings:
        return len(text), False
    index = bisect_right(headings, min(most, len(text) - 1)) - 1
    if index >= 0 and headings[index] >= start + _LEAST:
        return headings[index], True
    if most >= len(text):
        return len(text), False
    line = text.rfind("\n", start + _LEAST, most) + 1
    if line:
        return line, False
    word = text.rfind(" ", start + _WORDS, most) + 1
    return word or most, False


def _back(text: str, start: int, end: int) -> int:
    """Where the piece after one begins that ends there."""
    wanted = max(end - OVERLAP, start + 1)
    line = text.find("\n", wanted - 1, end - 1) + 1
    if line:
        return line
    word = text.find(" ", wanted - 1, end - 1) + 1
    return word or wanted


_LONGEST, _MOST = 300, 100


class DocumentFrontMatter(Struct, frozen=True):
    """What is of use to us."""

    subsystem: str = ""
    title: str = ""
    slug: str = ""
    tags: tuple[str, ...] = ()


def read_document_front(path: str, text: str) -> DocumentFrontMatter:
    """What the front matter says, which is given without the text after it; DuvetError where it can't be read."""
    if not text:
        return DocumentFrontMatter()
    document = parse_yaml(text.rstrip().removesuffix("...").removesuffix("---"), path, parse_scalar_as_text)
    check_document_size(document)
    values = document.values
    tags = values.get("tags")
    words = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else ()
    kept = tuple(dict.fromkeys(filter(None, map(_text, words[:_MOST]))))
    subsystem, title, slug = (_text(values.get(key)) for key in ("subsystem", "title", "slug"))
    return DocumentFrontMatter(subsystem, title, slug, kept)


def _text(value: Any) -> str:
    return shorten_text(escape_line_ends(value), _LONGEST) if isinstance(value, str) else ""


MARKDOWN_ENDINGS = (".md", ".markdown", ".mdx")

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


class OutlineHeading(Struct, frozen=True):
    """Where a part of a document begins."""

    start: int
    level: int
    title: str


class DocumentOutline(Struct, frozen=True):
    """The headings, and the links as they are written: to files, and between `[[` and `]]`."""

    headings: tuple[OutlineHeading, ...] = ()
    links: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The first heading."""
        return self.headings[0].title if self.headings else ""


def read_outline(path: str, text: str, start: int = 0) -> DocumentOutline:
    """The outline of a document whose text begins at that character; of a file of another kind, nothing."""
    ending = path[path.rfind(".") :].lower()
    if ending in MARKDOWN_ENDINGS:
        reader = _Markdown()
        reader.read(text, start)
        return DocumentOutline(tuple(reader.headings), tuple(reader.links), tuple(reader.pages))
    headings = _PLAIN.get(ending)
    return DocumentOutline(tuple(headings(text, start))) if headings else DocumentOutline()


def _lines(text: str, start: int) -> Iterator[tuple[int, str]]:
    for line in text[start:].split("\n"):
        yield start, line
        start += len(line) + 1


class _Markdown:
    """Goes through a text line by line: of blocks, only fences matter here."""

    def __init__(self) -> None:
        self.headings: list[OutlineHeading] = []
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


def _of_adoc(text: str, start: int) -> Iterator[OutlineHeading]:
    for at, line in _lines(text, start):
        found = _ADOC.fullmatch(line.rstrip()) if line[:1] == "=" and len(line) < _LONGEST_LINE else None
        if found:
            yield _heading(at, len(found[1]), found[2])


def _of_rst(text: str, start: int) -> Iterator[OutlineHeading]:
    levels: dict[str, int] = {}
    above = (start, "")
    for at, line in _lines(text, start):
        if above[1] and _RULE.fullmatch(line.rstrip()) and not _RULE.fullmatch(above[1]):
            # What stands below a title first is the highest level.
            yield _heading(above[0], levels.setdefault(line[0], len(levels) + 1), above[1])
        above = (at, line.strip() if len(line) < _LONGEST_LINE else "")


_PLAIN: dict[str, Callable[[str, int], Iterator[OutlineHeading]]] = {
    ".adoc": _of_adoc,
    ".asciidoc": _of_adoc,
    ".rst": _of_rst,
}


def _heading(start: int, level: int, title: str) -> OutlineHeading:
    plain = " ".join(title.replace("`", "").replace("**", "").split())
    return OutlineHeading(start, level, shorten_text(plain, _LONGEST_TITLE))


_TRAILS_MOST = 4
"""So many symbols are named."""
_FARTHEST = 500
"""One that so many others stand behind is around nothing any more."""


class HeadingTrails:
    """The headings above each place of a document."""

    def __init__(self, outline: DocumentOutline, title: str = "") -> None:
        """The title is that of the whole document, where its first heading says something else."""
        self._starts = [one.start for one in outline.headings]
        self._trails: list[str] = []
        self._before = title
        above: list[OutlineHeading] = []
        first = title if title != outline.title else ""
        for one in outline.headings:
            while above and above[-1].level >= one.level:
                above.pop()
            above.append(one)
            self._trails.append(" > ".join(filter(None, [first, *(each.title for each in above)])))

    def at(self, start: int, end: int) -> str:
        """The headings above a stretch."""
        index = bisect_right(self._starts, start) - 1
        if index < 0 and self._starts and self._starts[0] < end:
            # Nothing but front matter and the like stands before it.
            index = 0
        return self._trails[index] if index >= 0 else self._before


class SymbolTrails:
    """What code declares around each place, and in it."""

    def __init__(self, text: str, symbols: Sequence[Symbol]) -> None:
        """The symbols are in the order of their first lines, what is around others first."""
        self._lines = line_starts(text)
        self._symbols = symbols
        self._firsts = [one.line_start for one in symbols]

    def at(self, start: int, end: int) -> str:
        """The symbol around the beginning of a stretch, and those that begin in it."""
        first, last = (find_line_index(self._lines, place) + 1 for place in (start, end - 1))
        low, high = bisect_left(self._firsts, first), bisect_right(self._firsts, last)
        nearest = reversed(self._symbols[max(0, low - _FARTHEST) : low])
        around = next((one for one in nearest if one.line_end >= first), None)
        inside = [one.qualified_name for one in self._symbols[low:high]]
        return ", ".join(([around.qualified_name] if around else []) + inside[:_TRAILS_MOST])


_BINARY = 1024
"""So many bytes tell whether a file is text."""


class IngestContent(Struct, frozen=True, kw_only=True):
    """What is in a file."""

    digest: str = ""
    text: str = ""
    pieces: tuple[TextPiece, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    known: FileRecord = FileRecord()
    skipped: str = ""
    modified: float | None = None
    problems: tuple[Problem, ...] = ()


class IngestReader:
    """Reads the files of a project, those that are not what they were."""

    def __init__(self, project: Project, most: int, *, finds_symbols: bool, now: int | None = None) -> None:
        self._project = project
        self._most = most
        self._finds_symbols = finds_symbols
        self._now = time.time_ns() if now is None else now

    def modified(self, path: str, seen: FileStamp | None) -> float | None:
        """When a file was written, if it looks as it did then; None where it has to be read."""
        ##= man/spec/knowledge.md#ingest-runs
        ##% `duvet ingest` MUST process only files whose bytes have changed, and compute all vectors again when the
        ##% model or more than a fifth of the chunks has changed.
        if seen is None or seen.digest or not self._project.on_disk:
            return None
        try:
            info = os.stat(self._project.disk.at(path))
        except (OSError, ValueError):
            return None
        return info.st_mtime if seen.looks_like(info) else None

    def read(self, path: str, kind: FileKind, digest: str) -> IngestContent | None:
        """What is in a file now; no text where it is what had this digest, None where it is gone."""
        from blake3 import blake3

        try:
            data, seen, modified = self._bytes(path)
        except UnreadableError as error:
            if isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError)):
                return None
            return IngestContent(skipped="unreadable", problems=make_warnings(error))
        if data is None:
            return IngestContent(skipped="too large", known=FileRecord(seen), modified=modified)
        found = blake3(data).hexdigest()
        if found == digest:
            return IngestContent(digest=found, known=FileRecord(seen), modified=modified)
        return self._content(path, kind, data, IngestContent(digest=found, known=FileRecord(seen), modified=modified))

    def _bytes(self, path: str) -> tuple[bytes | None, FileStamp | None, float | None]:
        """The bytes, none of a file that is too large, and what it looked like."""
        if not self._project.on_disk:
            data = self._project.tree.read(path)
            return (data if len(data) <= self._most else None), None, None
        disk = self._project.disk
        info = disk.marks(path)
        if stat.S_ISREG(info.st_mode) and info.st_size > self._most:
            return None, make_file_stamp(info), info.st_mtime
        data, info = disk.read_with_marks(path)
        # What was written a moment ago may be written once more and look the same.
        seen = make_file_stamp(info, b"?" if is_fresh(info, self._now) else b"")
        return (data if len(data) <= self._most else None), seen, info.st_mtime

    def _content(self, path: str, kind: FileKind, data: bytes, found: IngestContent) -> IngestContent:
        text = _reading_text(data)
        ##= man/spec/knowledge.md#files
        ##% `duvet ingest` MUST keep only the name of a file that is empty, too large, not UTF-8 or unreadable, and skip
        ##% one whose name is not UTF-8.
        if text is None or not text.strip():
            return replace(found, skipped="empty" if text is not None else "binary")
        if kind is FileKind.DOC or path.lower().endswith(MARKDOWN_ENDINGS):
            return _document(path, text, found)
        symbols = find_symbols(path, data) if self._finds_symbols else ()
        known = replace(found.known, imports=find_imports(path, text)) if kind is FileKind.TEST else found.known
        return replace(found, text=text, symbols=symbols, pieces=_code(text, symbols), known=known)


def _reading_text(data: bytes) -> str | None:
    """The text; None where it is none."""
    if b"\0" in data[:_BINARY]:
        return None
    try:
        return data.decode().removeprefix(BOM)
    except UnicodeDecodeError:
        return None


def _code(text: str, symbols: Sequence[Symbol]) -> tuple[TextPiece, ...]:
    return tuple(cut_pieces(text, title=SymbolTrails(text, symbols).at)) if symbols else tuple(cut_pieces(text))


def _document(path: str, text: str, found: IngestContent) -> IngestContent:
    problems: tuple[Problem, ...] = ()
    front, start = DocumentFrontMatter(), find_body_start(text)
    try:
        front = read_document_front(path, text[:start])
    except DuvetError as error:
        problems = (make_warning(f"its front matter can't be read: {error.message}", path),)
    outline = read_outline(path, text, start)
    cut = tuple(cut_pieces(text, [one.start for one in outline.headings], HeadingTrails(outline, front.title).at))
    known = FileRecord(
        found.known.seen,
        front.subsystem,
        front.tags,
        front.title or outline.title,
        front.slug,
        outline.links,
        outline.pages,
    )
    return replace(found, text=text, pieces=cut, known=known, problems=problems)
