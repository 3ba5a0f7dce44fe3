"""Parses a page: front matter, title, slug, links."""

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

from duvet import rules
from duvet.config.document import DataDocument, DocumentError, check_document_size
from duvet.errors import DuvetError, UnreadableError
from duvet.model import Place, Problem
from duvet.text import BOM, decode_utf8, shorten_text
from duvet.tree.files import Tree

if TYPE_CHECKING:
    from pyromark import Markdown


REQUIREMENT_PREFIX = "req:"
"""What a link to a requirement by its id begins with."""


class PageLink(Struct, frozen=True, array_like=True, gc=False):
    """A link as it is written, `[[target#heading|label]]`."""

    target: str
    heading: str
    line: int
    column: int
    width: int

    @property
    def written(self) -> str:
        """What it leads to, with the heading."""
        return f"{self.target}#{self.heading}" if self.heading else self.target

    @property
    def place(self) -> Place:
        return Place(self.line, self.column, self.width)


class ParsedPage(Struct, frozen=True, array_like=True):
    """What one file says."""

    slug: str = ""
    """The one that it gives itself; mostly its path has to tell."""
    title: str = ""
    created: float | None = None
    tags: tuple[str, ...] = ()
    links: tuple[PageLink, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_page: bool = True
    """Whether it can be read as a page at all."""


class Page(Struct, frozen=True, kw_only=True):
    """A note."""

    path: str
    slug: str
    title: str
    created: float
    """Seconds since 1970."""
    tags: tuple[str, ...] = ()
    links: tuple[PageLink, ...] = ()


_FRONT = re.compile(r"---[ \t]*\r?\n(?![ \t]*\r?\n)((?:.*?\n)??)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TABLE = re.compile(
    r"""(?:[ \t]*(?:\#[^\n]*)?\n)*                                      # blank lines, and comments
    [ \t]*(?:\{
        | (?:"[^"\n]*"|'[^'\n]*')[ \t]*:(?:\s|\Z)
        | (?:[^\s\#"'-]|-[^\s-])(?:[^\n:]|:(?=\S))*:(?:\s|\Z)
    )""",
    re.VERBOSE,
)
"""How a table begins in YAML."""
_MOST = 1 << 16
_MOST_TAGS = 100
_LONGEST = 300


class PageFrontMatter(Struct, frozen=True):
    """What is of use to us; what is wrong is left out, and told."""

    slug: str | None = None
    title: str = ""
    created: float | None = None
    tags: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def find_body_start(text: str) -> int:
    """Where the text of a page begins."""
    found = _block(text)
    return found.end() if found and _is_table(found) else 0


def has_doubtful_front_matter(text: str) -> bool:
    """Whether a page begins as if it had front matter, and has none."""
    found = _block(text)
    return found is not None and not _is_table(found)


def _block(text: str) -> re.Match[str] | None:
    return _FRONT.match(text, 0, _MOST) if text.startswith("---") else None


def _is_table(block: re.Match[str]) -> bool:
    return not block[1] or _TABLE.match(block[1]) is not None


def make_front_matter_problem(path: str) -> Problem:
    """The problem that what should be front matter is none."""
    message = "what stands before the second `---` is no table, so it is read as text"
    return rules.PAGE_FRONT_MATTER.problem(message, path, Place(1, 1), hint=_TABLE_HINT)


_TABLE_HINT = "write lines such as `key: value`, or leave the line after the first `---` blank"


def read_front_matter(text: str, path: str) -> PageFrontMatter:
    """What stands before the text of a page."""
    from duvet.config.document_formats import parse_scalar_as_text, parse_yaml

    inside = text.rstrip().removesuffix("...").removesuffix("---")
    try:
        ##= man/spec/pages.md#files
        ##% The title of a page MUST be that of its front matter, taken as it is written, or else its first heading or
        ##% its slug.
        document = parse_yaml(inside, path, parse_scalar_as_text)
        check_document_size(document)
    except DocumentError as error:
        problem = rules.PAGE_FRONT_MATTER.problem(error.message, path, error.place, hint=error.hint)
        return PageFrontMatter(problems=(problem,))
    return _Reader(document).front()


class _Reader:
    def __init__(self, document: DataDocument) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def front(self) -> PageFrontMatter:
        slug = self._value("slug", _text, "write it between quotes")
        title = self._value("title", _text, "write it between quotes")
        created = self._value("created", _moment, _DATE_HINT)
        if created is None:
            created = self._value("date", _moment, _DATE_HINT)
        tags = self._value("tags", _tags, "give a list of words")
        return PageFrontMatter(slug, title or "", created, tags or (), tuple(self.problems))

    def _value(self, key: str, meaning: Callable[[Any], Any], hint: str) -> Any:
        value = self.document.values.get(key)
        if value is None:
            return None
        try:
            return meaning(value)
        except (TypeError, ValueError, OverflowError):
            place = self.document.value_place(key)
            message = f"`{key}` can't be understood"
            self.problems.append(rules.PAGE_FRONT_MATTER.problem(message, self.document.path, place, hint=hint))
            return None


_DATE_HINT = "write it as 2026-05-31, or as 2026-05-31T12:00:00Z"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return " ".join(value.split())


def _moment(value: Any) -> float:
    """Seconds since 1970 of a day, or of a moment; where no zone is named it is that of Greenwich."""
    text = _text(value)
    try:
        found = datetime.combine(date.fromisoformat(text), time(), UTC)
    except ValueError:
        found = datetime.fromisoformat(text)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _tags(value: Any) -> tuple[str, ...]:
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list):
        raise TypeError
    found = dict.fromkeys(shorten_text(_text(word), _LONGEST) for word in words[:_MOST_TAGS])
    return tuple(word for word in found if word)


