"""Nodes of the graph: identifiers, search, relationships, subsystems."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any
from urllib.parse import unquote

from msgspec import Struct, field
from msgspec.structs import replace

from duvet.errors import NotFoundError, QueryError
from duvet.store.protocol import Store
from duvet.store.records import GraphEdge, GraphHop, GraphNode, NodeLabel, Relation
from duvet.text import escape_line_ends, quote_text, shorten_text
from duvet.trace.names import suggest_nearest

_ALIASES = {
    "Code": NodeLabel.SOURCE_FILE,
    "Doc": NodeLabel.DESIGN_DOC,
    "Test": NodeLabel.TEST_CASE,
    "Config": NodeLabel.CONFIG_FILE,
    "Spec": NodeLabel.SPECIFICATION,
}
LABELS_BY_NAME = {**{label.value: label for label in NodeLabel}, **_ALIASES}
MAX_IDENTIFIER_LENGTH = 4096
"""Characters; longer than any path."""
SHOWN_DIGITS = 12
"""Digits of the id of a requirement in its key."""
_TRACED = (NodeLabel.SPECIFICATION, NodeLabel.SECTION, NodeLabel.REQUIREMENT)
_PATH = re.compile(r"/?specifications/(?P<spec>[^/]+)(/sections/(?P<section>[^/]+))?(/requirements/(?P<id>[^/]+))?\Z")
_DIGITS = re.compile(r"[0-9a-f]{4,64}\Z")


class IdentifierError(QueryError):
    """What can't be the name of a node."""


class NodeIdentifier(Struct, frozen=True):
    """A label, and what may be meant by what follows it."""

    label: NodeLabel
    key: str

    @property
    def keys(self) -> Iterator[str]:
        """The key as it is given, and as it is meant where it is quoted for a URL."""
        plain = unquote(self.key)
        for given in dict.fromkeys([self.key, plain]):
            key = _of_path(given) if self.label in _TRACED else given
            yield key
            if self.label is NodeLabel.REQUIREMENT:
                place, slash, digits = key.rpartition("/")
                if _DIGITS.match(digits) and len(digits) > SHOWN_DIGITS:
                    yield place + slash + digits[:SHOWN_DIGITS]

    @property
    def digits(self) -> str:
        """The first digits of the id of a requirement, where nothing else is given."""
        found = self.key.lower()
        return found[:SHOWN_DIGITS] if self.label is NodeLabel.REQUIREMENT and _DIGITS.match(found) else ""


def _of_path(key: str) -> str:
    """The key of what a full path names; anything else stays as it is."""
    found = _PATH.match(key)
    if not found:
        return key
    parts = found["spec"], found["section"] and f"#{found['section']}", found["id"] and f"/{found['id']}"
    return "".join(unquote(part) for part in parts if part)


def parse_identifier(text: str) -> NodeIdentifier:
    """What is asked for; IdentifierError where that can't be the name of a node."""
    ##= man/spec/knowledge.md#graph
    ##% `km-graph-node` MUST find a node by `LABEL:KEY`, a requirement also by four or more digits of its id, and
    ##% specifications, sections and requirements by their full path.
    whole = text.strip()
    if ":" not in whole:
        whole = unquote(whole)
    name, colon, key = whole.partition(":")
    if not colon or not key.strip() or len(whole) > MAX_IDENTIFIER_LENGTH:
        raise IdentifierError("Invalid node identifier", hint="write LABEL:KEY, such as DesignDoc:docs/README.md")
    if name not in LABELS_BY_NAME:
        hint = suggest_nearest(shorten_text(name), tuple(LABELS_BY_NAME)) or f"there are {', '.join(LABELS_BY_NAME)}"
        raise IdentifierError(f"Unsupported node label '{shorten_text(name)}'", hint=hint)
    return NodeIdentifier(LABELS_BY_NAME[name], key)


