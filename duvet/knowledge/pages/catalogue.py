"""All pages of a project, and their links to each other and to requirements."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice

from msgspec import Struct

from duvet import rules
from duvet.errors import NotFoundError
from duvet.knowledge.pages.files import (
    FirstCommitDates,
    PageFiles,
    find_first_commits,
    find_modification_time,
    find_page_files,
)
from duvet.knowledge.pages.page import (
    REQUIREMENT_PREFIX,
    Page,
    PageLink,
    ParsedPage,
    find_slug_fault,
    make_slug,
    make_slug_problem,
    normalise_slug,
    read_page,
)
from duvet.model import Problem
from duvet.project.project import Project
from duvet.text import shorten_text
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue, SpecificationCard
from duvet.trace.names import find_section, find_specifications, suggest_nearest
from duvet.tree.cache import Cache
from duvet.tree.record import FileStamp
from duvet.tree.recorder import RecordedTree

_ID = re.compile(r"[0-9a-f]{4,64}\Z")
_Key = tuple[str, str]


class PageReference(Struct, frozen=True):
    """What of the trace a link means."""

    written: str
    indexes: tuple[int, ...]
    """The requirements; a specification as a whole, and a section that has none, mean none."""
    specification: int | None = None
    section: str | None = None


class PageReferenceFinder:
    """Finds what links mean; each is looked for once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._known: dict[_Key, PageReference | None] = {}
        self._specifications: dict[str, list[int]] = {}

    def is_id(self, link: PageLink) -> bool:
        """Whether it can mean nothing but a requirement."""
        return link.target.lower().startswith(REQUIREMENT_PREFIX)

    def specification(self, link: PageLink) -> SpecificationCard | None:
        """The specification that it names, be it with a section that isn't there."""
        numbers = [] if self.is_id(link) else self._named(link.target)
        return self.catalogue.specifications[numbers[0]] if numbers else None

    def meant(self, link: PageLink) -> PageReference | None:
        """What it means, None where that is nothing of the trace."""
        key = (link.target, link.heading)
        if key not in self._known:
            self._known[key] = self._found(link)
        return self._known[key]

    def _found(self, link: PageLink) -> PageReference | None:
        ##= man/spec/pages.md#links
        ##% `[[rfc2324#section-2.1.1]]` MUST link to the requirements of that section, and `[[req:ab12cd34]]` to the
        ##% requirement with that id, unless a page has that name.
        if self.is_id(link):
            indexes = self._with_id(link.target[len(REQUIREMENT_PREFIX) :].strip().lower())
            return PageReference(link.written, indexes) if indexes else None
        for number in self._named(link.target):
            if not link.heading:
                return PageReference(link.written, (), number)
            section = find_section(self.catalogue.specifications[number], link.heading)
            if section is not None:
                return PageReference(link.written, self.catalogue.stated.get((number, section), ()), number, section)
        return None

    def _named(self, name: str) -> list[int]:
        if name not in self._specifications:
            self._specifications[name] = find_specifications(self.catalogue, name)
        return self._specifications[name]

    def _with_id(self, wanted: str) -> tuple[int, ...]:
        """The requirements of the one id that begins so."""
        if not _ID.match(wanted):
            return ()
        first = bisect_left(self._ids, (wanted, -1))
        found = []
        for id, index in self._ids[first:]:
            if not id.startswith(wanted):
                break
            found.append((id, index))
        return tuple(index for _, index in found) if len({id for id, _ in found}) == 1 else ()

    @cached_property
    def _ids(self) -> list[tuple[str, int]]:
        return sorted((id, index) for index, id in enumerate(self.catalogue.ids))


_Rows = dict[str, tuple[FileStamp | None, ParsedPage]]
_HOW = "2"
"""Tells results of this way to read pages from those of another."""


class PageStore(Struct, frozen=True):
    """The pages, the newest first, and what is wrong with their files."""

    pages: tuple[Page, ...]
    problems: tuple[Problem, ...]
    rows: _Rows
    """What each file says, and what it looked like."""
    dates: FirstCommitDates
    anew: frozenset[str]
    """The files that had to be read."""