_ENDING = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_NEVER = frozenset("[]|#\\")
"""What no link could be written with, and what other systems take for a path."""
_CONTROLS = {"Cc", "Cs", "Zl", "Zp"}
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""What makes the rest of a line look like something else."""
_BLANKS = re.compile(r"[^\S\x00-\x1f\x7f-\x9f\u2028\u2029]+")
"""Those in links, however many, stand for one; controls are none, for slugs with them are refused."""
_SPECIAL = re.compile(r"[*?\[]")


def normalise_slug(text: str) -> str:
    """One spelling for each name."""
    return _BLANKS.sub(" ", text if text.isascii() else unicodedata.normalize("NFC", text)).strip()


def make_slug(path: str, prefix: str) -> str:
    """What a file is called whose path begins with what its pattern begins with."""
    ##= man/spec/pages.md#files
    ##% The slug of a page MUST be that of its front matter, or else its path inside the configured folder without
    ##% `.md`, and be found in every Unicode form.
    return normalise_slug(_ENDING.sub("", path.removeprefix(prefix)))


def find_pattern_prefix(pattern: str) -> str:
    """The folders that a pattern begins with, with a slash at the end."""
    special = _SPECIAL.search(pattern)
    fixed = pattern[: special.start()] if special else pattern
    folder, slash, _ = fixed.removeprefix("./").rpartition("/")
    return folder + slash


def find_slug_fault(slug: str) -> str:
    """Why this can't be a slug; nothing where it can."""
    ##= man/spec/pages.md#files
    ##% duvet MUST skip a page whose slug is empty, absolute, contains control characters or leads out of its folder,
    ##% and report two pages with the same slug.
    if not slug:
        return "it is empty"
    if len(slug) > _LONGEST:
        return f"it has more than {_LONGEST} characters"
    if slug.startswith("/") or _DRIVE.match(slug):
        return "it is an absolute path"
    if any(part in ("", ".", "..") for part in slug.split("/")):
        return "it leads to another folder, or through an empty one"
    odd = next((one for one in slug if one in _TURNING or unicodedata.category(one) in _CONTROLS), None)
    if odd is not None:
        return f"it has the control character U+{ord(odd):04X} in it"
    wrong = next((one for one in slug if one in _NEVER), None)
    if wrong is not None:
        return f"no link can be written with the `{wrong}` in it"
    return "links to requirements begin with `req:`" if slug.lower().startswith("req:") else ""


_LINK = re.compile(rb"(?<!\\)\[\[([^\[\]|\\]{1,1200})(?:\\?\|([^\[\]]{0,2000}))?\]\](?!\()")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_LABELLED = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")
MAX_PAGE_LINKS = 10_000
"""No page has more."""

CharacterRange = tuple[int, int]


class PageText(Struct, frozen=True):
    """What the Markdown of a page holds."""

    title: str
    links: tuple[PageLink, ...]


def read_page_text(body: str, line: int) -> PageText:
    """The title and the links of a text that begins on this line of its file."""
    data = body.encode()
    outline = _Outline(data)
    outline.read(_parser().events_with_range(body), stops=b"[[" not in data)
    return PageText(outline.title, tuple(_links(data, outline.hidden, line)))


@cache
def _parser() -> Markdown:
    from pyromark import Markdown

    return Markdown()


