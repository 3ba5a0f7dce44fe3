"""What is reached from a node, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from duvet.store.database import Database, Row
from duvet.store.faults import decoding
from duvet.store.graph import FIELDS, node_of, split
from duvet.store.records import Edge, Label, Node
from duvet.store.schema import LABEL_NUMBERS, RELATION_OF
from duvet.store.values import bound, counted, properties

_START = f"SELECT id, {FIELDS} FROM node WHERE label = ? AND key = ?"
_NODES = f"SELECT id, {FIELDS} FROM node WHERE id IN ({{}})"
_OUT = "SELECT source, relation, target, properties FROM edge WHERE source IN ({})"
_IN = "SELECT target, relation, source, properties FROM edge WHERE target IN ({})"


class Reached(Struct, frozen=True):
    """A node, and how it was reached."""

    node: Node
    before: Reached | None
    """None for the one where everything begins."""
    relation: int = 0
    is_out: bool = True
    """Whether the last edge points at it."""
    told: Mapping[str, Any] = {}
    """The properties of that edge."""

    @property
    def path(self) -> Sequence[Edge]:
        """A shortest way there."""
        steps: list[Edge] = []
        here = self
        while here.before is not None:
            source, target = (here.before.node, here.node) if here.is_out else (here.node, here.before.node)
            steps.append(
                Edge(
                    source=source.id,
                    relation=RELATION_OF[here.relation],
                    target=target.id,
                    properties=dict(here.told),
                )
            )
            here = here.before
        return steps[::-1]


def around(database: Database, id: str, depth: int) -> Sequence[Reached]:
    label, key = split(id)
    if label is None or label is Label.CHUNK:
        return []
    start = database.read_one(_node, _START, LABEL_NUMBERS[label], bound(key))
    if start is None:
        return []
    level = {start[0]: Reached(start[1], None)}
    seen = set(level)
    found: list[Reached] = []
    for _ in range(depth):
        level = dict(
            sorted(_next(database, level, seen), key=lambda item: (LABEL_NUMBERS[item[1].node.label], item[1].node.key))
        )
        if not level:
            break
        seen.update(level)
        found += level.values()
    return found


def _next(database: Database, level: dict[int, Reached], seen: set[int]) -> Iterator[tuple[int, Reached]]:
    """What is one step further, each once: from the first node that leads there, and along its first edge."""
    order = {id: place for place, id in enumerate(level)}
    ways: dict[int, tuple[int, bool, int, int, bytes | None]] = {}
    for question, is_back in ((_OUT, False), (_IN, True)):
        found = [*database.read_many(_way, question, level)]
        with decoding(database.path):
            for here, relation, there, data in found:
                way = (order[here], is_back, relation, here, data)
                if there not in seen and (there not in ways or way[:3] < ways[there][:3]):
                    ways[there] = way
    for id, node in database.read_many(_node, _NODES, ways):
        with decoding(database.path):
            _, is_back, relation, here, data = ways[id]
            said = properties(data)
        yield id, Reached(node, level[here], relation, not is_back, said)


def _node(row: Row) -> tuple[int, Node]:
    return counted(row[0]), node_of(row[1:])


def _way(row: Row) -> tuple[int, int, int, bytes | None]:
    here, relation, there, data = row
    if relation not in RELATION_OF:
        raise LookupError("an edge is none")
    return counted(here), relation, counted(there), data
