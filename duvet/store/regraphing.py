"""Another graph in the place of the one that there is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeVar

from duvet.store.database import Database
from duvet.store.graph import searched, split
from duvet.store.records import Edge, Label, Node, Relation
from duvet.store.schema import LABEL_NUMBERS, RELATION_NUMBERS
from duvet.store.values import bound, packed

One = TypeVar("One", Node, Edge)
Values = tuple[object, ...]

_TABLES = (
    """CREATE TEMP TABLE new_node(label INTEGER, key TEXT, name TEXT, folded TEXT, properties BLOB,
    PRIMARY KEY(label, key)) WITHOUT ROWID""",
    """CREATE TEMP TABLE new_edge(source INTEGER, relation INTEGER, target INTEGER, properties BLOB,
    PRIMARY KEY(source, relation, target)) WITHOUT ROWID""",
)
_NO_TABLES = ("DROP TABLE IF EXISTS temp.new_node", "DROP TABLE IF EXISTS temp.new_edge")
_NODE = "INSERT OR REPLACE INTO temp.new_node VALUES (?, ?, ?, ?, ?)"
_EDGE = """INSERT OR REPLACE INTO temp.new_edge SELECT source.id, ?, target.id, ? FROM node source, node target
WHERE source.label = ? AND source.key = ? AND target.label = ? AND target.key = ?"""
_CHANGES = (
    """DELETE FROM node WHERE NOT EXISTS
    (SELECT 1 FROM temp.new_node new WHERE new.label = node.label AND new.key = node.key)""",
    """INSERT INTO node(label, key, name, folded, properties) SELECT * FROM temp.new_node WHERE true
    ON CONFLICT(label, key) DO UPDATE SET name = excluded.name, folded = excluded.folded, properties = excluded.properties
    WHERE name IS NOT excluded.name OR properties IS NOT excluded.properties""",
)
_EDGE_CHANGES = (
    """DELETE FROM edge WHERE NOT EXISTS (SELECT 1 FROM temp.new_edge new
    WHERE new.source = edge.source AND new.relation = edge.relation AND new.target = edge.target)""",
    """INSERT INTO edge SELECT * FROM temp.new_edge WHERE true
    ON CONFLICT(source, relation, target) DO UPDATE SET properties = excluded.properties
    WHERE properties IS NOT excluded.properties""",
)
_MANY = 1000


def replace_graph(database: Database, nodes: Iterable[Node], edges: Iterable[Edge]) -> bool:
    """Write down what is another; tells whether anything is."""
    for statement in (*_NO_TABLES, *_TABLES):
        database.run(statement)
    _fill(database, _NODE, nodes, _node)
    changed = sum([database.run(statement) for statement in _CHANGES])
    _fill(database, _EDGE, edges, _edge)
    changed += sum([database.run(statement) for statement in _EDGE_CHANGES])
    for statement in _NO_TABLES:
        database.run(statement)
    return changed > 0


def _fill(database: Database, statement: str, ones: Iterable[One], values: Callable[[One], Values | None]) -> None:
    left = iter(ones)
    while some := list(islice(left, _MANY)):
        database.many(statement, [row for one in some if (row := values(one)) is not None])


def _node(node: Node) -> Values | None:
    if node.label is Label.CHUNK:
        return None
    said = packed(node.properties) if node.properties else None
    folded = searched(node.key, node.name)
    return LABEL_NUMBERS[node.label], bound(node.key), bound(node.name), None if folded is None else bound(folded), said


def _edge(edge: Edge) -> Values | None:
    (source, from_key), (target, to_key) = split(edge.source), split(edge.target)
    if edge.relation is Relation.HAS_CHUNK or source not in LABEL_NUMBERS or target not in LABEL_NUMBERS:
        return None
    said = packed(edge.properties) if edge.properties else None
    ends = LABEL_NUMBERS[source], bound(from_key), LABEL_NUMBERS[target], bound(to_key)
    return RELATION_NUMBERS[edge.relation], said, *ends
