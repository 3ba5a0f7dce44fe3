"""What is answered of nodes and of what connects them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from duvet.store.records import Edge, Label, Node, Relation

_KEYS = {
    Label.SUBSYSTEM: "name",
    Label.SOURCE_FILE: "path",
    Label.TEST_CASE: "path",
    Label.DESIGN_DOC: "path",
    Label.CONFIG_FILE: "path",
    Label.ARTIFACT: "path",
    Label.CHUNK: "chunk_id",
    Label.SECTION: "target",
    Label.REQUIREMENT: "key",
    Label.SPECIFICATION: "key",
}
"""What the key of a node is called among its properties."""
FILES = (Label.SOURCE_FILE, Label.TEST_CASE, Label.DESIGN_DOC, Label.CONFIG_FILE, Label.ARTIFACT)
"""The labels of files."""


class Direction(StrEnum):
    """Which way an edge points, seen from the node that it is told of."""

    OUT = "OUT"
    IN = "IN"


class Shown(Struct, frozen=True):
    """A node."""

    id: str
    labels: tuple[str, ...]
    properties: dict[str, Any]


class Relationship(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An edge, and the node at its other end."""

    type: Relation
    direction: Direction
    target: Shown
    properties: dict[str, Any] = field(default_factory=dict)


class Link(Struct, frozen=True):
    """An edge on a way."""

    type: Relation
    direction: Direction
    source: str
    target: str


class Related(Struct, frozen=True, kw_only=True):
    """A node that is reached from another, and a shortest way there."""

    target: Shown
    hops: int
    path: tuple[Link, ...]
    relationship: Relation
    """The first edge of the way."""
    direction: Direction


def shown(node: Node) -> Shown:
    """The node with what it is called among its properties."""
    named = {"name": node.name} if node.name else {}
    return Shown(node.id, (node.label.value,), {_KEYS[node.label]: node.key, **named, **node.properties})


def relationship(edge: Edge, node: Node, direction: Direction) -> Relationship:
    return Relationship(type=edge.relation, direction=direction, target=shown(node), properties=edge.properties)