class _Outline:
    """The first heading, and the stretches in which nothing is a link."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.title = ""
        self.hidden: list[CharacterRange] = []
        self.html: list[CharacterRange] = []
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
                ##% The outlinks of a page MUST be the slugs that it links to outside of code and comments, each once
                ##% and in order, and its backlinks the other pages that link to it.
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
    return shorten_text(" ".join(labelled.split()), 300)


def _links(data: bytes, hidden: list[CharacterRange], line: int) -> Iterator[PageLink]:
    row_start, scanned = 0, 0
    for found in islice(_found(data, _Ranges(hidden)), MAX_PAGE_LINKS):
        start, end = found.span()
        line += data.count(b"\n", scanned, start)
        scanned = start
        row_start = data.rfind(b"\n", row_start, start) + 1 or row_start
        target, heading = _meant(found)
        column = len(data[row_start:start].decode(errors="ignore")) + 1
        yield PageLink(target, heading, line, column, len(data[start:end].decode()))


def _found(data: bytes, *hidden: _Ranges) -> Iterator[re.Match[bytes]]:
    for found in _LINK.finditer(data):
        if _meant(found)[0] and not any(ranges.hold(found.start()) for ranges in hidden):
            yield found


class _Ranges:
    """Stretches one after another."""

    def __init__(self, ranges: list[CharacterRange]) -> None:
        self._ranges = ranges
        self._starts = [start for start, _ in ranges]

    def hold(self, place: int) -> bool:
        index = bisect_right(self._starts, place) - 1
        return index >= 0 and place < self._ranges[index][1]


def _meant(found: re.Match[bytes]) -> tuple[str, str]:
    target, _, heading = " ".join(found[1].decode().split()).partition("#")
    return normalise_slug(target), heading.strip()


def rewrite_links(body: str, written: Callable[[str, str, str], str]) -> str:
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


MAX_PAGE_BYTES = 4 << 20
"""So many bytes of a page count."""
_LONGEST_CHARACTER = 4


def read_page(tree: Tree, path: str) -> ParsedPage:
    """What the file says; a file that is no text, or can't be read, is no page."""
    try:
        data = tree.read(path)
        text = decode_page(data, path)
    except DuvetError as error:
        hint = error.hint or "save it as UTF-8, or name it in `exclude`"
        return ParsedPage(problems=(_unread(error.message, path, Place(error.line), hint),), is_page=False)
    cut = (_unread(_CUT, path, Place(), "split it"),) if len(data) > MAX_PAGE_BYTES else ()
    return _parsed(text, path, cut)


_CUT = f"the page is larger than {MAX_PAGE_BYTES >> 20} MiB: what comes after that is not read"


def _unread(message: str, path: str, place: Place, hint: str) -> Problem:
    return rules.PAGE_UNREAD.problem(message, path, place, hint=hint)


def decode_page(data: bytes, path: str) -> str:
    """The text of a page with its front matter; DuvetError where it is none."""
    ##= man/spec/pages.md#hostile-input
    ##% duvet MUST read at most 4 MiB of a page, skip a file that is not text, and ignore front matter that is invalid
    ##% or too large, each with a warning.
    if len(data) > MAX_PAGE_BYTES:
        data = _whole_characters(data[:MAX_PAGE_BYTES])
    if b"\0" in data:
        raise UnreadableError("it is binary", path=path)
    return decode_utf8(data, path).removeprefix(BOM)


def _whole_characters(data: bytes) -> bytes:
    """The same without a character that is cut at the end."""
    for back in range(1, _LONGEST_CHARACTER):
        byte = data[-back]
        if byte & 0xC0 == 0xC0:
            return data[:-back]
        if not byte & 0x80:
            break
    return data


def decode_page_body(data: bytes, path: str) -> str:
    """The text of a page without its front matter."""
    text = decode_page(data, path)
    return text[find_body_start(text) :]


def _parsed(text: str, path: str, problems: tuple[Problem, ...]) -> ParsedPage:
    start = find_body_start(text)
    front = read_front_matter(text[:start], path) if start else PageFrontMatter()
    found = read_page_text(text[start:], 1 + text.count("\n", 0, start))
    slug = None if front.slug is None else normalise_slug(front.slug)
    doubts = (make_front_matter_problem(path),) if has_doubtful_front_matter(text) else ()
    problems = (*problems, *doubts, *front.problems)
    if slug is not None and (fault := find_slug_fault(slug)):
        return ParsedPage(problems=(*problems, make_slug_problem(slug, fault, path)), is_page=False)
    return ParsedPage(slug or "", front.title or found.title, front.created, front.tags, found.links, problems)


def make_slug_problem(slug: str, fault: str, path: str) -> Problem:
    """The problem that a page can't be called so."""
    message = f"{slug!a} can't be the slug of a page: {fault}"
    return rules.PAGE_BAD_SLUG.problem(message, path, hint="give it a `slug` in its front matter")
