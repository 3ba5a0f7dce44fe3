"""A node, and what it is connected with."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice

from msgspec import Struct

from duvet.knowledge.graph.finding import find
from duvet.knowledge.graph.shapes import Direction, Relationship, Shown, relationship, shown
from duvet.store.protocol import Store


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
    others: int = 0
    """Where it has none of those that are asked for: how many lead the other way."""


MOST_OTHERS = 100
"""So many edges that lead the other way are counted."""


def around(store: Store, text: str, which: Which, limit: int) -> Around:
    """The node of that name; DuvetError where there is none."""
    found = find(store, text)
    # One more than is shown tells whether there are more.
    edges = list(islice(_edges(store, found.id, which, limit + 1), limit + 1))
    ##= man/spec/knowledge.md#graph
    ##% Where a node has no edge of the direction that is asked for, it MUST be said how many it has of the other one.
    one_way = which in (Which.OUTGOING, Which.INCOMING)
    others = 0 if edges or not one_way else len(store.edges(found.id, out=which is Which.INCOMING, limit=MOST_OTHERS))
    return Around(shown(found), tuple(edges[:limit]), len(edges) > limit, others)


def _edges(store: Store, id: str, which: Which, limit: int) -> Iterator[Relationship]:
    ##= man/spec/knowledge.md#graph
    ##% The edges of a node MUST be told with the node at their other end, which way they point, and what is said of them, as
    ##% many as `limit` says and the outgoing ones first; that there are more MUST be said.
    if which in (Which.OUTGOING, Which.ALL):
        for edge, node in store.edges(id, out=True, limit=limit):
            yield relationship(edge, node, Direction.OUT)
    if which in (Which.INCOMING, Which.ALL):
        for edge, node in store.edges(id, out=False, limit=limit):
            yield relationship(edge, node, Direction.IN)
