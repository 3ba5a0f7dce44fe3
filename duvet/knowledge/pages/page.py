"""Parses a page: front matter, title, slug, wikilinks (`[[…]]`)."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from duvet import errors, rules
from duvet.config.document import DataDocument, DocumentError, check_document_size
from duvet.model import Place, Problem
from duvet.specs.markdown import walk_markdown
from duvet.text import BOM, decode_utf8, shorten_text
from duvet.tree.files import Tree

if TYPE_CHECKING:
    from pyromark import Markdown

MAX_PAGE_BYTES = 4 << 20
MAX_PAGE_LINKS = 10_000
MAX_TAGS, MAX_TAG_LENGTH = 100, 300
REQUIREMENT_PREFIX = "req:"  # The prefix of a link to a requirement id.
_MAX_SLUG_LENGTH, _MAX_TITLE_LENGTH = 300, 300
_MAX_FRONT_MATTER = 1 << 16
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?![ \t]*\r?\n)((?:.*?\n)??)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_YAML_TABLE = r"""(?:[ \t]*(?:\#[^\n]*)?\n)*                                      # blank lines, and comments
    [ \t]*(?:\{
        | (?:"[^"\n]*"|'[^'\n]*')[ \t]*:(?:\s|\Z)
        | (?:[^\s\#"'-]|-[^\s-])(?:[^\n:]|:(?=\S))*:(?:\s|\Z)
    )"""
"""The pattern of the beginning of a mapping."""
_DATE_HINT = "write it like 2026-05-31 or 2026-05-31T12:00:00Z"
_ENDING = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_FORBIDDEN = frozenset("[]|#\\")
"""Characters that end a link, or separate folders on other systems."""
_CONTROL_CATEGORIES = {"Cc", "Cs", "Zl", "Zp"}
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_BLANKS = re.compile(r"[^\S\x00-\x1f\x7f-\x9f\u2028\u2029]+")
"""Blanks except control characters, which make a slug invalid."""
_LINK = re.compile(rb"(?<!\\)\[\[([^\[\]|\\]{1,1200})(?:\\?\|([^\[\]]{0,2000}))?\]\](?!\()")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_LABELLED = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")


class PageLink(Struct, frozen=True, array_like=True, gc=False):
    """A link `[[target#heading|label]]` and its position."""

    target: str
    heading: str
    line: int
    column: int
    width: int

    @property
    def written(self) -> str:
        """The target with its heading, as written."""
        return f"{self.target}#{self.heading}" if self.heading else self.target

    @property
    def place(self) -> Place:
        return Place(self.line, self.column, self.width)


class ParsedPage(Struct, frozen=True, array_like=True):
    slug: str = ""  # The slug in the front matter; if it is empty, the slug is derived from the path.
    title: str = ""
    created: float | None = None
    tags: tuple[str, ...] = ()
    links: tuple[PageLink, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_page: bool = True  # False for a file that can't be read as a page.


class Page(Struct, frozen=True, kw_only=True):
    path: str
    slug: str
    title: str
    created: float  # Seconds since 1970.
    tags: tuple[str, ...] = ()
    links: tuple[PageLink, ...] = ()


def read_page(tree: Tree, path: str) -> ParsedPage:
    """Read a page; a file that is unreadable or not text has a problem instead of content."""
    try:
        data = tree.read(path)
        text = decode_page(data, path)
    except errors.DuvetError as error:
        hint = error.hint or "save it as UTF-8, or add it to `exclude`"
        problem = rules.PAGE_UNREAD.problem(error.message, path, Place(error.line), hint=hint)
        return ParsedPage(problems=(problem,), is_page=False)
    problems: list[Problem] = []
    if len(data) > MAX_PAGE_BYTES:
        message = f"the page is larger than {MAX_PAGE_BYTES >> 20} MiB; the rest is ignored"
        problems.append(rules.PAGE_UNREAD.problem(message, path, hint="split it into several pages"))
    block = _find_front_matter(text)
    if block and not _is_table(block):
        message = "the text between the `---` lines is not front matter, so it is part of the page"
        hint = "write `key: value` lines, or leave the line after the first `---` blank"
        problems.append(rules.PAGE_FRONT_MATTER.problem(message, path, Place(1, 1), hint=hint))
    start = find_body_start(text)
    front = _read_front_matter(text[:start], path) if start else PageFrontMatter()
    problems += front.problems
    if front.slug is not None and (fault := find_slug_fault(front.slug)):
        return ParsedPage(problems=(*problems, make_slug_problem(front.slug, fault, path)), is_page=False)
    body = text[start:].encode()
    try:
        scan = _MarkdownScan(text[start:], body, stops_at_title=b"[[" not in body)
    except errors.MarkdownError as error:
        place = Place(error.line + text.count("\n", 0, start))
        problems.append(rules.PAGE_UNREAD.problem(error.message, path, place, hint=error.hint))
        return ParsedPage(problems=tuple(problems), is_page=False)
    links = tuple(islice(_locate_links(body, scan, 1 + text.count("\n", 0, start)), MAX_PAGE_LINKS))
    return ParsedPage(front.slug or "", front.title or scan.title, front.created, front.tags, links, tuple(problems))


def decode_page(data: bytes, path: str) -> str:
    """Return the text of a page with its front matter; raise DuvetError if it is not text."""
    ##= man/spec/pages.md#hostile-input
    ##% duvet MUST read only the first 4 MiB of a page, and warn about a larger page. duvet MUST skip a page that is not
    ##% text, and warn about it. duvet MUST ignore front matter that is invalid or too large, and warn about it.
    if len(data) > MAX_PAGE_BYTES:
        data = _drop_cut_character(data[:MAX_PAGE_BYTES])
    if b"\0" in data:
        raise errors.UnreadableError("the file is binary", path=path)
    return decode_utf8(data, path).removeprefix(BOM)


def _drop_cut_character(data: bytes) -> bytes:
    for back in range(1, 4):
        byte = data[-back]
        if byte & 0xC0 == 0xC0:
            return data[:-back]
        if not byte & 0x80:
            break
    return data


def decode_page_body(data: bytes, path: str) -> str:
    """Return the text of a page without its front matter."""
    text = decode_page(data, path)
    return text[find_body_start(text) :]


class PageFrontMatter(Struct, frozen=True):
    """The valid fields of the front matter, and the problems of the other fields."""

    slug: str | None = None
    title: str = ""
    created: float | None = None
    tags: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def find_body_start(text: str) -> int:
    """Return the index of the first character after the front matter."""
    block = _find_front_matter(text)
    return block.end() if block and _is_table(block) else 0


def _find_front_matter(text: str) -> re.Match[str] | None:
    return _FRONT_MATTER.match(text, 0, _MAX_FRONT_MATTER) if text.startswith("---") else None


def _is_table(block: re.Match[str]) -> bool:
    # Compiled when a page has front matter, because it takes as long as reading many pages.
    return not block[1] or re.match(_YAML_TABLE, block[1], re.VERBOSE) is not None


def parse_front_matter(text: str, path: str) -> DataDocument:
    """Parse front matter with its fences, keeping scalars as text; raise DocumentError if it is invalid."""
    from duvet.config.document_formats import parse_scalar_as_text, parse_yaml

    ##= man/spec/pages.md#files
    ##% The title of a page MUST be the unchanged title in its front matter, or else its first heading, or else its
    ##% slug.
    document = parse_yaml(text.rstrip().removesuffix("...").removesuffix("---"), path, parse_scalar_as_text)
    check_document_size(document)
    return document


def _read_front_matter(text: str, path: str) -> PageFrontMatter:
    problems: list[Problem] = []
    try:
        document = parse_front_matter(text, path)
    except DocumentError as error:
        problem = rules.PAGE_FRONT_MATTER.problem(error.message, path, error.place, hint=error.hint)
        return PageFrontMatter(problems=(problem,))

    def read(key: str, convert: Callable[[Any], Any], hint: str) -> Any:
        value = document.values.get(key)
        if value is None:
            return None
        try:
            return convert(value)
        except (TypeError, ValueError, OverflowError):
            place = document.value_place(key)
            message = f"invalid `{key}` in the front matter"
            problems.append(rules.PAGE_FRONT_MATTER.problem(message, document.path, place, hint=hint))
            return None

    slug = read("slug", _convert_text, "put it in quotes")
    title = read("title", _convert_text, "put it in quotes")
    created = read("created", _convert_date, _DATE_HINT)
    if created is None:
        created = read("date", _convert_date, _DATE_HINT)
    tags = read("tags", _convert_tags, "write a list of words, such as [tea, kettle]")
    slug = None if slug is None else normalise_slug(slug)
    return PageFrontMatter(slug, title or "", created, tags or (), tuple(problems))


def _convert_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return " ".join(value.split())


def _convert_date(value: Any) -> float:
    """Convert a date or a time to seconds since 1970; without a time zone, it is UTC."""
    text = _convert_text(value)
    try:
        found = datetime.combine(date.fromisoformat(text), time(), UTC)
    except ValueError:
        found = datetime.fromisoformat(text)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _convert_tags(value: Any) -> tuple[str, ...]:
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list):
        raise TypeError
    found = dict.fromkeys(shorten_text(_convert_text(word), MAX_TAG_LENGTH) for word in words[:MAX_TAGS])
    return tuple(word for word in found if word)


def normalise_slug(text: str) -> str:
    """Return the slug in NFC, with single blanks."""
    return _BLANKS.sub(" ", text if text.isascii() else unicodedata.normalize("NFC", text)).strip()


def make_slug(path: str, prefix: str) -> str:
    ##= man/spec/pages.md#files
    ##% The slug of a page MUST be the slug in its front matter, or else its path below the configured folder without
    ##% `.md`.
    ##= man/spec/pages.md#files
    ##% duvet MUST find a page by every Unicode normalization of its slug.
    return normalise_slug(_ENDING.sub("", path.removeprefix(prefix)))


def find_slug_fault(slug: str) -> str:
    """Return why a slug is invalid, or "" if it is valid."""
    ##= man/spec/pages.md#files
    ##% duvet MUST skip a page whose slug is empty, is absolute, contains control characters or leads out of its folder.
    ##% duvet MUST report two pages with the same slug.
    if not slug:
        return "it is empty"
    if len(slug) > _MAX_SLUG_LENGTH:
        return f"it is longer than {_MAX_SLUG_LENGTH} characters"
    if slug.startswith("/") or _DRIVE.match(slug):
        return "it is an absolute path"
    if any(part in ("", ".", "..") for part in slug.split("/")):
        return "it contains an empty, `.` or `..` folder"
    for character in slug:
        if character in _BIDI_CONTROLS or unicodedata.category(character) in _CONTROL_CATEGORIES:
            return f"it contains the control character U+{ord(character):04X}"
    wrong = next((character for character in slug if character in _FORBIDDEN), None)
    if wrong is not None:
        return f"it contains `{wrong}`, which links can't contain"
    return (
        "the prefix `req:` is reserved for links to requirements" if slug.lower().startswith(REQUIREMENT_PREFIX) else ""
    )


def make_slug_problem(slug: str, fault: str, path: str) -> Problem:
    message = f"invalid page slug {slug!a}: {fault}"
    return rules.PAGE_BAD_SLUG.problem(message, path, hint="set a valid `slug` in the front matter")


def rewrite_links(body: str, write: Callable[[str, str, str], str]) -> str:
    """Replace each link with the result of `write(target, heading, label)`."""
    data = body.encode()
    if b"[[" not in data:
        return body
    scan = _MarkdownScan(body, data)
    # The replacement is Markdown, which is not interpreted in an HTML block.
    html = _Ranges(scan.html)
    parts, at = [], 0
    for found, target, heading in _find_links(data, scan):
        if html.has_offset(found.start()):
            continue
        label = " ".join((found[2] or b"").decode().split())
        parts += [data[at : found.start()], write(target, heading, label).encode()]
        at = found.end()
    return b"".join([*parts, data[at:]]).decode()


def _locate_links(data: bytes, scan: _MarkdownScan, line: int) -> Iterator[PageLink]:
    row_start, scanned = 0, 0
    for found, target, heading in _find_links(data, scan):
        start, end = found.span()
        line += data.count(b"\n", scanned, start)
        scanned = start
        row_start = data.rfind(b"\n", row_start, start) + 1 or row_start
        column = len(data[row_start:start].decode(errors="ignore")) + 1
        yield PageLink(target, heading, line, column, len(data[start:end].decode()))


def _find_links(data: bytes, scan: _MarkdownScan) -> Iterator[tuple[re.Match[bytes], str, str]]:
    hidden = _Ranges(scan.hidden)
    for found in _LINK.finditer(data):
        target, _, heading = " ".join(found[1].decode().split()).partition("#")
        slug = normalise_slug(target)
        if slug and not hidden.has_offset(found.start()):
            yield found, slug, heading.strip()


class _Ranges:
    """Byte ranges in ascending order."""

    def __init__(self, ranges: list[tuple[int, int]]) -> None:
        self._ranges = ranges
        self._starts = [start for start, _ in ranges]

    def has_offset(self, place: int) -> bool:
        index = bisect_right(self._starts, place) - 1
        return index >= 0 and place < self._ranges[index][1]


@cache
def _parser() -> Markdown:
    from pyromark import Markdown

    return Markdown()


class _MarkdownScan:
    """Finds the first heading of a text, and the ranges of code and comments, in which links are ignored."""

    def __init__(self, body: str, data: bytes, *, stops_at_title: bool = False) -> None:
        self.title = ""
        self.hidden: list[tuple[int, int]] = []
        self.html: list[tuple[int, int]] = []
        heading: list[str] | None = None
        for kind, tag, value, start, end in walk_markdown(_parser(), body):
            if tag == "CodeBlock" or kind == "Code" or (kind == "InlineHtml" and value.startswith("<!--")):
                if kind != "End":
                    ##= man/spec/pages.md#links
                    ##% The outlinks of a page MUST be the slugs that it links to, each once, in order, and without
                    ##% links in code and comments.
                    self.hidden.append((start, end))
            elif kind == "Start" and tag == "HtmlBlock":
                self.html.append((start, end))
                self.hidden += [found.span() for found in _COMMENT.finditer(data, start, end)]
            elif kind == "Start" and tag == "Heading" and not self.title and heading is None:
                heading = []
            elif kind == "End" and tag == "Heading" and heading is not None:
                labelled = _LABELLED.sub(lambda found: found[2] or found[1], "".join(heading))
                self.title = shorten_text(" ".join(labelled.split()), _MAX_TITLE_LENGTH)
                heading = None
            if kind == "End" and self.title and stops_at_title:
                return
            if heading is not None and kind in ("Text", "Code", "SoftBreak", "HardBreak", "Rule"):
                heading.append(value)
