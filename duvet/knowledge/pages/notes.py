"""Pages, and how they hang together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.knowledge.pages.records import Link, Page
from duvet.knowledge.pages.requirements import Named, References
from duvet.knowledge.pages.shelf import Shelf
from duvet.knowledge.pages.slugs import plain
from duvet.queries.catalogue import Catalogue
from duvet.queries.names import nearest_hint
from duvet.text import shortened

_MOST_NAMES = 20_000
"""Among no more of them the nearest is looked for."""


class Node(Struct, frozen=True):
    """A page in a graph."""

    id: str
    title: str
    connections: int
    """To how many other pages it is connected in all."""


class Edge(Struct, frozen=True):
    """A link between two pages, or links in both directions."""

    source: str
    target: str


class Graph(Struct, frozen=True):
    """Pages that are connected."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


class Notes:
    """The pages of a project at one moment."""

    def __init__(self, shelf: Shelf, catalogue: Catalogue) -> None:
        self.shelf = shelf
        self.pages: Sequence[Page] = shelf.pages
        self.by_slug = {page.slug: page for page in shelf.pages}
        self.references = References(catalogue)

    def require(self, slug: str) -> Page:
        """The page of that slug; NotFoundError with the nearest."""
        page = self.by_slug.get(plain(slug))
        if page is None:
            ##= man/spec/pages.md#tools
            ##% A page that there is not MUST be answered with `not_found`, the slug, and the nearest one where one is
            ##% near.
            raise NotFoundError(
                f"Page '{shortened(slug)}' not found", hint=self.near(slug) or "the list of pages has all slugs"
            )
        return page

    def near(self, slug: str) -> str:
        """A question that names the slugs that are most like this one."""
        names = [page.slug for page in self.pages[:_MOST_NAMES]]
        return nearest_hint(shortened(slug), names)

    def outlinks(self, page: Page) -> tuple[str, ...]:
        """The slugs that its links name, whether there are such pages or not, each once, in their order."""
        ##= man/spec/pages.md#links
        ##% The outlinks of a page MUST be the slugs that its links name, trimmed, each once, in the order of the text,
        ##% also of pages that there are not.
        return tuple(dict.fromkeys(link.target for link in page.links if not self._is_of_trace(link)))

    def _is_of_trace(self, link: Link) -> bool:
        if link.target in self.by_slug:
            return False
        return self.references.is_id(link) or self.references.specification(link) is not None

    def backlinks(self, page: Page) -> tuple[str, ...]:
        """The slugs of the other pages that link to it, in their order."""
        ##= man/spec/pages.md#links
        ##% The backlinks of a page MUST be the other pages that link to it.
        return tuple(self._sources.get(page.slug, ()))

    @cached_property
    def _sources(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for page in self.pages:
            for target in dict.fromkeys(link.target for link in page.links):
                if target in self.by_slug and target != page.slug:
                    found.setdefault(target, []).append(page.slug)
        return found

    def dangling(self) -> Iterator[tuple[Page, Link]]:
        """The links that lead to no page and to no requirement."""
        for page in sorted(self.pages, key=lambda page: page.path):
            for link in page.links:
                if link.target not in self.by_slug and self.references.meant(link) is None:
                    yield page, link

    def requirements(self, page: Page) -> Iterator[Named]:
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
    def _neighbours(self) -> dict[str, dict[str, Edge]]:
        """For each page the others that it is connected to, and how."""
        found: dict[str, dict[str, Edge]] = {page.slug: {} for page in self.pages}
        for page in self.pages:
            for link in page.links:
                near, far = page.slug, link.target
                if far in found and far != near and far not in found[near]:
                    found[near][far] = found[far][near] = Edge(near, far)
        return found

    def graph(self, page: Page) -> Graph:
        """The page, those that it is connected to, and all links among them."""
        ##= man/spec/pages.md#tools
        ##% `get_connections` MUST answer the outlinks and the backlinks of a page, and as its graph itself and the pages
        ##% that it is linked with, each with how many connections it has in all, and the links among these, each once.
        near = self._neighbours
        slugs = [page.slug, *near[page.slug]]
        inside = set(slugs)
        nodes = tuple(Node(slug, self.by_slug[slug].title, len(near[slug])) for slug in slugs)
        # Each edge is known to both of its ends.
        edges = dict.fromkeys(edge for slug in slugs for far, edge in near[slug].items() if far in inside)
        return Graph(nodes, tuple(edges))
