"""Nodes and edges in the tables of the index, and walks along them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from msgspec import Struct

from duvet.store.chunks import read_file_piece_nodes, read_piece_node, read_piece_nodes
from duvet.store.database import (
    LABEL_NUMBERS,
    LABEL_OF,
    RELATION_NUMBERS,
    RELATION_OF,
    Database,
    DatabaseRow,
    decode_count,
    decode_properties,
    decode_text,
    encode_text,
    make_placeholders,
    pack_record,
)
from duvet.store.errors import translate_decoding_errors
from duvet.store.records import GraphEdge, GraphNode, NodeLabel, Relation
from duvet.store.text_index import fold_name

EdgeEnds = Sequence[tuple[GraphEdge, GraphNode]]
"""Edges, each with the node at its other end."""

NODE_FIELDS = "node.label, node.key, node.name, node.properties"
_NODE = f"SELECT {NODE_FIELDS} FROM node WHERE label = ? AND key = ?"
_NODES = f"SELECT {NODE_FIELDS} FROM node WHERE label = ? ORDER BY key"
_SUBSYSTEMS = "SELECT key FROM node WHERE label = ? ORDER BY key"
_EDGES = f"""SELECT edge.relation, edge.properties, {NODE_FIELDS} FROM edge JOIN node ON node.id = edge.{{1}}
WHERE edge.{{0}} = (SELECT id FROM node WHERE label = ? AND key = ?){{2}}
ORDER BY edge.relation, node.label, node.key LIMIT ?"""
_FOUND = f"""SELECT {NODE_FIELDS} FROM node WHERE label = ? AND instr(coalesce(folded, key), ?) > 0
ORDER BY instr(char(10) || coalesce(folded, key) || char(10), char(10) || ? || char(10)) = 0, key LIMIT ?"""
_ISOLATED = f"""SELECT {NODE_FIELDS} FROM node WHERE label IN ({{}}) AND NOT EXISTS
(SELECT 1 FROM edge WHERE source = node.id AND relation IN ({{}})) ORDER BY label, key"""


def make_node(row: DatabaseRow) -> GraphNode:
    label, key, name, data = row
    return GraphNode(
        label=LABEL_OF[label], key=decode_text(key), name=decode_text(name), properties=decode_properties(data)
    )


def split_node_id(id: str) -> tuple[NodeLabel | None, str]:
    """The label and the key of an id; None for a label that there is not."""
    label, _, key = id.partition(":")
    return (NodeLabel(label) if label in NodeLabel.__members__.values() else None), key


def read_node(database: Database, label: NodeLabel, key: str) -> GraphNode | None:
    if label is NodeLabel.CHUNK:
        piece = read_piece_node(database, key)
        return piece and piece.node
    found = database.read_one(make_node, _NODE, LABEL_NUMBERS[label], encode_text(key))
    if found is None and label is NodeLabel.SUBSYSTEM:
        wanted, keys = fold_name(key), database.read(lambda row: decode_text(*row), _SUBSYSTEMS, LABEL_NUMBERS[label])
        spelt = next((one for one in keys if fold_name(one) == wanted), None)
        return None if spelt is None else database.read_one(make_node, _NODE, LABEL_NUMBERS[label], encode_text(spelt))
    return found


def read_nodes(database: Database, label: NodeLabel) -> Iterator[GraphNode]:
    if label is NodeLabel.CHUNK:
        return (piece.node for piece in read_piece_nodes(database))
    return database.read_each(make_node, _NODES, LABEL_NUMBERS[label])


def read_edges(database: Database, id: str, *, out: bool, limit: int, relations: Sequence[Relation] = ()) -> EdgeEnds:
    label, key = split_node_id(id)
    found = read_stored_edges(database, id, out=out, limit=limit, relations=relations)
    left = 0 if relations and Relation.HAS_CHUNK not in relations else limit - len(found)
    if left > 0 and label is NodeLabel.CHUNK and not out:
        piece = read_piece_node(database, key)
        if piece and (holder := read_node(database, piece.label, piece.path)):
            found.append((GraphEdge(source=holder.id, relation=Relation.HAS_CHUNK, target=id), holder))
    elif left > 0 and label is not None and out:
        for one in read_file_piece_nodes(database, label, key, left):
            found.append((GraphEdge(source=id, relation=Relation.HAS_CHUNK, target=one.node.id), one.node))
    return found


def read_stored_edges(
    database: Database, id: str, *, out: bool, limit: int = -1, relations: Sequence[Relation] = ()
) -> list[tuple[GraphEdge, GraphNode]]:
    """Without those to pieces."""
    label, key = split_node_id(id)
    if label is None or label is NodeLabel.CHUNK:
        return []
    ways = [RELATION_NUMBERS[one] for one in relations if one is not Relation.HAS_CHUNK]
    only = f" AND edge.relation IN ({make_placeholders(ways)})" if relations else ""
    question = _EDGES.format(*(("source", "target") if out else ("target", "source")), only)

    def end_of(row: DatabaseRow) -> tuple[GraphEdge, GraphNode]:
        relation, data, *other = row
        end, way = make_node(tuple(other)), RELATION_OF[relation]
        source, target = (id, end.id) if out else (end.id, id)
        return GraphEdge(source=source, relation=way, target=target, properties=decode_properties(data)), end

    return database.read(end_of, question, LABEL_NUMBERS[label], encode_text(key), *ways, limit)


def read_neighbours(database: Database, ids: Sequence[str]) -> Mapping[str, EdgeEnds]:
    return {
        id: [*read_stored_edges(database, id, out=True), *read_stored_edges(database, id, out=False)]
        for id in dict.fromkeys(ids)
    }


def find_nodes(database: Database, term: str, labels: Sequence[NodeLabel], limit: int) -> Sequence[GraphNode]:
    wanted = encode_text(fold_name(term))
    return [
        found
        for label in dict.fromkeys(labels)
        if label is not NodeLabel.CHUNK
        for found in database.read(make_node, _FOUND, LABEL_NUMBERS[label], wanted, wanted, limit)
    ]


def find_isolated_nodes(
    database: Database, labels: Sequence[NodeLabel], relations: Sequence[Relation]
) -> Iterator[GraphNode]:
    kinds = [LABEL_NUMBERS[label] for label in labels if label is not NodeLabel.CHUNK]
    ways = [RELATION_NUMBERS[one] for one in relations if one is not Relation.HAS_CHUNK]
    return database.read_each(
        make_node, _ISOLATED.format(make_placeholders(kinds), make_placeholders(ways)), *kinds, *ways
    )


def make_search_text(key: str, name: str) -> str | None:
    """What a term is looked for in; None where that is the key itself."""
    text = fold_name(key) if not name else f"{fold_name(key)}\n{fold_name(name)}"
    return None if text == key else text


_START = f"SELECT id, {NODE_FIELDS} FROM node WHERE label = ? AND key = ?"
_AROUND_NODES = f"SELECT id, {NODE_FIELDS} FROM node WHERE id IN ({{}})"
_OUT = "SELECT source, relation, target, properties FROM edge WHERE source IN ({})"
_IN = "SELECT target, relation, source, properties FROM edge WHERE target IN ({})"


class ReachedNode(Struct, frozen=True):
    """A node, and how it was reached."""

    node: GraphNode
    before: ReachedNode | None
    """None for the one where everything begins."""
    relation: int = 0
    is_out: bool = True
    """Whether the last edge points at it."""
    told: Mapping[str, Any] = {}
    """The properties of that edge."""

    @property
    def path(self) -> Sequence[GraphEdge]:
        """A shortest way there."""
        steps: list[GraphEdge] = []
        here = self
        while here.before is not None:
            source, target = (here.before.node, here.node) if here.is_out else (here.node, here.before.node)
            steps.append(
                GraphEdge(
                    source=source.id,
                    relation=RELATION_OF[here.relation],
                    target=target.id,
                    properties=dict(here.told),
                )
            )
            here = here.before
        return steps[::-1]


def walk_graph(database: Database, id: str, depth: int) -> Sequence[ReachedNode]:
    label, key = split_node_id(id)
    if label is None or label is NodeLabel.CHUNK:
        return []
    start = database.read_one(_node, _START, LABEL_NUMBERS[label], encode_text(key))
    if start is None:
        return []
    level = {start[0]: ReachedNode(start[1], None)}
    seen = set(level)
    found: list[ReachedNode] = []
    for _ in range(depth):
        level = dict(
            sorted(_next(database, level, seen), key=lambda item: (LABEL_NUMBERS[item[1].node.label], item[1].node.key))
        )
        if not level:
            break
        seen.update(level)
        found += level.values()
    return found


def _next(database: Database, level: dict[int, ReachedNode], seen: set[int]) -> Iterator[tuple[int, ReachedNode]]:
    """What is one step further, each once: from the first node that leads there, and along its first edge."""
    order = {id: place for place, id in enumerate(level)}
    ways: dict[int, tuple[int, bool, int, int, bytes | None]] = {}
    for question, is_back in ((_OUT, False), (_IN, True)):
        found = [*database.read_many(_way, question, level)]
        with translate_decoding_errors(database.path):
            for here, relation, there, data in found:
                way = (order[here], is_back, relation, here, data)
                if there not in seen and (there not in ways or way[:3] < ways[there][:3]):
                    ways[there] = way
    for id, node in database.read_many(_node, _AROUND_NODES, ways):
        with translate_decoding_errors(database.path):
            _, is_back, relation, here, data = ways[id]
            said = decode_properties(data)
        yield id, ReachedNode(node, level[here], relation, not is_back, said)


def _node(row: DatabaseRow) -> tuple[int, GraphNode]:
    return decode_count(row[0]), make_node(row[1:])


def _way(row: DatabaseRow) -> tuple[int, int, int, bytes | None]:
    here, relation, there, data = row
    if relation not in RELATION_OF:
        raise LookupError("an edge is none")
    return decode_count(here), relation, decode_count(there), data


GraphItem = TypeVar("GraphItem", GraphNode, GraphEdge)
SqlValues = tuple[object, ...]

_TABLES = (
    """CREATE TEMP TABLE new_node(label INTEGER, key TEXT, name TEXT, folded TEXT, properties BLOB,
    PRIMARY KEY(label, key)) WITHOUT ROWID""",
    """CREATE TEMP TABLE new_edge(source INTEGER, relation INTEGER, target INTEGER, properties BLOB,
    PRIMARY KEY(source, relation, target)) WITHOUT ROWID""",
)
_NO_TABLES = ("DROP TABLE IF EXISTS temp.new_node", "DROP TABLE IF EXISTS temp.new_edge")
_REGRAPHING_NODE = "INSERT OR REPLACE INTO temp.new_node VALUES (?, ?, ?, ?, ?)"
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


def write_graph(database: Database, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> bool:
    """Write down what is another; tells whether anything is."""
    for statement in (*_NO_TABLES, *_TABLES):
        database.run(statement)
    _fill(database, _REGRAPHING_NODE, nodes, _regraphing_node)
    changed = sum([database.run(statement) for statement in _CHANGES])
    _fill(database, _EDGE, edges, _edge)
    changed += sum([database.run(statement) for statement in _EDGE_CHANGES])
    for statement in _NO_TABLES:
        database.run(statement)
    return changed > 0


def _fill(
    database: Database, statement: str, ones: Iterable[GraphItem], values: Callable[[GraphItem], SqlValues | None]
) -> None:
    left = iter(ones)
    while some := list(islice(left, _MANY)):
        database.many(statement, [row for one in some if (row := values(one)) is not None])


def _regraphing_node(node: GraphNode) -> SqlValues | None:
    if node.label is NodeLabel.CHUNK:
        return None
    said = pack_record(node.properties) if node.properties else None
    folded = make_search_text(node.key, node.name)
    return (
        LABEL_NUMBERS[node.label],
        encode_text(node.key),
        encode_text(node.name),
        None if folded is None else encode_text(folded),
        said,
    )


def _edge(edge: GraphEdge) -> SqlValues | None:
    (source, from_key), (target, to_key) = split_node_id(edge.source), split_node_id(edge.target)
    if edge.relation is Relation.HAS_CHUNK or source not in LABEL_NUMBERS or target not in LABEL_NUMBERS:
        return None
    said = pack_record(edge.properties) if edge.properties else None
    ends = LABEL_NUMBERS[source], encode_text(from_key), LABEL_NUMBERS[target], encode_text(to_key)
    return RELATION_NUMBERS[edge.relation], said, *ends