_KEYS = {
    NodeLabel.SUBSYSTEM: "name",
    NodeLabel.SOURCE_FILE: "path",
    NodeLabel.TEST_CASE: "path",
    NodeLabel.DESIGN_DOC: "path",
    NodeLabel.CONFIG_FILE: "path",
    NodeLabel.ARTIFACT: "path",
    NodeLabel.CHUNK: "chunk_id",
    NodeLabel.SECTION: "target",
    NodeLabel.REQUIREMENT: "key",
    NodeLabel.SPECIFICATION: "key",
}
"""What the key of a node is called among its properties."""
FILE_LABELS = (
    NodeLabel.SOURCE_FILE,
    NodeLabel.TEST_CASE,
    NodeLabel.DESIGN_DOC,
    NodeLabel.CONFIG_FILE,
    NodeLabel.ARTIFACT,
)
"""The labels of files."""


class EdgeDirection(StrEnum):
    """Which way an edge points, seen from the node that it is told of."""

    OUT = "OUT"
    IN = "IN"


class NodeView(Struct, frozen=True):
    """A node."""

    id: str
    labels: tuple[str, ...]
    properties: dict[str, Any]


class Relationship(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An edge, and the node at its other end."""

    type: Relation
    direction: EdgeDirection
    target: NodeView
    properties: dict[str, Any] = field(default_factory=dict)


class PathEdge(Struct, frozen=True):
    """An edge on a way."""

    type: Relation
    direction: EdgeDirection
    source: str
    target: str


class RelatedNode(Struct, frozen=True, kw_only=True):
    """A node that is reached from another, and a shortest way there."""

    target: NodeView
    hops: int
    path: tuple[PathEdge, ...]
    relationship: Relation
    """The first edge of the way."""
    direction: EdgeDirection


def make_node_view(node: GraphNode) -> NodeView:
    """The node with what it is called among its properties."""
    named = {"name": node.name} if node.name else {}
    return NodeView(node.id, (node.label.value,), {_KEYS[node.label]: node.key, **named, **node.properties})


def make_relationship(edge: GraphEdge, node: GraphNode, direction: EdgeDirection) -> Relationship:
    return Relationship(
        type=edge.relation, direction=direction, target=make_node_view(node), properties=edge.properties
    )


_MOST_LIKE = 50
"""Requirements that are looked at whose ids may begin with the digits that are given."""


def find_node(store: Store, text: str) -> GraphNode:
    """The node; NotFoundError where there is none, IdentifierError where there can be none."""
    asked = parse_identifier(text)
    for key in asked.keys:
        found = store.node(asked.label, key)
        if found is not None:
            return _with_text(store, found) if asked.label is NodeLabel.CHUNK else found
    ##= man/spec/knowledge.md#graph
    ##% `km-graph-node` MUST answer `invalid_identifier` for a malformed name and `not_found` for an unknown node, with
    ##% the node of the same path if there is one.
    if asked.digits:
        return _requirement(store, asked, text)
    raise _missing(text, _elsewhere(store, asked))


def _with_text(store: Store, node: GraphNode) -> GraphNode:
    """A piece of a file with what stands in it."""
    ##= man/spec/knowledge.md#graph
    ##% The graph MUST contain each chunk as a node `Chunk:PATH::NUMBER`, and each link of a document as an edge.
    path, _, ordinal = node.key.rpartition("::")
    numbers = store.chunk_numbers(path)[int(ordinal) :][:1]
    for chunk in store.chunks(numbers):
        more = {"text": chunk.text, "symbols": [symbol.qualified_name for symbol in chunk.symbols]}
        return replace(node, properties={**node.properties, **more})
    return node


def _requirement(store: Store, asked: NodeIdentifier, text: str) -> GraphNode:
    """The one requirement whose id begins so."""
    alike = store.found_nodes(f"/{asked.digits}", [NodeLabel.REQUIREMENT], _MOST_LIKE)
    found = [node for node in alike if node.key.rpartition("/")[2].startswith(asked.digits)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise _missing(text, ())
    raise NotFoundError(
        f"{len(found)} requirements begin with {quote_text(asked.digits)}", hint=f"give one of {_list(found)}"
    )


def _elsewhere(store: Store, asked: NodeIdentifier) -> Sequence[GraphNode]:
    """The file, where it is one of another kind."""
    if asked.label not in FILE_LABELS:
        return ()
    nodes = (store.node(label, key) for label in FILE_LABELS for key in asked.keys)
    return [node for node in nodes if node is not None]


def _missing(text: str, instead: Sequence[GraphNode]) -> NotFoundError:
    hint = f"there is {_list(instead)}" if instead else "km-graph-search finds nodes by a part of their names"
    return NotFoundError(f"Node '{shorten_text(text.strip())}' not found", hint=hint)


def _list(nodes: Sequence[GraphNode]) -> str:
    return ", ".join(node.id for node in nodes[:5])


class EdgeSelection(StrEnum):
    """Which edges of a node are told of."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"
    ALL = "all"
    NONE = "none"


class NodeWithEdges(Struct, frozen=True):
    """A node, and its edges: the outgoing ones first."""

    node: NodeView
    relationships: tuple[Relationship, ...]
    is_cut: bool
    """Whether there are more."""
    others: int = 0
    """Where it has none of those that are asked for: how many lead the other way."""


MAX_OTHERS = 100
"""So many edges that lead the other way are counted."""


def find_node_edges(store: Store, text: str, which: EdgeSelection, limit: int) -> NodeWithEdges:
    """The node of that name; DuvetError where there is none."""
    found = find_node(store, text)
    # One more than is shown tells whether there are more.
    edges = list(islice(_edges(store, found.id, which, limit + 1), limit + 1))
    one_way = which in (EdgeSelection.OUTGOING, EdgeSelection.INCOMING)
    others = (
        0 if edges or not one_way else len(store.edges(found.id, out=which is EdgeSelection.INCOMING, limit=MAX_OTHERS))
    )
    return NodeWithEdges(make_node_view(found), tuple(edges[:limit]), len(edges) > limit, others)


def _edges(store: Store, id: str, which: EdgeSelection, limit: int) -> Iterator[Relationship]:
    ##= man/spec/knowledge.md#graph
    ##% `km-graph-node` MUST return up to `limit` edges with direction and the node at the other end, outgoing ones
    ##% first, and say how many more there are.
    if which in (EdgeSelection.OUTGOING, EdgeSelection.ALL):
        for edge, node in store.edges(id, out=True, limit=limit):
            yield make_relationship(edge, node, EdgeDirection.OUT)
    if which in (EdgeSelection.INCOMING, EdgeSelection.ALL):
        for edge, node in store.edges(id, out=False, limit=limit):
            yield make_relationship(edge, node, EdgeDirection.IN)


_SCORES = {
    NodeLabel.SUBSYSTEM: 0.95,
    NodeLabel.SPECIFICATION: 0.9,
    NodeLabel.DESIGN_DOC: 0.85,
    NodeLabel.SOURCE_FILE: 0.8,
    NodeLabel.SECTION: 0.75,
    NodeLabel.REQUIREMENT: 0.7,
    NodeLabel.TEST_CASE: 0.65,
    NodeLabel.CONFIG_FILE: 0.6,
}
"""How much a hit counts, by what it is."""
_SNIPPETS = ("description", "text", "title")
"""The properties that say most of a node."""
MAX_TERM_LENGTH = 1000
"""Characters of a term that count."""


class FoundNode(Struct, frozen=True):
    """A node that was found."""

    id: str
    label: str
    score: float
    snippet: str


def search_nodes(store: Store, term: str, limit: int) -> tuple[FoundNode, ...]:
    """The nodes whose names or texts hold the term, in whatever case; the best first."""
    ##= man/spec/knowledge.md#graph
    ##% `km-graph-search` MUST find a term literally, in any case, in names and in the texts of requirements.
    asked = term.strip()[:MAX_TERM_LENGTH]
    named = store.found_nodes(asked, tuple(_SCORES), limit)
    found = {node.id: node for node in (*named, *_by_text(store, asked, limit))}
    best = sorted(found.values(), key=lambda node: (-_SCORES[node.label], *_closeness(node, asked.casefold()), node.id))
    return tuple(FoundNode(node.id, node.label.value, _SCORES[node.label], _snippet(node)) for node in best[:limit])


def _by_text(store: Store, term: str, limit: int) -> Iterator[GraphNode]:
    """Requirements; their names are only the beginnings of their texts."""
    wanted, count = term.casefold(), 0
    for node in store.nodes(NodeLabel.REQUIREMENT):
        if count < limit and wanted in str(node.properties.get("text", "")).casefold():
            count += 1
            yield node


def _closeness(node: GraphNode, term: str) -> tuple[bool, bool]:
    """Who is called just so comes before who is called something that begins so, and that before others."""
    names = [name.casefold() for name in (node.name, node.key) if name]
    return term not in names, not any(name.startswith(term) for name in names)


def _snippet(node: GraphNode) -> str:
    said: Any = next((node.properties[name] for name in _SNIPPETS if node.properties.get(name)), node.name or node.key)
    return shorten_text(escape_line_ends(str(said)), 200)


MAX_SUBSYSTEM_ARTIFACTS = 200
"""Files that are told of at most."""
_MOST_EDGES = 100_000
"""Edges that are looked at for these."""
_LONGEST_CURSOR = 64
_OF_FILES = (Relation.BELONGS_TO, Relation.DESCRIBES, Relation.VALIDATES)


class SubsystemQuery(Struct, frozen=True, kw_only=True):
    """How much of a subsystem is asked for."""

    depth: int = 1
    limit: int = 25
    cursor: str | None = None
    include_artifacts: bool = True
    cut: Callable[[Sequence[RelatedNode]], Sequence[RelatedNode]] = lambda nodes: nodes
    """How many of the nodes of a page there is room for."""


class RelatedNodes(Struct, frozen=True, kw_only=True):
    """One page of what is reached."""

    nodes: tuple[RelatedNode, ...]
    cursor: str | None
    """Where the next page begins."""
    total: int


class SubsystemView(Struct, frozen=True, kw_only=True):
    """A subsystem with its surroundings."""

    subsystem: NodeView
    related: RelatedNodes
    artifacts: tuple[NodeView, ...]


def find_subsystem(store: Store, name: str, wish: SubsystemQuery) -> SubsystemView:
    """The subsystem of that name, in whatever case; NotFoundError where there is none."""
    node = store.node(NodeLabel.SUBSYSTEM, name.strip())
    if node is None:
        known = [one.key for one in store.nodes(NodeLabel.SUBSYSTEM)]
        hint = suggest_nearest(shorten_text(name), known) or "km-graph-search finds subsystems by a part of their names"
        raise NotFoundError(f"Subsystem '{shorten_text(name.strip())}' not found", hint=hint)
    # As many steps as none are one: nothing else would be told.
    hops = sorted(store.around(node.id, max(wish.depth, 1)), key=lambda hop: _order(hop.node))
    return SubsystemView(
        subsystem=make_node_view(node),
        related=_page(hops, node.id, wish),
        artifacts=tuple(_artifacts(store, node)) if wish.include_artifacts else (),
    )


def _order(node: GraphNode) -> tuple[str, str]:
    return (node.name or node.key).casefold(), node.id


def _page(hops: Sequence[GraphHop], start: str, wish: SubsystemQuery) -> RelatedNodes:
    ##= man/spec/knowledge.md#graph
    ##% `km-graph-subsystem` MUST list each node around a subsystem once, with a shortest path to it, by name and page
    ##% by page.
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


def _related(hop: GraphHop, start: str) -> RelatedNode:
    path = tuple(_links(hop.path, start))
    return RelatedNode(
        target=make_node_view(hop.node),
        hops=len(path),
        path=path,
        relationship=path[0].type,
        direction=path[0].direction,
    )


def _links(path: Sequence[GraphEdge], start: str) -> Iterator[PathEdge]:
    """The edges of a way, each as it is gone."""
    at = start
    for edge in path:
        out = edge.source == at
        at = edge.target if out else edge.source
        yield PathEdge(edge.relation, EdgeDirection.OUT if out else EdgeDirection.IN, edge.source, edge.target)


def _artifacts(store: Store, node: GraphNode) -> Iterator[NodeView]:
    edges = store.edges(node.id, out=False, limit=_MOST_EDGES, relations=_OF_FILES)
    files = {one.key: one for _, one in edges if one.label in FILE_LABELS}
    return (make_node_view(files[path]) for path in sorted(files)[:MAX_SUBSYSTEM_ARTIFACTS])