def load_pages(project: Project, files: PageFiles, earlier: PageStore | None = None) -> PageStore:
    """The pages in these files; what is as it was is not read again."""
    reader = _Rereader(project, earlier.rows if earlier else {})
    rows = reader.rows(files.prefixes)
    dates = _dates(project, files, rows, earlier)
    problems = [*files.problems]
    pages: dict[str, Page] = {}
    for path, (_, parsed) in rows.items():
        problems += parsed.problems
        if not parsed.is_page:
            continue
        slug = parsed.slug or make_slug(path, files.prefixes[path])
        if fault := find_slug_fault(slug):
            problems.append(make_slug_problem(slug, fault, path))
        elif slug in pages:
            first = pages[slug].path
            problems += (_clash(slug, first, path), _clash(slug, path, first))
        else:
            pages[slug] = _page(project, path, slug, parsed, dates)
    ##= man/spec/pages.md#tools
    ##% `list_pages` and `duvet pages` MUST list all pages, the newest first.
    ordered = sorted(pages.values(), key=lambda page: (-page.created, page.slug))
    return PageStore(tuple(ordered), tuple(problems), rows, dates, frozenset(reader.anew))


def _page(project: Project, path: str, slug: str, parsed: ParsedPage, dates: FirstCommitDates) -> Page:
    ##= man/spec/pages.md#files
    ##% The date of a page MUST be that of its front matter, or of its first commit despite renames and git's
    ##% configuration, or of its file.
    created = parsed.created
    if created is None:
        created = dates.first.get(path)
    if created is None:
        created = find_modification_time(project, path)
    ##= man/spec/pages.md#files
    ##% The title of a page MUST be that of its front matter, taken as it is written, or else its first heading or its
    ##% slug.
    title = parsed.title or slug
    return Page(path=path, slug=slug, title=title, created=created, tags=parsed.tags, links=parsed.links)


def _clash(slug: str, other: str, path: str) -> Problem:
    ##= man/spec/pages.md#files
    ##% duvet MUST skip a page whose slug is empty, absolute, contains control characters or leads out of its folder,
    ##% and report two pages with the same slug.
    message = f"the slug `{slug}` is that of {other}, too"
    return rules.PAGE_SLUG_CLASH.problem(message, path, hint="give one of them another `slug` in its front matter")


def _dates(project: Project, files: PageFiles, rows: _Rows, earlier: PageStore | None) -> FirstCommitDates:
    known = earlier.dates if earlier else None
    if any(parsed.is_page and parsed.created is None for _, parsed in rows.values()):
        return find_first_commits(project, set(files.prefixes.values()), known)
    return known or FirstCommitDates()


class _Rereader:
    """Reads files that are not what they were."""

    def __init__(self, project: Project, known: Mapping[str, tuple[FileStamp | None, ParsedPage]]) -> None:
        self.project = project
        self.tree = project.tree
        self.known = known
        self.anew: list[str] = []

    def rows(self, paths: Mapping[str, str]) -> _Rows:
        """What every file says."""
        if self.known:
            return {path: self._still(path) or self._read(path) for path in sorted(paths)}
        memory = self.project.memory
        read = memory.of_files("pages", ParsedPage, sorted(paths), _HOW, lambda path: self._read(path)[1])
        found = {path: (self._seen(path), parsed) for path, parsed in read}
        if isinstance(memory, Cache) and self.anew:
            memory.save()
        return found

    def _still(self, path: str) -> tuple[FileStamp | None, ParsedPage] | None:
        known = self.known.get(path)
        if known is None or known[0] is None or not isinstance(self.tree, RecordedTree):
            return None
        seen = self.tree.still(path, known[0])
        return (seen, known[1]) if seen else None

    def _read(self, path: str) -> tuple[FileStamp | None, ParsedPage]:
        self.anew.append(path)
        parsed = read_page(self.tree, path)
        return self._seen(path), parsed

    def _seen(self, path: str) -> FileStamp | None:
        return self.tree.seen.get(path) if isinstance(self.tree, RecordedTree) else None


_MOST_NAMES = 20_000
"""Among no more of them the nearest is looked for."""


class PageNode(Struct, frozen=True):
    """A page in a graph."""

    id: str
    title: str
    connections: int
    """To how many other pages it is connected in all."""


class PageEdge(Struct, frozen=True):
    """A link between two pages, or links in both directions."""

    source: str
    target: str


class PageGraph(Struct, frozen=True):
    """Pages that are connected."""

    nodes: tuple[PageNode, ...]
    edges: tuple[PageEdge, ...]


