"""Nodes and edges in the tables of the index, and walks along them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from duvet.store.chunks import ChunkTables
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
from duvet.store.protocol import EdgeEnds
from duvet.store.records import GraphEdge, GraphHop, GraphNode, NodeLabel, Relation
from duvet.words import fold_name

GraphItem = TypeVar("GraphItem", GraphNode, GraphEdge)
SqlValues = tuple[object, ...]

_NODE_FIELDS = "node.label, node.key, node.name, node.properties"
_NODE = f"SELECT {_NODE_FIELDS} FROM node WHERE label = ? AND key = ?"
_EDGES = f"""SELECT edge.relation, edge.properties, {_NODE_FIELDS} FROM edge JOIN node ON node.id = edge.{{1}}
WHERE edge.{{0}} = (SELECT id FROM node WHERE label = ? AND key = ?){{2}}
ORDER BY edge.relation, node.label, node.key LIMIT ?"""
_NAMED = f"""SELECT {_NODE_FIELDS} FROM node WHERE label = ? AND instr(coalesce(folded, key), ?) > 0
ORDER BY instr(char(10) || coalesce(folded, key) || char(10), char(10) || ? || char(10)) = 0, key LIMIT ?"""
_ISOLATED = f"""SELECT {_NODE_FIELDS} FROM node WHERE label IN ({{}}) AND NOT EXISTS
(SELECT 1 FROM edge WHERE source = node.id AND relation IN ({{}})) ORDER BY label, key"""
_EDGES_FROM = "SELECT source, relation, target, properties FROM edge WHERE source IN ({})"
_EDGES_TO = "SELECT target, relation, source, properties FROM edge WHERE target IN ({})"

_DROP_TABLES = ("DROP TABLE IF EXISTS temp.new_node", "DROP TABLE IF EXISTS temp.new_edge")
_NEW_TABLES = (
    """CREATE TEMP TABLE new_node(label INTEGER, key TEXT, name TEXT, folded TEXT, properties BLOB,
    PRIMARY KEY(label, key)) WITHOUT ROWID""",
    """CREATE TEMP TABLE new_edge(source INTEGER, relation INTEGER, target INTEGER, properties BLOB,
    PRIMARY KEY(source, relation, target)) WITHOUT ROWID""",
)
_NEW_NODE = "INSERT OR REPLACE INTO temp.new_node VALUES (?, ?, ?, ?, ?)"
_NEW_EDGE = """INSERT OR REPLACE INTO temp.new_edge SELECT source.id, ?, target.id, ? FROM node source, node target
WHERE source.label = ? AND source.key = ? AND target.label = ? AND target.key = ?"""
_UPDATE_NODES = (
    """DELETE FROM node WHERE NOT EXISTS
    (SELECT 1 FROM temp.new_node new WHERE new.label = node.label AND new.key = node.key)""",
    """INSERT INTO node(label, key, name, folded, properties) SELECT * FROM temp.new_node WHERE true
    ON CONFLICT(label, key) DO UPDATE SET name = excluded.name, folded = excluded.folded, properties = excluded.properties
    WHERE name IS NOT excluded.name OR properties IS NOT excluded.properties""",
)
_UPDATE_EDGES = (
    """DELETE FROM edge WHERE NOT EXISTS (SELECT 1 FROM temp.new_edge new
    WHERE new.source = edge.source AND new.relation = edge.relation AND new.target = edge.target)""",
    """INSERT INTO edge SELECT * FROM temp.new_edge WHERE true
    ON CONFLICT(source, relation, target) DO UPDATE SET properties = excluded.properties
    WHERE properties IS NOT excluded.properties""",
)
_BATCH = 1000


class GraphTables(ChunkTables):
    """The part of a store that answers for the graph; chunks are nodes, but only stored as chunks."""

    def node(self, label: NodeLabel, key: str) -> GraphNode | None:
        if label is NodeLabel.CHUNK:
            chunk = self.chunk_node(key)
            return chunk and chunk.node
        number = LABEL_NUMBERS[label]
        found = self.database.read_one(_decode_node, _NODE, number, encode_text(key))
        if found is not None or label is not NodeLabel.SUBSYSTEM:
            return found
        folded, query = fold_name(key), "SELECT key FROM node WHERE label = ? ORDER BY key"
        keys = self.database.read(lambda row: decode_text(*row), query, number)
        spelling = next((one for one in keys if fold_name(one) == folded), None)
        return (
            spelling if spelling is None else self.database.read_one(_decode_node, _NODE, number, encode_text(spelling))
        )

    def nodes(self, label: NodeLabel) -> Iterator[GraphNode]:
        if label is NodeLabel.CHUNK:
            return (chunk.node for chunk in self.all_chunk_nodes())
        query = f"SELECT {_NODE_FIELDS} FROM node WHERE label = ? ORDER BY key"
        return self.database.read_each(_decode_node, query, LABEL_NUMBERS[label])

    def edges(self, id: str, *, out: bool, limit: int, relations: Sequence[Relation] = ()) -> EdgeEnds:
        label, key = _split_id(id)
        found = self._stored_edges(id, out=out, limit=limit, relations=relations)
        left = 0 if relations and Relation.HAS_CHUNK not in relations else limit - len(found)
        if left > 0 and label is NodeLabel.CHUNK and not out:
            chunk = self.chunk_node(key)
            if chunk and (file := self.node(chunk.label, chunk.path)):
                found.append((GraphEdge(source=file.id, relation=Relation.HAS_CHUNK, target=id), file))
        elif left > 0 and label is not None and out:
            for chunk in self.file_chunk_nodes(label, key, left):
                found.append((GraphEdge(source=id, relation=Relation.HAS_CHUNK, target=chunk.node.id), chunk.node))
        return found

    def _stored_edges(
        self, id: str, *, out: bool, limit: int = -1, relations: Sequence[Relation] = ()
    ) -> list[tuple[GraphEdge, GraphNode]]:
        label, key = _split_id(id)
        if label is None or label is NodeLabel.CHUNK:
            return []
        numbers = _number_relations(relations)
        condition = f" AND edge.relation IN ({make_placeholders(numbers)})" if relations else ""
        query = _EDGES.format(*(("source", "target") if out else ("target", "source")), condition)

        def decode(row: DatabaseRow) -> tuple[GraphEdge, GraphNode]:
            number, properties, *node = row
            end, relation = _decode_node(tuple(node)), RELATION_OF[number]
            source, target = (id, end.id) if out else (end.id, id)
            return GraphEdge(
                source=source, relation=relation, target=target, properties=decode_properties(properties)
            ), end

        return self.database.read(decode, query, LABEL_NUMBERS[label], encode_text(key), *numbers, limit)

    def neighbours(self, ids: Sequence[str]) -> Mapping[str, EdgeEnds]:
        return {
            id: [*self._stored_edges(id, out=True), *self._stored_edges(id, out=False)] for id in dict.fromkeys(ids)
        }

    def around(self, id: str, depth: int) -> Sequence[GraphHop]:
        label, key = _split_id(id)
        if label is None or label is NodeLabel.CHUNK:
            return []
        query = f"SELECT id, {_NODE_FIELDS} FROM node WHERE label = ? AND key = ?"
        start = self.database.read_one(_decode_numbered_node, query, LABEL_NUMBERS[label], encode_text(key))
        if start is None:
            return []
        level = {start[0]: GraphHop(start[1])}
        seen = set(level)
        found: list[GraphHop] = []
        for _ in range(depth):
            hops = self._next_level(level, seen)
            level = dict(sorted(hops, key=lambda item: (LABEL_NUMBERS[item[1].node.label], item[1].node.key)))
            if not level:
                break
            seen.update(level)
            found += level.values()
        return found

    def _next_level(self, level: dict[int, GraphHop], seen: set[int]) -> Iterator[tuple[int, GraphHop]]:
        """Yield each node one step further once: from the first node that leads there, along its first edge."""
        database = self.database
        order = {id: place for place, id in enumerate(level)}
        best: dict[int, tuple[int, bool, int, int, bytes | None]] = {}
        for query, is_back in ((_EDGES_FROM, False), (_EDGES_TO, True)):
            rows = [*database.read_many(_decode_edge, query, level)]
            with translate_decoding_errors(database.path):
                for here, relation, there, data in rows:
                    way = (order[here], is_back, relation, here, data)
                    if there not in seen and (there not in best or way[:3] < best[there][:3]):
                        best[there] = way
        query = f"SELECT id, {_NODE_FIELDS} FROM node WHERE id IN ({{}})"
        for id, node in database.read_many(_decode_numbered_node, query, best):
            with translate_decoding_errors(database.path):
                _, is_back, number, here, data = best[id]
                properties = decode_properties(data)
            before = level[here]
            source, target = (node, before.node) if is_back else (before.node, node)
            edge = GraphEdge(source=source.id, relation=RELATION_OF[number], target=target.id, properties=properties)
            yield id, GraphHop(node, edge, before)

    def found_nodes(self, term: str, labels: Sequence[NodeLabel], limit: int) -> Sequence[GraphNode]:
        folded = encode_text(fold_name(term))
        return [
            node
            for label in dict.fromkeys(labels)
            if label is not NodeLabel.CHUNK
            for node in self.database.read(_decode_node, _NAMED, LABEL_NUMBERS[label], folded, folded, limit)
        ]

    def isolated(self, labels: Sequence[NodeLabel], relations: Sequence[Relation]) -> Iterator[GraphNode]:
        kinds = [LABEL_NUMBERS[label] for label in labels if label is not NodeLabel.CHUNK]
        numbers = _number_relations(relations)
        query = _ISOLATED.format(make_placeholders(kinds), make_placeholders(numbers))
        return self.database.read_each(_decode_node, query, *kinds, *numbers)


def write_graph(database: Database, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> bool:
    """Replace the graph, and return whether anything has changed."""
    for statement in (*_DROP_TABLES, *_NEW_TABLES):
        database.run(statement)
    _insert(database, _NEW_NODE, nodes, _encode_node)
    changed = sum([database.run(statement) for statement in _UPDATE_NODES])
    _insert(database, _NEW_EDGE, edges, _encode_edge)
    changed += sum([database.run(statement) for statement in _UPDATE_EDGES])
    for statement in _DROP_TABLES:
        database.run(statement)
    return changed > 0


def _insert(
    database: Database, statement: str, items: Iterable[GraphItem], encode: Callable[[GraphItem], SqlValues | None]
) -> None:
    left = iter(items)
    while batch := list(islice(left, _BATCH)):
        database.many(statement, [row for item in batch if (row := encode(item)) is not None])


def _encode_node(node: GraphNode) -> SqlValues | None:
    if node.label is NodeLabel.CHUNK:
        return None
    folded = fold_name(node.key) if not node.name else f"{fold_name(node.key)}\n{fold_name(node.name)}"
    return (
        LABEL_NUMBERS[node.label],
        encode_text(node.key),
        encode_text(node.name),
        None if folded == node.key else encode_text(folded),
        pack_record(node.properties) if node.properties else None,
    )


def _encode_edge(edge: GraphEdge) -> SqlValues | None:
    (source, source_key), (target, target_key) = _split_id(edge.source), _split_id(edge.target)
    if edge.relation is Relation.HAS_CHUNK or source not in LABEL_NUMBERS or target not in LABEL_NUMBERS:
        return None
    return (
        RELATION_NUMBERS[edge.relation],
        pack_record(edge.properties) if edge.properties else None,
        LABEL_NUMBERS[source],
        encode_text(source_key),
        LABEL_NUMBERS[target],
        encode_text(target_key),
    )


def _split_id(id: str) -> tuple[NodeLabel | None, str]:
    label, _, key = id.partition(":")
    return (NodeLabel(label) if label in NodeLabel.__members__.values() else None), key


def _number_relations(relations: Sequence[Relation]) -> list[int]:
    return [RELATION_NUMBERS[one] for one in relations if one is not Relation.HAS_CHUNK]


def _decode_node(row: DatabaseRow) -> GraphNode:
    label, key, name, properties = row
    return GraphNode(
        label=LABEL_OF[label], key=decode_text(key), name=decode_text(name), properties=decode_properties(properties)
    )


def _decode_numbered_node(row: DatabaseRow) -> tuple[int, GraphNode]:
    return decode_count(row[0]), _decode_node(row[1:])


def _decode_edge(row: DatabaseRow) -> tuple[int, int, int, bytes | None]:
    here, relation, there, properties = row
    if relation not in RELATION_OF:
        raise LookupError("an edge is none")
    return decode_count(here), relation, decode_count(there), properties
