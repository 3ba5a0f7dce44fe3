"""A subsystem, what is reached from it, and its files."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.knowledge.graph.shapes import FILES, Direction, Link, Related, Shown, shown
from duvet.queries.names import nearest_hint
from duvet.store.protocol import Hop, Store
from duvet.store.records import Edge, Label, Node, Relation
from duvet.text import shortened

MOST_ARTIFACTS = 200
"""Files that are told of at most."""
_MOST_EDGES = 100_000
"""Edges that are looked at for these."""
_LONGEST_CURSOR = 64
_OF_FILES = (Relation.BELONGS_TO, Relation.DESCRIBES, Relation.VALIDATES)


class Wish(Struct, frozen=True, kw_only=True):
    """How much of a subsystem is asked for."""

    depth: int = 1
    limit: int = 25
    cursor: str | None = None
    include_artifacts: bool = True
    cut: Callable[[Sequence[Related]], Sequence[Related]] = lambda nodes: nodes
    """How many of the nodes of a page there is room for."""


class RelatedNodes(Struct, frozen=True, kw_only=True):
    """One page of what is reached."""

    nodes: tuple[Related, ...]
    cursor: str | None
    """Where the next page begins."""
    total: int


class Subsystem(Struct, frozen=True, kw_only=True):
    """A subsystem with its surroundings."""

    subsystem: Shown
    related: RelatedNodes
    artifacts: tuple[Shown, ...]


def subsystem(store: Store, name: str, wish: Wish) -> Subsystem:
    """The subsystem of that name, in whatever case; NotFoundError where there is none."""
    node = store.node(Label.SUBSYSTEM, name.strip())
    if node is None:
        known = [one.key for one in store.nodes(Label.SUBSYSTEM)]
        hint = nearest_hint(shortened(name), known) or "km-graph-search finds subsystems by a part of their names"
        raise NotFoundError(f"Subsystem '{shortened(name.strip())}' not found", hint=hint)
    # As many steps as none are one: nothing else would be told.
    hops = sorted(store.around(node.id, max(wish.depth, 1)), key=lambda hop: _order(hop.node))
    return Subsystem(
        subsystem=shown(node),
        related=_page(hops, node.id, wish),
        artifacts=tuple(_artifacts(store, node)) if wish.include_artifacts else (),
    )


def _order(node: Node) -> tuple[str, str]:
    return (node.name or node.key).casefold(), node.id


def _page(hops: Sequence[Hop], start: str, wish: Wish) -> RelatedNodes:
    ##= man/spec/knowledge.md#graph
    ##% What is reached from a subsystem MUST be told once each, with a shortest way there, in the order of names, page by
    ##% page; a cursor that can't be read means the first page.
    begin = _offset(wish.cursor)
    nodes = tuple(wish.cut([_related(hop, start) for hop in hops[begin : begin + wish.limit]]))
    end = begin + len(nodes)
    return RelatedNodes(
        nodes=nodes,
        cursor=urlsafe_b64encode(str(end).encode()).decode() if end < len(hops) else None,
        total=len(hops),
    )


def _offset(cursor: str | None) -> int:
    if cursor is None or len(cursor) > _LONGEST_CURSOR:
        return 0
    try:
        text = urlsafe_b64decode(cursor.encode()).decode("ascii")
    except ValueError:
        return 0
    return int(text) if text.isdecimal() else 0


def _related(hop: Hop, start: str) -> Related:
    path = tuple(_links(hop.path, start))
    return Related(
        target=shown(hop.node),
        hops=len(path),
        path=path,
        relationship=path[0].type,
        direction=path[0].direction,
    )


def _links(path: Sequence[Edge], start: str) -> Iterator[Link]:
    """The edges of a way, each as it is gone."""
    at = start
    for edge in path:
        out = edge.source == at
        at = edge.target if out else edge.source
        yield Link(edge.relation, Direction.OUT if out else Direction.IN, edge.source, edge.target)


def _artifacts(store: Store, node: Node) -> Iterator[Shown]:
    edges = store.edges(node.id, out=False, limit=_MOST_EDGES, relations=_OF_FILES)
    files = {one.key: one for _, one in edges if one.label in FILES}
    return (shown(files[path]) for path in sorted(files)[:MOST_ARTIFACTS])
