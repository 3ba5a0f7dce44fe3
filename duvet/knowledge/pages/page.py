"""Reads pages (slug, title, date, headings and links), and resolves their links to files and requirements."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property, partial
from itertools import islice
from typing import Any

from msgspec import Struct

from duvet import errors, rules
from duvet.knowledge.pages.front_matter import DATE_HINT, find_body_start, normalise_slug, parse_date, split_page
from duvet.knowledge.pages.links import REQUIREMENT_PREFIX, LinkSyntax, PageLink, locate_links, read_outline
from duvet.model import Place, Problem
from duvet.queries.references import RequirementRef, find_by_name
from duvet.text import BOM, decode_utf8
from duvet.trace.catalogue import Catalogue, SpecificationCard
from duvet.trace.locations import find_specifications, match_sections
from duvet.tree.files import Tree
from duvet.words import compose, fold_name

MAX_PAGE_BYTES = 4 << 20
MAX_PAGE_LINKS = 10_000
_MAX_HEADINGS = 2_000
_MAX_SLUG_LENGTH = 300
_ENDING = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_BIDI_CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


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


def make_page_filter(tag: str, folder: str, since: str) -> Callable[[Page], bool]:
    try:
        moment = parse_date(since) if since.strip() else None
    except ValueError as error:
        raise errors.QueryError(f"since: {since!a} is not a date", hint=DATE_HINT) from error
    tag, folder = fold_name(tag.strip().removeprefix("#")).strip("/"), fold_name(folder.strip()).strip("/")

    def is_selected(page: Page) -> bool:
        ##= man/spec/pages.md#tools
        ##% `list_pages` MUST list all pages, or only those that match the given tag, folder and earliest date.
        return (
            (not tag or any(f"{fold_name(own)}/".startswith(f"{tag}/") for own in page.content.tags))
            and (not folder or f"{fold_name(page.slug.rpartition('/')[0])}/".startswith(f"{folder}/"))
            and (moment is None or page.created >= moment)
        )

    return is_selected


def read_page(tree: Tree, path: str) -> ParsedPage:
    try:
        data = tree.read(path)
        text = decode_page(data, path)
    except errors.DuvetError as error:
        hint = error.hint or "save it as UTF-8 and make it readable, or add it to `pages.exclude`"
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
        tuple(heading.text for heading in outline.headings[:_MAX_HEADINGS]),
        outline.blocks[:_MAX_HEADINGS],
        tuple(islice(locate_links(body, outline.links, 1 + text.count("\n", 0, start)), MAX_PAGE_LINKS)),
        tuple(problems),
    )


def decode_page(data: bytes, path: str) -> str:
    if len(data) > MAX_PAGE_BYTES:
        # The character at the limit may begin before it.
        ends = range(MAX_PAGE_BYTES, MAX_PAGE_BYTES - 4, -1)
        data = data[: next((end for end in ends if data[end] & 0xC0 != 0x80), MAX_PAGE_BYTES)]
    if b"\0" in data:
        raise errors.UnreadableError("the file is binary", path=path)
    return decode_utf8(data, path).removeprefix(BOM)


def decode_page_body(data: bytes, path: str) -> str:
    text = decode_page(data, path)
    return text[find_body_start(text) :]


def make_slug(path: str, prefix: str) -> str:
    return normalise_slug(_ENDING.sub("", path.removeprefix(prefix)))


def make_name(path: str) -> str:
    return compose(_ENDING.sub("", path.rpartition("/")[2]))


def find_slug_fault(slug: str) -> str:
    if not slug:
        return "it is empty"
    if len(slug) > _MAX_SLUG_LENGTH:
        return f"it is longer than {_MAX_SLUG_LENGTH} characters"
    if slug.startswith("/") or _DRIVE.match(slug):
        return "it is an absolute path"
    if any(part in ("", ".", "..") for part in slug.split("/")):
        return "one of its parts is empty, `.` or `..`"
    # None of these characters is printable.
    for character in "" if slug.isprintable() else slug:
        if character in _BIDI_CONTROLS or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
            return f"it contains the control character U+{ord(character):04X}"
    if "\\" in slug or "|" in slug:
        return "it contains `\\` or `|`, which links can't contain"
    return "the prefix `req:` is reserved for links to requirements" if is_requirement_id(slug) else ""


def make_slug_problem(slug: str, fault: str, path: str) -> Problem:
    message = f"invalid page slug {slug!a}: {fault}"
    return rules.PAGE_BAD_SLUG.problem(message, path, hint="set a valid `slug` in the front matter")


_ENDINGS = ("", ".md", ".markdown")  # What a link may omit of the name of a file.


class LinkTargets(Struct, frozen=True):
    roots: Mapping[str, str]  # The pages, each with the folder that its slug omits.
    others: tuple[str, ...] = ()  # Files that are not pages.
    slugs: Mapping[str, str] = {}  # The pages that set their slug.
    aliases: tuple[tuple[str, str], ...] = ()
    linked: frozenset[str] = frozenset()  # Files that are found by their paths only.


class LinkResolver:
    def __init__(self, targets: LinkTargets) -> None:
        self.targets = targets
        self._answers: dict[tuple[str, str, LinkSyntax], str | None] = {}
        self._top_folders = tuple(dict.fromkeys((*targets.roots.values(), "")))
        paths = sorted({*targets.roots, *targets.others})
        self._paths = targets.linked.union(paths)
        self._composed: dict[str, str] = {}
        self._folded: dict[str, str] = {}
        self._ends: dict[str, list[str]] = {}  # The files by each end of their folded paths: `a/b.md` and `b.md`.
        for path in paths:
            self._composed.setdefault(compose(path), path)
            end = fold_name(path)
            self._folded.setdefault(end, path)
            while end:
                self._ends.setdefault(end, []).append(path)
                end = end.partition("/")[2]
        aliases: dict[str, list[str]] = {}
        for alias, path in targets.aliases:
            aliases.setdefault(fold_name(alias), []).append(path)
        self._aliases = {alias: _find_first_below(paths) for alias, paths in aliases.items()}
        self._matches: dict[str, _FirstFiles] = {}  # By the path in a link.

    def resolve(self, source: str, link: PageLink) -> str | None:
        ##= man/spec/pages.md#links
        ##% duvet MUST resolve a link by path, by the end of a path, by the name of a file and by an alias, with or
        ##% without `.md`, ignoring case.
        if link.syntax is LinkSyntax.EXTERNAL or not link.written:
            return None
        if link.written.startswith("#"):
            return source
        key = (source.rpartition("/")[0], link.written, link.syntax)
        if key not in self._answers:
            is_markdown = link.syntax is LinkSyntax.MARKDOWN
            found = self._find(source, link.path, is_markdown)
            self._answers[key] = self._find_with_sign(source, link) if found is None else found
        return self._answers[key]

    def has_sign(self, source: str, link: PageLink) -> bool:
        """Return whether the `#` in a link is part of a file name."""
        return self._find(source, link.path, False) is None and self._find_with_sign(source, link) is not None

    def _find_with_sign(self, source: str, link: PageLink) -> str | None:
        is_wiki = link.syntax is LinkSyntax.WIKI and link.heading is not None
        return self._find(source, link.written, False) if is_wiki else None

    def _find(self, source: str, target: str, is_markdown: bool) -> str | None:
        if not target:
            return source
        is_folder = target.endswith("/") or target in (".", "..")
        is_relative = target.startswith(("./", "../"))
        if not is_folder and (is_markdown or is_relative) and not target.startswith("/"):
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
            if not beside.startswith("..") and (found := self._find_path(beside)):
                return found
        if not is_folder and not is_relative:
            plain = posixpath.normpath(target.lstrip("/"))
            roots = dict.fromkeys((self.targets.roots.get(source, ""), *self._top_folders))
            below = filter(None, (self._find_path(root + plain) for root in roots))
            slug = self.targets.slugs.get(normalise_slug(target))
            if found := slug or next(below, None) or self._find_end(source, plain):
                return found
        alias = fold_name(target)
        return _pick_nearest(source, self._aliases.get(alias) or self._aliases.get(alias.removesuffix(".md")) or {})

    def _find_path(self, path: str) -> str | None:
        for ending in _ENDINGS:
            if path + ending in self._paths:
                return path + ending
        for known, spelt in ((self._composed, compose(path)), (self._folded, fold_name(path))):
            for ending in _ENDINGS:
                if found := known.get(spelt + ending):
                    return found
        return None

    def _find_end(self, source: str, path: str) -> str | None:
        if path not in self._matches:
            folded = fold_name(path)
            found = [one for ending in _ENDINGS for one in self._ends.get(folded + ending, ())]
            spelt = tuple(f"/{compose(path)}{ending}" for ending in _ENDINGS)
            same = [one for one in found if f"/{compose(one)}".endswith(spelt)]
            self._matches[path] = _find_first_below(same or found)
        return _pick_nearest(source, self._matches[path])


_FirstFiles = dict[str, tuple[int, int, str]]
"""The first file to choose below each folder: the file's depth, the length of its path, and its path."""


