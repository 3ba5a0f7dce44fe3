"""All pages of a project, and their links to each other and to requirements."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice

from msgspec import Struct, structs

from duvet import errors, model, rules
from duvet.knowledge.git_dates import FirstCommitDates, find_first_commits
from duvet.knowledge.pages.files import PageFiles, find_modification_time, find_page_files
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
from duvet.project.findings import PageFindings
from duvet.project.project import Project
from duvet.queries.references import RequirementRef, find_by_name
from duvet.text import shorten_text, suggest_nearest
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue, SpecificationCard
from duvet.trace.locations import describe_ambiguous_section, find_specifications, match_sections
from duvet.tree import cache, recorder

_Rows = dict[str, tuple[recorder.FileStamp | None, ParsedPage]]
_PARSER_VERSION = "2"  # After a change of this number, cached pages are invalid.
_MAX_SUGGESTED = 20_000  # Maximum number of slugs to search for the nearest one.
_MAX_REQUIREMENTS, _MAX_CITATIONS = 50, 20
_ID = re.compile(r"[0-9a-f]{4,64}\Z")


class PageStore(Struct, frozen=True):
    """The pages, newest first, and the problems of their files."""

    pages: tuple[Page, ...]
    problems: tuple[model.Problem, ...]
    rows: _Rows  # The content and the stamp of each file.
    dates: FirstCommitDates
    read_paths: frozenset[str]  # Files that were read.


def load_pages(project: Project, files: PageFiles, earlier: PageStore | None = None) -> PageStore:
    """Load the pages in these files, reading only those that changed since `earlier` or the cached run."""
    reader = _PageReader(project, earlier.rows if earlier else {})
    rows = reader.load(files.prefixes)
    dates = earlier.dates if earlier else None
    if any(parsed.is_page and parsed.created is None for _, parsed in rows.values()):
        dates = find_first_commits(project, set(files.prefixes.values()), dates)
    dates = dates or FirstCommitDates()
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
            problems += (_make_clash_problem(slug, first, path), _make_clash_problem(slug, path, first))
        else:
            ##= man/spec/pages.md#files
            ##% The date of a page MUST be the date in its front matter, or else the date of its first commit under any
            ##% name, or else the date of the file. duvet MUST find the first commit of a page regardless of the user's
            ##% git configuration.
            created = parsed.created
            if created is None:
                created = dates.first.get(path)
            if created is None:
                created = find_modification_time(project, path)
            ##= man/spec/pages.md#files
            ##% The title of a page MUST be the unchanged title in its front matter, or else its first heading, or else
            ##% its slug.
            title = parsed.title or slug
            pages[slug] = Page(path=path, slug=slug, title=title, created=created, tags=parsed.tags, links=parsed.links)
    ##= man/spec/pages.md#tools
    ##% `list_pages` and `duvet pages` MUST list all pages, newest first.
    ordered = sorted(pages.values(), key=lambda page: (-page.created, page.slug))
    return PageStore(tuple(ordered), tuple(problems), rows, dates, frozenset(reader.read_paths))


class _PageReader:
    def __init__(self, project: Project, earlier: Mapping[str, tuple[recorder.FileStamp | None, ParsedPage]]) -> None:
        self.read_paths: list[str] = []
        self._memory = project.memory
        self._tree = project.tree
        self._earlier = earlier

    def load(self, paths: Collection[str]) -> _Rows:
        if self._earlier:
            return {path: self._find_unchanged(path) or self._read_row(path) for path in sorted(paths)}
        read = self._memory.parse_files("pages", ParsedPage, sorted(paths), _PARSER_VERSION, self._read)
        rows = {path: (self._make_stamp(path), parsed) for path, parsed in read}
        if isinstance(self._memory, cache.DiskCache) and self.read_paths:
            self._memory.save()
        return rows

    def _find_unchanged(self, path: str) -> tuple[recorder.FileStamp | None, ParsedPage] | None:
        stamp, parsed = self._earlier.get(path, (None, None))
        if stamp is None or parsed is None or not isinstance(self._tree, recorder.RecordedTree):
            return None
        seen = self._tree.recall_stamp(path, stamp)
        return (seen, parsed) if seen else None

    def _read_row(self, path: str) -> tuple[recorder.FileStamp | None, ParsedPage]:
        parsed = self._read(path)
        return self._make_stamp(path), parsed

    def _read(self, path: str) -> ParsedPage:
        self.read_paths.append(path)
        return read_page(self._tree, path)

    def _make_stamp(self, path: str) -> recorder.FileStamp | None:
        return self._tree.seen.get(path) if isinstance(self._tree, recorder.RecordedTree) else None


def _make_clash_problem(slug: str, other: str, path: str) -> model.Problem:
    ##= man/spec/pages.md#files
    ##% duvet MUST skip a page whose slug is empty, is absolute, contains control characters or leads out of its folder.
    ##% duvet MUST report two pages with the same slug.
    message = f"the slug `{slug}` is already used by {other}"
    return rules.PAGE_SLUG_CLASH.problem(message, path, hint="change `slug` in the front matter of one page")


class PageReference(Struct, frozen=True):
    written: str
    indexes: tuple[int, ...]  # Indexes of the requirements; empty for a whole specification.
    specification: int | None = None
    section: str | None = None


class PageReferenceFinder:
    """Resolves links to requirements, sections and specifications, and caches the results."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._references: dict[tuple[str, str], PageReference | None] = {}
        self._specifications: dict[str, list[int]] = {}

    def is_id(self, link: PageLink) -> bool:
        """Return True if the link can only be a link to a requirement."""
        return link.target.lower().startswith(REQUIREMENT_PREFIX)

    def specification(self, link: PageLink) -> SpecificationCard | None:
        """Return the specification that the link names, even if that does not contain the section."""
        numbers = [] if self.is_id(link) else self._find_specifications(link.target)
        return self.catalogue.specifications[numbers[0]] if numbers else None

    def find(self, link: PageLink) -> PageReference | None:
        """Return what a link in a page refers to, or None if the trace doesn't contain it."""
        key = (link.target, link.heading)
        if key not in self._references:
            self._references[key] = self._resolve(link)
        return self._references[key]

    def _resolve(self, link: PageLink) -> PageReference | None:
        ##= man/spec/pages.md#links
        ##% `[[rfc2324#section-2.1.1]]` MUST link to the requirements of that section, and `[[req:ab12cd34]]` to the
        ##% requirement with that id, unless a page has this slug.
        if self.is_id(link):
            name = link.target[len(REQUIREMENT_PREFIX) :].strip()
            indexes = self._find_name(name) or self._find_id(name.lower())
            return PageReference(link.written, indexes) if indexes else None
        for number in self._find_specifications(link.target):
            if not link.heading:
                return PageReference(link.written, (), number)
            found = match_sections(self.catalogue.specifications[number], link.heading)
            if len(found) == 1:
                stated = self.catalogue.stated.get((number, found[0]), ())
                return PageReference(link.written, stated, number, found[0])
            indexes = () if found else self._find_name(link.heading, number)
            if indexes:
                section = self.catalogue.requirements[indexes[0]].section
                return PageReference(link.written, indexes, number, section)
        return None

    def _find_name(self, name: str, specification: int | None = None) -> tuple[int, ...]:
        """Return the requirement with this id; without a specification, the id must be unique in the trace."""
        ##= man/spec/names.md#references
        ##% duvet MUST accept the id of a requirement, or `SPEC#ID`, wherever it accepts the first digits of the
        ##% requirement's hash.
        try:
            found = find_by_name(self.catalogue, name, None if specification is None else [specification])
        except errors.NotFoundError:
            return ()
        return found.indexes if isinstance(found, RequirementRef) else ()

    def _find_specifications(self, name: str) -> list[int]:
        if name not in self._specifications:
            self._specifications[name] = find_specifications(self.catalogue, name)
        return self._specifications[name]

    def _find_id(self, prefix: str) -> tuple[int, ...]:
        """Return the requirements whose hash begins with these digits; empty if several hashes do."""
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


