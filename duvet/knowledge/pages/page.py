"""Reads pages: their slug, title, date, headings and links."""

from __future__ import annotations

import re
import unicodedata
from itertools import islice
from typing import Any

from msgspec import Struct

from duvet import errors, rules
from duvet.knowledge.pages.front_matter import DATE_HINT, find_body_start, parse_date, split_page
from duvet.knowledge.pages.links import (
    REQUIREMENT_PREFIX,
    PageLink,
    find_block_ids,
    locate_links,
    read_outline,
)
from duvet.model import Place, Problem
from duvet.text import BOM, decode_utf8
from duvet.tree.files import Tree
from duvet.words import compose, fold_name

MAX_PAGE_BYTES = 4 << 20
MAX_PAGE_LINKS = 10_000
_MAX_SLUG_LENGTH = 300
_ENDING = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL_CATEGORIES = {"Cc", "Cs", "Zl", "Zp"}
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_BLANKS = re.compile(r"[^\S\x00-\x1f\x7f-\x9f\u2028\u2029]+")
"""Blanks except control characters, which make a slug invalid."""


class ParsedPage(Struct, frozen=True, array_like=True):
    slug: str = ""  # The slug in the front matter; if it is empty, the slug is derived from the path.
    title: str = ""  # The title in the front matter or the text; if it is empty, it is the name of the file.
    created: float | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    fields: dict[str, Any] = {}
    headings: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    links: tuple[PageLink, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_page: bool = True  # False for a file that can't be read as a page.


class Page(Struct, frozen=True, kw_only=True):
    path: str
    slug: str
    title: str
    created: float  # Seconds since 1970; 0 if it is unknown.
    content: ParsedPage = ParsedPage()

    @property
    def name(self) -> str:
        """The name of the file, without its ending."""
        return make_name(self.path)

    @property
    def tags(self) -> tuple[str, ...]:
        return self.content.tags

    @property
    def links(self) -> tuple[PageLink, ...]:
        return self.content.links


class PageFilter(Struct, frozen=True):
    """Selects pages; an empty field selects all."""

    tag: str = ""
    folder: str = ""
    since: float = 0.0

    def has(self, page: Page) -> bool:
        ##= man/spec/pages.md#tools
        ##% `list_pages` and `duvet pages list` MUST filter pages by tag, including the tags below it, by folder and by
        ##% date.
        tags = (f"{fold_name(tag)}/" for tag in page.tags)
        return (
            (not self.tag or any(tag.startswith(self.tag) for tag in tags))
            and f"{fold_name(page.slug.rpartition('/')[0])}/".startswith(self.folder)
            and page.created >= self.since
        )


def make_page_filter(tag: str, folder: str, since: str) -> PageFilter:
    """Return the filter for these texts; raise QueryError for an invalid date."""
    try:
        moment = parse_date(since) if since.strip() else 0.0
    except ValueError as error:
        raise errors.QueryError(f"since: {since!a} is not a date", hint=DATE_HINT) from error
    tag, folder = fold_name(tag.strip().removeprefix("#")).strip("/"), fold_name(folder.strip()).strip("/")
    return PageFilter(tag and f"{tag}/", folder and f"{folder}/", moment)


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
    front, start = split_page(text, path)
    problems += front.problems
    slug = "" if front.slug is None else normalise_slug(front.slug)
    if front.slug is not None and (fault := find_slug_fault(slug)):
        return ParsedPage(problems=(*problems, make_slug_problem(slug, fault, path)), is_page=False)
    body = text[start:]
    try:
        outline = read_outline(body)
    except errors.MarkdownError as error:
        place = Place(error.line + text.count("\n", 0, start))
        problems.append(rules.PAGE_UNREAD.problem(error.message, path, place, hint=error.hint))
        return ParsedPage(problems=tuple(problems), is_page=False)
    return ParsedPage(
        slug,
        front.title or outline.title,
        front.created,
        front.tags,
        front.aliases,
        front.fields,
        outline.headings,
        find_block_ids(body),
        tuple(islice(locate_links(body, outline.links, 1 + text.count("\n", 0, start)), MAX_PAGE_LINKS)),
        tuple(problems),
    )


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


def normalise_slug(text: str) -> str:
    """Return the canonical spelling of a slug: NFC, with single blanks."""
    return _BLANKS.sub(" ", compose(text)).strip()


def make_slug(path: str, prefix: str) -> str:
    ##= man/spec/pages.md#files
    ##% The slug of a page MUST be the slug in its front matter, or else its path below the configured folder without
    ##% `.md`.
    ##= man/spec/pages.md#files
    ##% duvet MUST find a page by every Unicode normalization of its slug.
    return normalise_slug(_ENDING.sub("", path.removeprefix(prefix)))


def make_name(path: str) -> str:
    """Return the name of a file without the ending of Markdown."""
    return compose(_ENDING.sub("", path.rpartition("/")[2]))


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
    # None of these characters is printable.
    for character in "" if slug.isprintable() else slug:
        if character in _BIDI_CONTROLS or unicodedata.category(character) in _CONTROL_CATEGORIES:
            return f"it contains the control character U+{ord(character):04X}"
    if "\\" in slug or "|" in slug:
        return "it contains `\\` or `|`, which links can't contain"
    return (
        "the prefix `req:` is reserved for links to requirements" if slug.lower().startswith(REQUIREMENT_PREFIX) else ""
    )


def make_slug_problem(slug: str, fault: str, path: str) -> Problem:
    message = f"invalid page slug {slug!a}: {fault}"
    return rules.PAGE_BAD_SLUG.problem(message, path, hint="set a valid `slug` in the front matter")
