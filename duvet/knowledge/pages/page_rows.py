"""Rows, requirement mentions and problems of pages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice

from msgspec import Struct

from duvet import rules
from duvet.knowledge.pages.catalogue import PageCollection, PageFindings, load_pages
from duvet.knowledge.pages.files import find_page_files
from duvet.knowledge.pages.page import REQUIREMENT_PREFIX, Page, PageLink
from duvet.model import Problem
from duvet.project.project import Project
from duvet.text import shorten_text
from duvet.trace.catalogue import SHORT_ID_DIGITS
from duvet.trace.names import suggest_nearest

_MOST = 50
_MOST_CITATIONS = 20


class PageCitation(Struct, frozen=True):
    """A place in the code."""

    file_path: str
    line_number: int
    type: str


class PageRequirement(Struct, frozen=True):
    """A requirement that a page names."""

    identifier: str
    full_path: str
    target: str
    text: str
    status: str
    citations: tuple[PageCitation, ...]


def find_page_requirements(notes: PageCollection, page: Page) -> tuple[PageRequirement, ...] | None:
    """The requirements that a page names, and the code that cites them; None where there are none."""
    ##= man/spec/pages.md#tools
    ##% `get_page` and `duvet pages show` MUST show the requirements that a page names, and the code that cites them.
    indexes = dict.fromkeys(index for named in notes.requirements(page) for index in named.indexes)
    return tuple(_requirement(notes, index) for index in islice(indexes, _MOST)) or None


def _requirement(notes: PageCollection, index: int) -> PageRequirement:
    catalogue = notes.references.catalogue
    card = catalogue.requirements[index]
    return PageRequirement(
        identifier=card.id[:SHORT_ID_DIGITS],
        full_path=catalogue.full_path_of(card),
        target=catalogue.target_of(card),
        text=card.text,
        status=card.status.words,
        citations=tuple(islice(_citations(notes, index), _MOST_CITATIONS)),
    )


def _citations(notes: PageCollection, index: int) -> Iterator[PageCitation]:
    catalogue = notes.references.catalogue
    for number in catalogue.requirements[index].citations:
        card = catalogue.citations[number]
        yield PageCitation(card.path, card.line, card.kind.name.lower())


class PageRow(Struct, frozen=True, kw_only=True):
    """A page in a list."""

    slug: str
    title: str
    path: str
    created: str
    """As `2026-05-31T12:00:00Z`; empty where nothing tells."""
    tags: tuple[str, ...]


class PageDetail(PageRow, frozen=True, kw_only=True):
    """All there is to say of one."""

    content: str
    outlinks: tuple[str, ...]
    backlinks: tuple[str, ...]
    requirements: tuple[PageRequirement, ...]


def make_page_row(page: Page) -> PageRow:
    """The row of a page."""
    return PageRow(
        slug=page.slug, title=page.title, path=page.path, created=format_moment(page.created), tags=page.tags
    )


def make_page_detail(notes: PageCollection, page: Page, content: str) -> PageDetail:
    """A page with its text and what it is linked with."""
    return PageDetail(
        slug=page.slug,
        title=page.title,
        path=page.path,
        created=format_moment(page.created),
        tags=page.tags,
        content=content,
        outlinks=notes.outlinks(page),
        backlinks=notes.backlinks(page),
        requirements=find_page_requirements(notes, page) or (),
    )


def format_moment(seconds: float) -> str:
    """A moment as people write it; nothing for the one that stands for none, and for those that no calendar has."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else ""


def find_page_problems(project: Project) -> PageFindings:
    """Everything that is wrong with the pages of a project, by path and place."""
    files = find_page_files(project)
    shelf = load_pages(project, files)
    found = [*shelf.problems]
    # Where nothing is linked, the trace need not be known.
    if any(page.links for page in shelf.pages):
        notes = PageCollection(shelf, project.catalogue)
        found += [_dangling(notes, page, link) for page, link in notes.dangling()]
    problems = sorted(dict.fromkeys(found), key=lambda problem: problem.sort_key)
    links = sum(len(page.links) for page in shelf.pages)
    return PageFindings(tuple(files.prefixes), len(shelf.pages), links, tuple(problems))


def _dangling(notes: PageCollection, page: Page, link: PageLink) -> Problem:
    ##= man/spec/pages.md#checks
    ##% duvet MUST warn about a link that leads nowhere with its place, and name the missing section or the nearest
    ##% slug.
    message, hint = _said(notes, link)
    return rules.PAGE_LINK_DANGLING.problem(message, page.path, link.place, hint=hint)


def _said(notes: PageCollection, link: PageLink) -> tuple[str, str]:
    """What is wrong with a link, and what to do."""
    if notes.references.is_id(link):
        hint = f"write `{REQUIREMENT_PREFIX}` and at least 4 digits of an id, which no other id begins with"
        return f"there is no requirement `{link.written}`", hint
    card = notes.references.specification(link)
    if card is not None:
        near = suggest_nearest(shorten_text(link.heading), [*card.titles])
        return f"`{link.target}` has no section `{link.heading}`", near or "name one of its sections, or none"
    return f"there is no page `{link.written}`", notes.near(link.target) or "write the page, or take the link out"