def _find_first_below(paths: Iterable[str]) -> _FirstFiles:
    first: _FirstFiles = {}
    for path in paths:
        rank = (path.count("/"), len(path), path)
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            first[folder] = min(first.get(folder, rank), rank)
    return first


def _pick_nearest(source: str, first: _FirstFiles) -> str | None:
    ##= man/spec/pages.md#links
    ##% If several files match a link, duvet MUST choose the nearest file, then the file with the shortest path,
    ##% then the first file in alphabetical order.
    ranks = []
    folder, steps = source, -1
    while folder:
        folder, steps = folder.rpartition("/")[0], steps + 1
        if folder in first:
            depth, length, path = first[folder]
            # The steps up to the folder, and from there down to the file.
            ranks.append((steps + depth - (source.count("/") - steps), length, path))
    return min(ranks)[2] if ranks else None


_ID = re.compile(r"[0-9a-f]{4,64}\Z")


class PageReference(Struct, frozen=True):
    written: str
    indexes: tuple[int, ...]  # Indexes of the requirements; empty for a whole specification.
    specification: int | None = None
    section: str | None = None


class PageReferenceFinder:
    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._references: dict[tuple[str, str], PageReference | None] = {}
        self._find_specifications = cache(partial(find_specifications, catalogue))

    def specification(self, target: str) -> SpecificationCard | None:
        numbers = [] if is_requirement_id(target) else self._find_specifications(normalise_slug(target))
        return self.catalogue.specifications[numbers[0]] if numbers else None

    def find(self, target: str, heading: str) -> PageReference | None:
        key = (normalise_slug(target), heading)
        if key not in self._references:
            self._references[key] = self._resolve(*key)
        return self._references[key]

    def _resolve(self, target: str, heading: str) -> PageReference | None:
        ##= man/spec/pages.md#links
        ##% duvet MUST resolve `[[rfc2324#section-2.1.1]]` to the requirements of that section, and `[[req:ab12cd34]]`
        ##% to the requirement with that id, unless a file matches the link.
        written = f"{target}#{heading}" if heading else target
        if is_requirement_id(target):
            name = target[len(REQUIREMENT_PREFIX) :].strip()
            indexes = self._find_name(name) or self._find_id(name.lower())
            return PageReference(written, indexes) if indexes else None
        for number in self._find_specifications(target):
            if not heading:
                return PageReference(written, (), number)
            found = match_sections(self.catalogue.specifications[number], heading)
            if len(found) == 1:
                stated = tuple(self.catalogue.stated.get((number, found[0]), ()))
                return PageReference(written, stated, number, found[0])
            indexes = () if found else self._find_name(heading, number)
            if indexes:
                section = self.catalogue.requirements[indexes[0]].section
                return PageReference(written, indexes, number, section)
        return None

    def _find_name(self, name: str, specification: int | None = None) -> tuple[int, ...]:
        try:
            found = find_by_name(self.catalogue, name, None if specification is None else [specification])
        except errors.NotFoundError:
            return ()
        return found.indexes if isinstance(found, RequirementRef) else ()

    def _find_id(self, prefix: str) -> tuple[int, ...]:
        if not _ID.match(prefix):
            return ()
        found: dict[str, list[int]] = {}
        for id, index in self._ids[bisect_left(self._ids, (prefix, -1)) :]:
            if not id.startswith(prefix):
                break
            found.setdefault(id, []).append(index)
        return tuple(next(iter(found.values()))) if len(found) == 1 else ()

    @cached_property
    def _ids(self) -> list[tuple[str, int]]:
        return sorted((id, index) for index, id in enumerate(self.catalogue.ids))


def is_requirement_id(target: str) -> bool:
    return target.lower().startswith(REQUIREMENT_PREFIX)
