"""All pages of a project, and their links to each other and to requirements."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from itertools import islice
from typing import Any

from msgspec import UNSET, Struct, UnsetType, structs

from duvet import errors, model, rules
from duvet.knowledge.git_dates import FirstCommitDates, find_birth_time, find_first_commits
from duvet.knowledge.pages import page as reader
from duvet.knowledge.pages.files import PageFiles, find_page_files
from duvet.knowledge.pages.front_matter import normalise_slug
from duvet.knowledge.pages.links import REQUIREMENT_PREFIX, LinkSyntax, PageLink, has_heading
from duvet.knowledge.pages.page import Page, PageReference, ParsedPage
from duvet.project.findings import PageFindings
from duvet.project.project import Project
from duvet.text import shorten_text, suggest_nearest
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue
from duvet.trace.locations import describe_ambiguous_section, match_sections
from duvet.tree import cache, recorder
from duvet.tree.files import Tree

_Rows = dict[str, tuple[recorder.FileStamp | None, ParsedPage]]
_PARSER_VERSION = "3"  # After a change of this number, cached pages are invalid.
_MAX_SUGGESTED = 20_000  # Maximum number of slugs to search for the nearest one.
_MAX_REQUIREMENTS, _MAX_CITATIONS = 50, 20


class PageStore(Struct, frozen=True):
    files: PageFiles
    pages: tuple[Page, ...]
    problems: tuple[model.Problem, ...]
    rows: _Rows  # The content and the stamp of each file.
    dates: FirstCommitDates
    births: dict[str, float]  # The birth times of files without another date.
    read_paths: frozenset[str]  # Files that were read.
    resolver: reader.LinkResolver
    folders: frozenset[str]  # Folders that links lead to.


def load_pages(project: Project, files: PageFiles, earlier: PageStore | None = None) -> PageStore:
    rows, read_paths = _read_rows(project, sorted(files.prefixes), earlier.rows if earlier else {})
    dates = earlier.dates if earlier else None
    if any(parsed.is_page and parsed.created is None for _, parsed in rows.values()):
        dates = find_first_commits(project, set(files.prefixes.values()), dates)
    dates = dates or FirstCommitDates()
    same = {page.path: page for page in earlier.pages} if earlier and earlier.files.prefixes == files.prefixes else {}
    problems = [*files.problems]
    pages: dict[str, Page] = {}
    births: dict[str, float] = {}
    for path, (_, parsed) in rows.items():
        problems += parsed.problems
        if not parsed.is_page:
            continue
        known = same.get(path)
        if known and known.content is parsed and parsed.created is not None and known.slug not in pages:
            pages[known.slug] = known
            continue
        ##= man/spec/pages.md#files
        ##% The slug of a page MUST be the slug in its front matter, or else its path below the configured folder
        ##% without `.md`.
        slug = parsed.slug or reader.make_slug(path, files.prefixes[path])
        if fault := reader.find_slug_fault(slug):
            problems.append(reader.make_slug_problem(slug, fault, path))
        elif slug in pages:
            for one, other in ((path, pages[slug].path), (pages[slug].path, path)):
                message = f"the slug `{slug}` is also used by {other}"
                hint = "set a different `slug` in the front matter of one page"
                problems.append(rules.PAGE_SLUG_CLASH.problem(message, one, hint=hint))
        else:
            ##= man/spec/pages.md#files
            ##% The date of a page MUST be the date in its front matter, or else the date of its first commit, or else
            ##% the creation time of the file.
            created = parsed.created
            if created is None:
                created = dates.first.get(path)
            if created is None:
                is_dated = earlier and path in earlier.births and earlier.rows[path][1] is parsed
                # The creation time of a file that is not on the disk is unknown.
                place = project.disk.at(path) if project.on_disk else ""
                created = births[path] = earlier.births[path] if earlier and is_dated else find_birth_time(place)
            ##= man/spec/pages.md#files
            ##% The title of a page MUST be the title in its front matter, or else a heading of level 1 that opens its
            ##% text, or else the name of its file.
            title = parsed.title or reader.make_name(path)
            pages[slug] = Page(path=path, slug=slug, title=title, created=created, content=parsed)
    ordered = tuple(sorted(pages.values(), key=lambda page: (-page.created, page.slug)))
    linked, folders = _find_linked_files(project.tree, ordered, {*files.prefixes, *files.others})
    targets = reader.LinkTargets(
        {page.path: files.prefixes[page.path] for page in ordered},
        files.others,
        {page.slug: page.path for page in ordered if page.content.slug},
        tuple((alias, page.path) for page in ordered for alias in page.content.aliases),
        frozenset(linked),
    )
    resolver = earlier.resolver if earlier and earlier.resolver.targets == targets else reader.LinkResolver(targets)
    return PageStore(files, ordered, tuple(problems), rows, dates, births, read_paths, resolver, folders)


def _find_linked_files(
    tree: Tree, pages: Collection[Page], known: Collection[str]
) -> tuple[dict[str, None], frozenset[str]]:
    files: dict[str, None] = {}
    folders: set[str] = set()
    seen: set[str] = set()
    for page in pages:
        for link in page.content.links:
            if link.syntax is not LinkSyntax.MARKDOWN:
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), link.path)) if link.path else ""
            if path in known or path in seen or not path or path.startswith(("/", "..")) or "\0" in path:
                continue
            seen.add(path)
            if tree.is_file(path):
                files[path] = None
            elif tree.exists(path):
                folders.add(path)
    return files, frozenset(folders)


def _read_rows(project: Project, paths: Sequence[str], earlier: _Rows) -> tuple[_Rows, frozenset[str]]:
    memory, tree = project.memory, project.tree
    recorded = tree if isinstance(tree, recorder.RecordedTree) else None
    read_paths: list[str] = []

    def read(path: str) -> ParsedPage:
        read_paths.append(path)
        return reader.read_page(tree, path)

    rows: _Rows = {}
    for path in paths if earlier else ():
        stamp, known = earlier.get(path, (None, None))
        seen = recorded.recall_stamp(path, stamp) if recorded and stamp else None
        parsed = known if known and seen else read(path)
        rows[path] = (recorded.seen.get(path) if recorded else None, parsed)
    if not earlier:
        for path, parsed in memory.parse_files("pages", ParsedPage, paths, _PARSER_VERSION, read):
            rows[path] = (recorded.seen.get(path) if recorded else None, parsed)
        if isinstance(memory, cache.DiskCache) and read_paths:
            memory.save()
    return rows, frozenset(read_paths)


class LinkKind(StrEnum):
    PAGE = "page"
    ATTACHMENT = "attachment"  # A file that is not a page.
    REQUIREMENT = "requirement"  # A requirement, section or specification.
    MISSING = "missing"
    EXTERNAL = "external"  # A URL.


class PageLinkRow(Struct, frozen=True):
    target: str  # As it is written, without the heading.
    slug: str | None  # The slug of the page that the link leads to.
    heading: str | None
    kind: LinkKind
    line: int
    heading_found: bool | UnsetType = UNSET  # Set for a heading of a page.


class PageNode(Struct, frozen=True):
    id: str
    title: str
    connections: int  # Number of connected pages.


class PageEdge(Struct, frozen=True):
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
        self.references = reader.PageReferenceFinder(catalogue)
        self._by_path = {page.path: page for page in store.pages}

    def require(self, slug: str) -> Page:
        page = self.by_slug.get(normalise_slug(slug))
        if page is None:
            hint = self.suggest(slug) or "list the pages with `duvet pages` or the tool list_pages"
            raise errors.NotFoundError(f"Page '{shorten_text(slug)}' not found", hint=hint)
        return page

    def suggest(self, slug: str) -> str:
        return suggest_nearest(shorten_text(slug), [page.slug for page in self.pages[:_MAX_SUGGESTED]])

    def find_target(self, source: Page, link: PageLink) -> Page | None:
        return self._by_path.get(self.store.resolver.resolve(source.path, link) or "")

    def find_reference(self, source: Page, link: PageLink) -> PageReference | None:
        if link.syntax is not LinkSyntax.WIKI or self.find_target(source, link):
            return None
        return self.references.find(link.target, link.heading or "")

    def classify(self, source: Page, link: PageLink) -> LinkKind:
        ##= man/spec/pages.md#links
        ##% `get_page` MUST return each link with its target, its heading, the slug of the linked page and the kind
        ##% of the link: `page`, `attachment`, `requirement`, `missing` or `external`.
        if link.syntax is LinkSyntax.EXTERNAL:
            return LinkKind.EXTERNAL
        if self.find_target(source, link):
            return LinkKind.PAGE
        if link.syntax is LinkSyntax.WIKI:
            if reader.is_requirement_id(link.target) or self.find_reference(source, link):
                return LinkKind.REQUIREMENT
            if self.references.specification(link.target) is not None:
                return LinkKind.MISSING
        return LinkKind.ATTACHMENT if self.store.resolver.resolve(source.path, link) else LinkKind.MISSING

    def links(self, page: Page) -> tuple[PageLinkRow, ...]:
        return tuple(self._make_row(page, link) for link in page.content.links)

    def _make_row(self, page: Page, link: PageLink) -> PageLinkRow:
        target = self.find_target(page, link)
        # Without the heading, the link leads to no page if the `#` is part of its name.
        written, heading = link.target, link.heading
        if target and heading and link.syntax is LinkSyntax.WIKI and self.store.resolver.has_sign(page.path, link):
            written, heading = link.written, None
        found = has_heading(target.content.headings, target.content.blocks, heading) if target and heading else UNSET
        return PageLinkRow(
            target=written,
            slug=target.slug if target else None,
            heading=heading,
            kind=self.classify(page, link),
            line=link.line,
            heading_found=found,
        )

    def outlinks(self, page: Page) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for link in page.content.links:
            if not link.target or link.syntax is LinkSyntax.EXTERNAL:
                continue
            target = self.find_target(page, link)
            if target:
                found[target.slug] = None
            elif (
                link.syntax is LinkSyntax.WIKI
                and self.classify(page, link) is LinkKind.MISSING
                and self.references.specification(link.target) is None
            ):
                found[normalise_slug(link.target)] = None
        return tuple(found)

    def backlinks(self, page: Page) -> tuple[str, ...]:
        return tuple(self._sources.get(page.slug, ()))

    @cached_property
    def _targets(self) -> dict[str, dict[str, None]]:
        found: dict[str, dict[str, None]] = {}
        for page in self.pages:
            pages = (self.find_target(page, link) for link in page.content.links)
            found[page.slug] = {one.slug: None for one in pages if one is not None and one is not page}
        return found

    @cached_property
    def _sources(self) -> dict[str, dict[str, None]]:
        found: dict[str, dict[str, None]] = {}
        for source, targets in self._targets.items():
            for target in targets:
                found.setdefault(target, {})[source] = None
        return found

    def broken_links(self) -> Iterator[tuple[Page, PageLink]]:
        for page in sorted(self.pages, key=lambda page: page.path):
            for link in page.content.links:
                row = self._make_row(page, link)
                if row.kind is LinkKind.MISSING:
                    path = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), link.path))
                    is_folder = path in self.store.folders or path == "."
                    is_broken = link.syntax is not LinkSyntax.MARKDOWN or not is_folder
                elif row.kind is LinkKind.REQUIREMENT:
                    is_broken = self.find_reference(page, link) is None
                else:
                    is_broken = row.heading_found is False
                if is_broken:
                    yield page, link

    def requirements(self, page: Page) -> Iterator[PageReference]:
        seen: set[tuple[int, ...]] = set()
        for link in page.content.links:
            found = self.find_reference(page, link)
            if found is not None and found.indexes not in seen:
                seen.add(found.indexes)
                yield found

    @cached_property
    def explaining(self) -> dict[int, tuple[Page, ...]]:
        found: dict[int, dict[str, Page]] = {}
        for page in self.pages:
            for reference in self.requirements(page):
                for index in reference.indexes:
                    found.setdefault(index, {})[page.slug] = page
        return {index: tuple(pages.values()) for index, pages in found.items()}

    def graph(self, page: Page) -> PageGraph:
        ##= man/spec/pages.md#tools
        ##% `get_connections` MUST return the outlinks and the backlinks of a page, and a graph of the pages around it.
        slugs = [page.slug, *self._neighbours(page.slug)]
        inside = set(slugs)
        nodes = tuple(PageNode(slug, self.by_slug[slug].title, len(self._neighbours(slug))) for slug in slugs)
        edges = (PageEdge(slug, target) for slug in slugs for target in self._targets[slug] if target in inside)
        return PageGraph(nodes, tuple(edges))

    def _neighbours(self, slug: str) -> dict[str, None]:
        return {**self._targets[slug], **self._sources.get(slug, {})}


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
    aliases: tuple[str, ...]
    frontmatter: dict[str, Any]  # The other fields, as they are written.
    content: str
    outlinks: tuple[str, ...]
    backlinks: tuple[str, ...]
    links: tuple[PageLinkRow, ...]
    requirements: tuple[PageRequirement, ...]


def make_page_row(page: Page) -> PageRow:
    created = format_moment(page.created)
    return PageRow(slug=page.slug, title=page.title, path=page.path, created=created, tags=page.content.tags)


def make_page_detail(collection: PageCollection, page: Page, content: str) -> PageDetail:
    return PageDetail(
        **structs.asdict(make_page_row(page)),
        aliases=page.content.aliases,
        frontmatter=page.content.fields,
        content=content,
        outlinks=collection.outlinks(page),
        backlinks=collection.backlinks(page),
        links=collection.links(page),
        requirements=find_page_requirements(collection, page) or (),
    )


def find_page_requirements(collection: PageCollection, page: Page) -> tuple[PageRequirement, ...] | None:
    ##= man/spec/pages.md#tools
    ##% `get_page` MUST list the requirements that a page links to, and the code that cites these requirements.
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
    """Return "" for 0, which means unknown, and for times beyond the calendar."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else ""


