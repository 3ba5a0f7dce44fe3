"""Nodes and edges, as they stand in the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from duvet.store.database import Database, Row, marks
from duvet.store.piece_nodes import piece_node, piece_nodes, piece_nodes_of
from duvet.store.records import Edge, Label, Node, Relation
from duvet.store.schema import LABEL_NUMBERS, LABEL_OF, RELATION_NUMBERS, RELATION_OF
from duvet.store.values import bound, properties, unbound
from duvet.store.words import folded

Ends = Sequence[tuple[Edge, Node]]
"""Edges, each with the node at its other end."""

FIELDS = "node.label, node.key, node.name, node.properties"
_NODE = f"SELECT {FIELDS} FROM node WHERE label = ? AND key = ?"
_NODES = f"SELECT {FIELDS} FROM node WHERE label = ? ORDER BY key"
_SUBSYSTEMS = "SELECT key FROM node WHERE label = ? ORDER BY key"
_EDGES = f"""SELECT edge.relation, edge.properties, {FIELDS} FROM edge JOIN node ON node.id = edge.{{1}}
WHERE edge.{{0}} = (SELECT id FROM node WHERE label = ? AND key = ?){{2}}
ORDER BY edge.relation, node.label, node.key LIMIT ?"""
_FOUND = f"""SELECT {FIELDS} FROM node WHERE label = ? AND instr(coalesce(folded, key), ?) > 0
ORDER BY instr(char(10) || coalesce(folded, key) || char(10), char(10) || ? || char(10)) = 0, key LIMIT ?"""
_ISOLATED = f"""SELECT {FIELDS} FROM node WHERE label IN ({{}}) AND NOT EXISTS
(SELECT 1 FROM edge WHERE source = node.id AND relation IN ({{}})) ORDER BY label, key"""


def node_of(row: Row) -> Node:
    label, key, name, data = row
    return Node(label=LABEL_OF[label], key=unbound(key), name=unbound(name), properties=properties(data))


def split(id: str) -> tuple[Label | None, str]:
    """The label and the key of an id; None for a label that there is not."""
    label, _, key = id.partition(":")
    return (Label(label) if label in Label.__members__.values() else None), key


def node(database: Database, label: Label, key: str) -> Node | None:
    if label is Label.CHUNK:
        piece = piece_node(database, key)
        return piece and piece.node
    found = database.read_one(node_of, _NODE, LABEL_NUMBERS[label], bound(key))
    if found is None and label is Label.SUBSYSTEM:
        wanted, keys = folded(key), database.read(lambda row: unbound(*row), _SUBSYSTEMS, LABEL_NUMBERS[label])
        spelt = next((one for one in keys if folded(one) == wanted), None)
        return None if spelt is None else database.read_one(node_of, _NODE, LABEL_NUMBERS[label], bound(spelt))
    return found


def nodes(database: Database, label: Label) -> Iterator[Node]:
    if label is Label.CHUNK:
        return (piece.node for piece in piece_nodes(database))
    return database.read_each(node_of, _NODES, LABEL_NUMBERS[label])


def edges(database: Database, id: str, *, out: bool, limit: int, relations: Sequence[Relation] = ()) -> Ends:
    label, key = split(id)
    found = stored_edges(database, id, out=out, limit=limit, relations=relations)
    left = 0 if relations and Relation.HAS_CHUNK not in relations else limit - len(found)
    if left > 0 and label is Label.CHUNK and not out:
        piece = piece_node(database, key)
        if piece and (holder := node(database, piece.label, piece.path)):
            found.append((Edge(source=holder.id, relation=Relation.HAS_CHUNK, target=id), holder))
    elif left > 0 and label is not None and out:
        for one in piece_nodes_of(database, label, key, left):
            found.append((Edge(source=id, relation=Relation.HAS_CHUNK, target=one.node.id), one.node))
    return found


def stored_edges(
    database: Database, id: str, *, out: bool, limit: int = -1, relations: Sequence[Relation] = ()
) -> list[tuple[Edge, Node]]:
    """Without those to pieces."""
    label, key = split(id)
    if label is None or label is Label.CHUNK:
        return []
    ways = [RELATION_NUMBERS[one] for one in relations if one is not Relation.HAS_CHUNK]
    only = f" AND edge.relation IN ({marks(ways)})" if relations else ""
    question = _EDGES.format(*(("source", "target") if out else ("target", "source")), only)

    def end_of(row: Row) -> tuple[Edge, Node]:
        relation, data, *other = row
        end, way = node_of(tuple(other)), RELATION_OF[relation]
        source, target = (id, end.id) if out else (end.id, id)
        return Edge(source=source, relation=way, target=target, properties=properties(data)), end

    return database.read(end_of, question, LABEL_NUMBERS[label], bound(key), *ways, limit)


def neighbours(database: Database, ids: Sequence[str]) -> Mapping[str, Ends]:
    return {
        id: [*stored_edges(database, id, out=True), *stored_edges(database, id, out=False)] for id in dict.fromkeys(ids)
    }


def found_nodes(database: Database, term: str, labels: Sequence[Label], limit: int) -> Sequence[Node]:
    wanted = bound(folded(term))
    return [
        found
        for label in dict.fromkeys(labels)
        if label is not Label.CHUNK
        for found in database.read(node_of, _FOUND, LABEL_NUMBERS[label], wanted, wanted, limit)
    ]


def isolated(database: Database, labels: Sequence[Label], relations: Sequence[Relation]) -> Iterator[Node]:
    kinds = [LABEL_NUMBERS[label] for label in labels if label is not Label.CHUNK]
    ways = [RELATION_NUMBERS[one] for one in relations if one is not Relation.HAS_CHUNK]
    return database.read_each(node_of, _ISOLATED.format(marks(kinds), marks(ways)), *kinds, *ways)


def searched(key: str, name: str) -> str | None:
    """What a term is looked for in; None where that is the key itself."""
    text = folded(key) if not name else f"{folded(key)}\n{folded(name)}"
    return None if text == key else text