class PageCollection:
    """The pages of a project at one moment."""

    def __init__(self, shelf: PageStore, catalogue: Catalogue) -> None:
        self.shelf = shelf
        self.pages: Sequence[Page] = shelf.pages
        self.by_slug = {page.slug: page for page in shelf.pages}
        self.references = PageReferenceFinder(catalogue)

    def require(self, slug: str) -> Page:
        """The page of that slug; NotFoundError with the nearest."""
        page = self.by_slug.get(normalise_slug(slug))
        if page is None:
            ##= man/spec/pages.md#tools
            ##% These tools MUST answer `not_found` for an unknown page, with the nearest slug, and refuse an empty
            ##% required argument.
            raise NotFoundError(
                f"Page '{shorten_text(slug)}' not found", hint=self.near(slug) or "the list of pages has all slugs"
            )
        return page

    def near(self, slug: str) -> str:
        """A question that names the slugs that are most like this one."""
        names = [page.slug for page in self.pages[:_MOST_NAMES]]
        return suggest_nearest(shorten_text(slug), names)

    def outlinks(self, page: Page) -> tuple[str, ...]:
        """The slugs that its links name, whether there are such pages or not, each once, in their order."""
        ##= man/spec/pages.md#links
        ##% The outlinks of a page MUST be the slugs that it links to outside of code and comments, each once and in
        ##% order, and its backlinks the other pages that link to it.
        return tuple(dict.fromkeys(link.target for link in page.links if not self._is_of_trace(link)))

    def _is_of_trace(self, link: PageLink) -> bool:
        if link.target in self.by_slug:
            return False
        return self.references.is_id(link) or self.references.specification(link) is not None

    def backlinks(self, page: Page) -> tuple[str, ...]:
        """The slugs of the other pages that link to it, in their order."""
        return tuple(self._sources.get(page.slug, ()))

    @cached_property
    def _sources(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for page in self.pages:
            for target in dict.fromkeys(link.target for link in page.links):
                if target in self.by_slug and target != page.slug:
                    found.setdefault(target, []).append(page.slug)
        return found

    def dangling(self) -> Iterator[tuple[Page, PageLink]]:
        """The links that lead to no page and to no requirement."""
        for page in sorted(self.pages, key=lambda page: page.path):
            for link in page.links:
                if link.target not in self.by_slug and self.references.meant(link) is None:
                    yield page, link

    def requirements(self, page: Page) -> Iterator[PageReference]:
        """What of the trace its links name, each once."""
        told: set[tuple[int, ...]] = set()
        for link in page.links:
            if link.target in self.by_slug:
                continue
            found = self.references.meant(link)
            if found is not None and found.indexes not in told:
                told.add(found.indexes)
                yield found

    @cached_property
    def explaining(self) -> dict[int, tuple[Page, ...]]:
        """The pages that name each requirement, by its index."""
        found: dict[int, dict[str, Page]] = {}
        for page in self.pages:
            for named in self.requirements(page):
                for index in named.indexes:
                    found.setdefault(index, {})[page.slug] = page
        return {index: tuple(pages.values()) for index, pages in found.items()}

    @cached_property
    def _neighbours(self) -> dict[str, dict[str, PageEdge]]:
        """For each page the others that it is connected to, and how."""
        found: dict[str, dict[str, PageEdge]] = {page.slug: {} for page in self.pages}
        for page in self.pages:
            for link in page.links:
                near, far = page.slug, link.target
                if far in found and far != near and far not in found[near]:
                    found[near][far] = found[far][near] = PageEdge(near, far)
        return found

    def graph(self, page: Page) -> PageGraph:
        """The page, those that it is connected to, and all links among them."""
        ##= man/spec/pages.md#tools
        ##% `get_connections` MUST return the outlinks and backlinks of a page, and the graph of the pages around it.
        near = self._neighbours
        slugs = [page.slug, *near[page.slug]]
        inside = set(slugs)
        nodes = tuple(PageNode(slug, self.by_slug[slug].title, len(near[slug])) for slug in slugs)
        # Each edge is known to both of its ends.
        edges = dict.fromkeys(edge for slug in slugs for far, edge in near[slug].items() if far in inside)
        return PageGraph(nodes, tuple(edges))


class PageFindings(Struct, frozen=True, array_like=True):
    """How much there is, and what is wrong with it."""

    files: tuple[str, ...] = ()
    """Those that the patterns match."""
    pages: int = 0
    links: int = 0
    problems: tuple[Problem, ...] = ()

    def of(self, paths: Collection[str]) -> tuple[Problem, ...]:
        """The problems in these files."""
        return tuple(problem for problem in self.problems if problem.path in paths)


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