def find_page_problems(project: Project) -> PageFindings:
    files = find_page_files(project)
    store = load_pages(project, files)
    found = [*store.problems]
    # Without links, the trace is not needed.
    if any(page.content.links for page in store.pages):
        collection = PageCollection(store, project.catalogue)
        found += [_make_link_problem(collection, page, link) for page, link in collection.broken_links()]
    links = sum(link.syntax is not LinkSyntax.EXTERNAL for page in store.pages for link in page.content.links)
    return PageFindings(tuple(files.prefixes), len(store.pages), links, model.sort_problems(dict.fromkeys(found)))


def _make_link_problem(collection: PageCollection, page: Page, link: PageLink) -> model.Problem:
    heading = link.heading or ""
    target = collection.find_target(page, link)
    is_wiki = link.syntax is LinkSyntax.WIKI
    card = collection.references.specification(link.target) if is_wiki and not target else None
    if target:
        noun, known = ("block", ()) if heading.startswith("^") else ("heading", target.content.headings)
        message = f"`{target.slug}` has no {noun} `{heading}`"
        hint = suggest_nearest(shorten_text(heading), known) or f"link to an existing {noun}"
    elif is_wiki and reader.is_requirement_id(link.target):
        message = f"link to unknown requirement `{link.written}`"
        hint = (
            f"after `{REQUIREMENT_PREFIX}`, write the name of one requirement or at least the first 4 digits of its id"
        )
    elif card is not None:
        named = match_sections(card, heading)
        message = f"`{link.target}` has no section `{heading}`"
        near = suggest_nearest(shorten_text(heading), card.section_names.values())
        hint = near or "link to an existing section, or to the specification alone"
        if named:
            message, hint = describe_ambiguous_section(card, heading, named)
    elif is_wiki:
        message = f"link to unknown page `{link.written}`"
        hint = collection.suggest(link.target) or "create the page, or remove the link"
    else:
        message = f"link to missing file `{link.written}`"
        hint = "correct the path, or remove the link"
    ##= man/spec/pages.md#checks
    ##% For each broken link in a page, `duvet validate` and `duvet pages check` MUST print a warning with the path and
    ##% line of the link.
    place = model.Place(link.line, link.column, link.width)
    return rules.PAGE_LINK_DANGLING.problem(message, page.path, place, hint=hint)
