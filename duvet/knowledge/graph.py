"""Nodes of the graph: identifiers, search, relationships, subsystems."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

from msgspec import Struct, structs

from duvet.errors import NotFoundError, QueryError
from duvet.knowledge import search_query
from duvet.store.records import GraphHop, GraphNode, NodeLabel, Relation
from duvet.text import collapse_whitespace, quote_text, shorten_text, suggest_nearest

if TYPE_CHECKING:
    from duvet.store.sqlite import Store

_LABELS_BY_NAME = {
    **{label.value: label for label in NodeLabel},
    "Code": NodeLabel.SOURCE_FILE,
    "Doc": NodeLabel.DESIGN_DOC,
    "Test": NodeLabel.TEST_CASE,
    "Config": NodeLabel.CONFIG_FILE,
    "Spec": NodeLabel.SPECIFICATION,
}
_TRACE_LABELS = (NodeLabel.SPECIFICATION, NodeLabel.SECTION, NodeLabel.REQUIREMENT)
_MAX_IDENTIFIER = 4096
_ID_DIGITS = 12  # Digits of a requirement's id in its key.
_MAX_ALIKE = 50  # Maximum number of requirements to compare with the first digits of an id.
_FULL_PATH = re.compile(
    r"/?specifications/(?P<spec>[^/]+)(/sections/(?P<section>[^/]+))?(/requirements/(?P<id>[^/]+))?\Z"
)
_DIGITS = re.compile(r"[0-9a-f]{4,64}\Z")
MAX_OTHERS = 100  # Limit for counting the edges in the other direction.
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
_MAX_TERM = 1000
MAX_SUBSYSTEM_ARTIFACTS = 200
_MAX_FILE_EDGES = 100_000
_FILE_RELATIONS = (Relation.BELONGS_TO, Relation.DESCRIBES, Relation.VALIDATES)
EdgeSelection = Literal["outgoing", "incoming", "all", "none"]


class IdentifierError(QueryError):
    pass


def _parse_identifier(text: str) -> tuple[NodeLabel, list[str]]:
    ##= man/spec/knowledge.md#graph
    ##% `km-graph-node` MUST find a node by `LABEL:KEY`, where KEY can also be the first four or more digits of a
    ##% requirement's id, or the full path of a specification, section or requirement.
    whole = text if ":" in text else unquote(text)
    name, colon, written = whole.partition(":")
    if not colon or not written.strip() or len(whole) > _MAX_IDENTIFIER:
        raise IdentifierError("Invalid node identifier", hint="write LABEL:KEY, such as DesignDoc:docs/README.md")
    if name not in _LABELS_BY_NAME:
        hint = suggest_nearest(shorten_text(name), tuple(_LABELS_BY_NAME)) or f"available: {', '.join(_LABELS_BY_NAME)}"
        raise IdentifierError(f"Unsupported node label '{shorten_text(name)}'", hint=hint)
    label, keys = _LABELS_BY_NAME[name], list[str]()
    for key in dict.fromkeys([written, unquote(written)]):
        if label in _TRACE_LABELS and (found := _FULL_PATH.match(key)):
            parts = found["spec"], found["section"] and f"#{found['section']}", found["id"] and f"/{found['id']}"
            key = "".join(unquote(part) for part in parts if part)
        keys.append(key)
        place, slash, digits = key.rpartition("/")
        if label is NodeLabel.REQUIREMENT and _DIGITS.match(digits):
            keys.append(place + slash + digits[:_ID_DIGITS])
    return label, keys


def find_node(store: Store, text: str) -> GraphNode:
    label, keys = _parse_identifier(text)
    for key in keys:
        node = store.node(label, key)
        if node is not None:
            if node.label is NodeLabel.CHUNK:
                path, _, ordinal = node.key.rpartition("::")
                numbers = store.chunk_numbers(path)[int(ordinal) :][:1]
                for chunk in store.chunks(numbers):
                    more = {"text": chunk.text, "symbols": [symbol.qualified_name for symbol in chunk.symbols]}
                    return structs.replace(node, properties={**node.properties, **more})
            return node
    others: list[GraphNode] = []
    if label is NodeLabel.REQUIREMENT and _DIGITS.match(keys[0].lower()):
        digits = keys[0].lower()[:_ID_DIGITS]
        alike = store.find_nodes(f"/{digits}", [NodeLabel.REQUIREMENT], _MAX_ALIKE)
        found = [node for node in alike if node.key.rpartition("/")[2].startswith(digits)]
        if len(found) == 1:
            return found[0]
        if found:
            message = f"the ids of {len(found)} requirements begin with {quote_text(digits)}"
            raise NotFoundError(message, hint=f"use one of: {', '.join(node.id for node in found[:5])}")
    elif label in search_query.FILE_LABELS:
        nodes = (store.node(other, key) for other in search_query.FILE_LABELS for key in keys)
        others = [node for node in nodes if node is not None]
    known = ", ".join(node.id for node in others[:5])
    hint = f"available: {known}" if known else "call km-graph-search to find nodes by part of a name"
    raise NotFoundError(f"Node '{shorten_text(text)}' not found", hint=hint)


class NodeWithEdges(Struct, frozen=True):
    node: search_query.NodeView
    relationships: tuple[search_query.Relationship, ...]
    is_cut: bool  # Whether there are more edges.
    others: int = 0  # Number of edges in the other direction if the selected one has no edges.


def find_node_edges(store: Store, text: str, selection: EdgeSelection, limit: int) -> NodeWithEdges:
    node = find_node(store, text)
    edges: list[search_query.Relationship] = []
    for direction, word in ((search_query.EdgeDirection.OUT, "outgoing"), (search_query.EdgeDirection.IN, "incoming")):
        if selection in (word, "all") and len(edges) <= limit:
            # Read one more edge than the limit, to detect that the list is cut.
            found = store.edges(node.id, out=direction is search_query.EdgeDirection.OUT, limit=limit + 1)
            edges += (search_query.make_relationship(*end, direction) for end in found)
    others = 0
    if not edges and selection in ("outgoing", "incoming"):
        others = len(store.edges(node.id, out=selection == "incoming", limit=MAX_OTHERS))
    return NodeWithEdges(search_query.make_node_view(node), tuple(edges[:limit]), len(edges) > limit, others)


class FoundNode(Struct, frozen=True):
    id: str
    label: str
    score: float
    snippet: str


def search_nodes(store: Store, term: str, limit: int) -> tuple[FoundNode, ...]:
    ##= man/spec/knowledge.md#graph
    ##% `km-graph-search` MUST search the names of nodes and the texts of requirements, ignoring case.
    term = term[:_MAX_TERM]
    folded = term.casefold()
    # The name of a requirement is only the beginning of its text.
    with_term = (
        node for node in store.nodes(NodeLabel.REQUIREMENT) if folded in str(node.properties.get("text", "")).casefold()
    )
    nodes = [*store.find_nodes(term, tuple(_SCORES), limit), *islice(with_term, limit)]

    def rank(node: GraphNode) -> tuple[float, bool, bool, str]:
        names = [name.casefold() for name in (node.name, node.key) if name]
        return (-_SCORES[node.label], folded not in names, not any(name.startswith(folded) for name in names), node.id)

    rows = []
    for node in sorted({node.id: node for node in nodes}.values(), key=rank)[:limit]:
        texts = (node.properties[name] for name in ("description", "text", "title") if node.properties.get(name))
        snippet = shorten_text(collapse_whitespace(str(next(texts, node.name or node.key))), 200)
        rows.append(FoundNode(node.id, node.label.value, _SCORES[node.label], snippet))
    return tuple(rows)


class PathEdge(Struct, frozen=True):
    type: Relation
    direction: search_query.EdgeDirection
    source: str
    target: str


class RelatedNode(Struct, frozen=True, kw_only=True):
    target: search_query.NodeView
    hops: int
    path: tuple[PathEdge, ...]
    relationship: Relation  # The first edge of the path.
    direction: search_query.EdgeDirection


class RelatedNodes(Struct, frozen=True, kw_only=True):
    nodes: tuple[RelatedNode, ...]
    cursor: str | None  # The beginning of the next page.
    total: int


class SubsystemView(Struct, frozen=True, kw_only=True):
    status: str = "ok"
    subsystem: search_query.NodeView
    related: RelatedNodes
    artifacts: tuple[search_query.NodeView, ...]


def find_subsystem(
    store: Store,
    name: str,
    *,
    depth: int = 1,
    limit: int = 25,
    cursor: str | None = None,
    include_artifacts: bool = True,
    cut: Callable[[Sequence[RelatedNode]], Sequence[RelatedNode]] = lambda nodes: nodes,
) -> SubsystemView:
    node = store.node(NodeLabel.SUBSYSTEM, name)
    if node is None:
        known = [subsystem.key for subsystem in store.nodes(NodeLabel.SUBSYSTEM)]
        hint = suggest_nearest(shorten_text(name), known) or "call km-graph-search to find subsystems by part of a name"
        raise NotFoundError(f"Subsystem '{shorten_text(name)}' not found", hint=hint)
    hops = sorted(
        store.walk_from(node.id, max(depth, 1)),
        key=lambda hop: ((hop.node.name or hop.node.key).casefold(), hop.node.id),
    )
    artifacts: dict[str, GraphNode] = {}
    if include_artifacts:
        edges = store.edges(node.id, out=False, limit=_MAX_FILE_EDGES, relations=_FILE_RELATIONS)
        artifacts = {file.key: file for _, file in edges if file.label in search_query.FILE_LABELS}
    ##= man/spec/knowledge.md#graph
    ##% `km-graph-subsystem` MUST list every node within `depth` steps of the subsystem, without duplicates
    ##% and with a shortest path to the subsystem.
    begin = 0
    with suppress(ValueError):
        written = urlsafe_b64decode((cursor or "").encode()).decode("ascii")
        begin = int(written) if written.isdecimal() else 0
    nodes = tuple(cut([_make_related(hop, node.id) for hop in hops[begin : begin + limit]]))
    end = begin + len(nodes)
    following = urlsafe_b64encode(str(end).encode()).decode() if end < len(hops) else None
    return SubsystemView(
        subsystem=search_query.make_node_view(node),
        related=RelatedNodes(nodes=nodes, cursor=following, total=len(hops)),
        artifacts=tuple(
            search_query.make_node_view(artifacts[path]) for path in sorted(artifacts)[:MAX_SUBSYSTEM_ARTIFACTS]
        ),
    )


def _make_related(hop: GraphHop, start: str) -> RelatedNode:
    path, at = [], start
    for edge in hop.path:
        is_out = edge.source == at
        at = edge.target if is_out else edge.source
        direction = search_query.EdgeDirection.OUT if is_out else search_query.EdgeDirection.IN
        path.append(PathEdge(edge.relation, direction, edge.source, edge.target))
    return RelatedNode(
        target=search_query.make_node_view(hop.node),
        hops=len(path),
        path=tuple(path),
        relationship=path[0].type,
        direction=path[0].direction,
    )
