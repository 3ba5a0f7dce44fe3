"""A node, and what it is connected with."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice

from msgspec import Struct

from duvet.knowledge.graph.finding import find
from duvet.knowledge.graph.shapes import FILES, Direction, Relationship, Shown, as_node, relationship, shown
from duvet.store.protocol import Store
from duvet.store.records import Chunk, Edge, Node, Relation


class Which(StrEnum):
    """Which edges of a node are told of."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"
    ALL = "all"
    NONE = "none"


class Around(Struct, frozen=True):
    """A node, and its edges: the outgoing ones first."""

    node: Shown
    relationships: tuple[Relationship, ...]
    is_cut: bool
    """Whether there are more."""


def around(store: Store, text: str, which: Which, limit: int) -> Around:
    """The node of that name; DuvetError where there is none."""
    found = find(store, text)
    # One more than is shown tells whether there are more.
    edges = list(islice(_edges(store, found, which, limit + 1), limit + 1))
    node = as_node(found, whole=True) if isinstance(found, Chunk) else found
    return Around(shown(node), tuple(edges[:limit]), len(edges) > limit)


def _edges(store: Store, found: Node | Chunk, which: Which, limit: int) -> Iterator[Relationship]:
    ##= man/spec/knowledge.md#graph
    ##% The pieces of a file MUST be nodes like all others: `Chunk:PATH::NUMBER`, to which `HAS_CHUNK` leads from the file.
    if isinstance(found, Chunk):
        if which in (Which.INCOMING, Which.ALL):
            yield from _file_of(store, found)
        return
    if which in (Which.OUTGOING, Which.ALL):
        for edge, node in store.edges(found.id, out=True, limit=limit):
            yield relationship(edge, node, Direction.OUT)
        yield from _pieces(store, found, limit)
    if which in (Which.INCOMING, Which.ALL):
        for edge, node in store.edges(found.id, out=False, limit=limit):
            yield relationship(edge, node, Direction.IN)


def _pieces(store: Store, node: Node, limit: int) -> Iterator[Relationship]:
    if node.label not in FILES:
        return
    for chunk in store.chunks(store.chunk_numbers(node.key)[:limit]):
        piece = as_node(chunk)
        edge = Edge(source=node.id, relation=Relation.HAS_CHUNK, target=piece.id)
        yield relationship(edge, piece, Direction.OUT)


def _file_of(store: Store, chunk: Chunk) -> Iterator[Relationship]:
    file = store.node(chunk.artifact.label, chunk.artifact.path)
    if file is not None:
        edge = Edge(source=file.id, relation=Relation.HAS_CHUNK, target=as_node(chunk).id)
        yield relationship(edge, file, Direction.IN)
