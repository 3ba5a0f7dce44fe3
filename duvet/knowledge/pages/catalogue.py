"""All pages of a project and the links between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from duvet import rules
from duvet.errors import NotFoundError
from duvet.knowledge.pages.files import FirstCommitDates, PageFiles, find_first_commits, find_modification_time
from duvet.knowledge.pages.page import (
    Page,
    PageLink,
    ParsedPage,
    find_slug_fault,
    make_slug,
    make_slug_problem,
    normalise_slug,
    read_page,
)
from duvet.knowledge.pages.requirement_links import PageReference, PageReferenceFinder
from duvet.model import Problem
from duvet.project.project import Project
from duvet.text import shorten_text
from duvet.trace.catalogue import Catalogue
from duvet.trace.names import suggest_nearest
from duvet.tree.cache import DiskCache
from duvet.tree.record import FileStamp
from duvet.tree.recorder import RecordedTree

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
        read = memory.parse_files("pages", ParsedPage, sorted(paths), _HOW, lambda path: self._read(path)[1])
        found = {path: (self._seen(path), parsed) for path, parsed in read}
        if isinstance(memory, DiskCache) and self.anew:
            memory.save()
        return found

    def _still(self, path: str) -> tuple[FileStamp | None, ParsedPage] | None:
        known = self.known.get(path)
        if known is None or known[0] is None or not isinstance(self.tree, RecordedTree):
            return None
        seen = self.tree.recall_stamp(path, known[0])
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