class PageNode(Struct, frozen=True):
    id: str
    title: str
    connections: int  # Number of connected pages.


class PageEdge(Struct, frozen=True):
    """A link from one page to another, or links in both directions."""

    source: str
    target: str


class PageGraph(Struct, frozen=True):
    nodes: tuple[PageNode, ...]
    edges: tuple[PageEdge, ...]


class PageCollection:
    def __init__(self, store: PageStore, catalogue: Catalogue) -> None:
        self.store = store
        self.pages = store.pages
        self.by_slug = {page.slug: page for page in store.pages}
        self.references = PageReferenceFinder(catalogue)

    def require(self, slug: str) -> Page:
        """Return the page with this slug; raise NotFoundError with the most similar slug."""
        page = self.by_slug.get(normalise_slug(slug))
        if page is None:
            ##= man/spec/pages.md#tools
            ##% The tools for pages MUST answer `not_found` for an unknown page, and suggest the most similar slug. The
            ##% tools for pages MUST reject an empty required argument.
            hint = self.suggest(slug) or "list the pages to see all slugs"
            raise errors.NotFoundError(f"Page '{shorten_text(slug)}' not found", hint=hint)
        return page

    def suggest(self, slug: str) -> str:
        """Return a hint with the most similar slug, or ""."""
        return suggest_nearest(shorten_text(slug), [page.slug for page in self.pages[:_MAX_SUGGESTED]])

    def outlinks(self, page: Page) -> tuple[str, ...]:
        """Return the slugs that the page links to, in order, including those of missing pages."""
        ##= man/spec/pages.md#links
        ##% The outlinks of a page MUST be the slugs that it links to, each once, in order, and without links in code
        ##% and comments.
        ##= man/spec/pages.md#links
        ##% The backlinks of a page MUST be the other pages that link to it.
        links = (
            link
            for link in page.links
            if link.target in self.by_slug
            or not (self.references.is_id(link) or self.references.specification(link) is not None)
        )
        return tuple(dict.fromkeys(link.target for link in links))

    def backlinks(self, page: Page) -> tuple[str, ...]:
        return tuple(self._sources.get(page.slug, ()))

    @cached_property
    def _sources(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for page in self.pages:
            for target in dict.fromkeys(link.target for link in page.links):
                if target in self.by_slug and target != page.slug:
                    found.setdefault(target, []).append(page.slug)
        return found

    def find_dangling(self) -> Iterator[tuple[Page, PageLink]]:
        """Yield the links that lead neither to a page nor to anything in the trace."""
        for page in sorted(self.pages, key=lambda page: page.path):
            for link in page.links:
                if link.target not in self.by_slug and self.references.find(link) is None:
                    yield page, link

    def requirements(self, page: Page) -> Iterator[PageReference]:
        """Yield what the page refers to in the trace; the same set of requirements is not repeated."""
        seen: set[tuple[int, ...]] = set()
        for link in page.links:
            if link.target in self.by_slug:
                continue
            found = self.references.find(link)
            if found is not None and found.indexes not in seen:
                seen.add(found.indexes)
                yield found

    @cached_property
    def explaining(self) -> dict[int, tuple[Page, ...]]:
        """Maps the index of a requirement to the pages that link to it."""
        found: dict[int, dict[str, Page]] = {}
        for page in self.pages:
            for reference in self.requirements(page):
                for index in reference.indexes:
                    found.setdefault(index, {})[page.slug] = page
        return {index: tuple(pages.values()) for index, pages in found.items()}

    @cached_property
    def _neighbours(self) -> dict[str, dict[str, PageEdge]]:
        found: dict[str, dict[str, PageEdge]] = {page.slug: {} for page in self.pages}
        for page in self.pages:
            for link in page.links:
                near, far = page.slug, link.target
                if far in found and far != near and far not in found[near]:
                    found[near][far] = found[far][near] = PageEdge(near, far)
        return found

    def graph(self, page: Page) -> PageGraph:
        """Return the page, the pages connected to it, and all links among them."""
        ##= man/spec/pages.md#tools
        ##% `get_connections` MUST return the outlinks and the backlinks of a page, and a graph of the pages around it.
        near = self._neighbours
        slugs = [page.slug, *near[page.slug]]
        inside = set(slugs)
        nodes = tuple(PageNode(slug, self.by_slug[slug].title, len(near[slug])) for slug in slugs)
        edges = dict.fromkeys(edge for slug in slugs for far, edge in near[slug].items() if far in inside)
        return PageGraph(nodes, tuple(edges))


class PageCitation(Struct, frozen=True):
    file_path: str
    line_number: int
    type: str


class PageRequirement(Struct, frozen=True, omit_defaults=True):
    identifier: str
    full_path: str
    target: str
    text: str
    status: str
    citations: tuple[PageCitation, ...]
    name: str = ""


class PageRow(Struct, frozen=True, kw_only=True):
    slug: str
    title: str
    path: str
    created: str  # As `2026-05-31T12:00:00Z`; empty if unknown.
    tags: tuple[str, ...]


class PageDetail(PageRow, frozen=True, kw_only=True):
    content: str
    outlinks: tuple[str, ...]
    backlinks: tuple[str, ...]
    requirements: tuple[PageRequirement, ...]


def make_page_row(page: Page) -> PageRow:
    created = format_moment(page.created)
    return PageRow(slug=page.slug, title=page.title, path=page.path, created=created, tags=page.tags)


def make_page_detail(collection: PageCollection, page: Page, content: str) -> PageDetail:
    return PageDetail(
        **structs.asdict(make_page_row(page)),
        content=content,
        outlinks=collection.outlinks(page),
        backlinks=collection.backlinks(page),
        requirements=find_page_requirements(collection, page) or (),
    )


def find_page_requirements(collection: PageCollection, page: Page) -> tuple[PageRequirement, ...] | None:
    """Return the requirements that a page links to, or None if it links to none."""
    ##= man/spec/pages.md#tools
    ##% `get_page` and `duvet pages show` MUST show the requirements that a page links to, and the code that cites these
    ##% requirements.
    indexes = dict.fromkeys(index for reference in collection.requirements(page) for index in reference.indexes)
    catalogue = collection.references.catalogue
    found = []
    for index in islice(indexes, _MAX_REQUIREMENTS):
        card = catalogue.requirements[index]
        citations = (catalogue.citations[number] for number in card.citations[:_MAX_CITATIONS])
        found.append(
            PageRequirement(
                identifier=card.id[:SHORT_ID_DIGITS],
                full_path=catalogue.full_path_of(card),
                target=catalogue.target_of(card),
                text=card.text,
                status=card.state.words,
                citations=tuple(PageCitation(one.path, one.line, one.kind.name.lower()) for one in citations),
                name=card.name,
            )
        )
    return tuple(found) or None


def format_moment(seconds: float) -> str:
    """Format a time in UTC; return "" for 0 (unknown) and for times that the calendar can't represent."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else ""


def find_page_problems(project: Project) -> PageFindings:
    """Check the pages of a project; the problems are sorted by path and place."""
    files = find_page_files(project)
    store = load_pages(project, files)
    found = [*store.problems]
    # Without links, the trace is not needed.
    if any(page.links for page in store.pages):
        collection = PageCollection(store, project.catalogue)
        found += [_make_dangling_problem(collection, page, link) for page, link in collection.find_dangling()]
    problems = sorted(dict.fromkeys(found), key=lambda problem: problem.sort_key)
    links = sum(len(page.links) for page in store.pages)
    return PageFindings(tuple(files.prefixes), len(store.pages), links, tuple(problems))


def _make_dangling_problem(collection: PageCollection, page: Page, link: PageLink) -> model.Problem:
    ##= man/spec/pages.md#checks
    ##% duvet MUST warn about each broken link in a page with its path and line, and name the missing section or the
    ##% most similar slug.
    card = collection.references.specification(link)
    if collection.references.is_id(link):
        message = f"link to unknown requirement `{link.written}`"
        hint = f"write `{REQUIREMENT_PREFIX}` and at least 4 digits that identify one requirement"
    elif card is not None:
        named = match_sections(card, link.heading)
        message = f"`{link.target}` has no section `{link.heading}`"
        near = suggest_nearest(shorten_text(link.heading), card.section_names.values())
        hint = near or "link to an existing section, or to the specification alone"
        if named:
            message, hint = describe_ambiguous_section(card, link.heading, named)
    else:
        message = f"link to unknown page `{link.written}`"
        hint = collection.suggest(link.target) or "create the page, or remove the link"
    return rules.PAGE_LINK_DANGLING.problem(message, page.path, link.place, hint=hint)
