"""Files, chunks, symbols, vectors, nodes and edges in the tables of the index."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from duvet.store import database as db, records
from duvet.store.records import GraphEdge, GraphNode, NodeLabel, Relation, encode_text
from duvet.words import fold_name

SqlValues = tuple[object, ...]
ChunkOfFile = tuple[NodeLabel, str, GraphNode]  # The label and path of the file, and its chunk.

ARTIFACT_FIELDS = "path, kind, subsystem, criticality, namespace, tags, digest, git_commit, git_timestamp, skipped"
_PIECES = """SELECT number, artifact, number - (SELECT first FROM artifact WHERE id = piece.artifact),
start, end, line_start, line_end FROM piece WHERE number IN ({})"""
_CHUNK_NODES = """SELECT artifact.id, kind, path, number - first, start, end, line_start, line_end
FROM artifact JOIN piece ON number >= first AND number < first + count"""

_NODE_FIELDS = "node.label, node.key, node.name, node.properties"
# Sqlite keeps the order of cross joins, and uses its indexes in this order.
_WANTED = "(SELECT column1 AS label, column2 AS key FROM (VALUES {pairs})) AS wanted CROSS JOIN node"
_EDGES = f"""SELECT * FROM (SELECT here.label, here.key, edge.relation, edge.properties, {_NODE_FIELDS},
row_number() OVER (PARTITION BY here.id ORDER BY edge.relation, node.label, node.key) AS place
FROM {_WANTED} AS here ON here.label = wanted.label AND here.key = wanted.key
CROSS JOIN edge ON edge.{{near}} = here.id CROSS JOIN node ON node.id = edge.{{far}} WHERE true{{condition}})
WHERE place <= ? OR ? < 0 ORDER BY place"""
_NAMED = f"""SELECT {_NODE_FIELDS} FROM node WHERE label = ? AND instr(coalesce(folded, key), ?) > 0
ORDER BY instr(char(10) || coalesce(folded, key) || char(10), char(10) || ? || char(10)) = 0, key LIMIT ?"""

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
_MAX_NODES = 400  # Nodes whose edges are read together.


class StoreTables:
    """Chunks are nodes of the graph, but are not stored as nodes."""

    def __init__(self, database: db.Database) -> None:
        self.database = database

    def artifacts(self) -> Mapping[str, records.Artifact]:
        query = f"SELECT {ARTIFACT_FIELDS}, count FROM artifact ORDER BY path"
        found = self.database.read_each(_decode_artifact, query)
        # Sort again, because sqlite puts paths that are not UTF-8 (which are blobs) last.
        return {artifact.path: artifact for artifact in sorted(found, key=lambda artifact: artifact.path)}

    def artifacts_by_id(self, ids: Iterable[int]) -> Mapping[int, records.Artifact]:
        def decode(row: db.DatabaseRow) -> tuple[int, records.Artifact]:
            return records.decode_count(row[0]), _decode_artifact(row[1:])

        query = f"SELECT id, {ARTIFACT_FIELDS}, count FROM artifact WHERE id IN ({{}})"
        return dict(self.database.read_many(decode, query, ids))

    def ingested_file(self, id: int, numbers: range) -> records.IngestedFile:
        """The vectors are left out."""
        text = db.read_file_texts(self.database, [id]).get(id, db.TitledText())
        files = self.artifacts_by_id([id])
        with db.translate_decoding_errors(self.database.path):
            artifact = files[id]
        query = "SELECT start, end, line_start, line_end FROM piece WHERE number >= ? AND number < ? ORDER BY number"
        rows = self.database.read(records.decode_numbers, query, numbers.start, numbers.stop)
        pieces = tuple(_make_piece(row, text, ordinal) for ordinal, row in enumerate(rows))
        symbols = tuple(map(_decode_symbol, self._read_symbols([id]).get(id, ())))
        return records.IngestedFile(artifact=artifact, text=text.whole, pieces=pieces, symbols=symbols)

    def chunk_numbers(self, path: str) -> Sequence[int]:
        query, key = "SELECT first, count FROM artifact WHERE path = ?", encode_text(path)
        return self.database.read_one(lambda row: records.decode_piece_range(*row), query, key) or range(0)

    def chunks(self, numbers: Sequence[int]) -> Sequence[records.Chunk]:
        database = self.database
        places = {row[0]: row for row in database.read_many(records.decode_numbers, _PIECES, dict.fromkeys(numbers))}
        ids = dict.fromkeys(id for _, id, *_ in places.values())
        artifacts, texts = self.artifacts_by_id(ids), db.read_file_texts(database, ids)
        symbols = self._read_symbols(ids)

        def make_chunk(number: int, id: int, ordinal: int, *fields: int) -> records.Chunk:
            text = texts.get(id, db.TitledText())
            piece = _make_piece(fields, text, ordinal)
            return records.Chunk(
                number=number,
                ordinal=ordinal,
                piece=piece,
                artifact=artifacts[id],
                text=text.whole[piece.start : piece.end],
                symbols=tuple(
                    _decode_symbol(row)
                    for row in symbols.get(id, ())
                    if row[-2] <= piece.line_end and row[-1] >= piece.line_start
                ),
            )

        with db.translate_decoding_errors(database.path):
            return [make_chunk(*places[number]) for number in numbers if number in places]

    def _read_symbols(self, ids: Iterable[int]) -> Mapping[int, Sequence[db.DatabaseRow]]:
        # The rows are not decoded yet, because a file may have many.
        query = """SELECT artifact, name, qualified_name, kind, language, line_start, line_end FROM symbol
        WHERE artifact IN ({}) ORDER BY artifact, ordinal"""
        found: dict[int, list[db.DatabaseRow]] = {}
        for id, *symbol in self.database.read_many(tuple, query, ids):
            found.setdefault(id, []).append(tuple(symbol))
        return found

    def has_symbols(self) -> bool:
        return self.database.row("SELECT 1 FROM symbol LIMIT 1") is not None

    def lacks_times(self) -> bool:
        query = "SELECT 1 FROM artifact WHERE count > 0 AND git_timestamp IS NULL LIMIT 1"
        return self.database.row(query) is not None

    def segments(self) -> Iterator[records.VectorSegment]:
        query = """SELECT first, count, rows FROM vectors JOIN artifact ON artifact.id = vectors.artifact
        WHERE count > 0 ORDER BY first"""

        def decode(row: db.DatabaseRow) -> records.VectorSegment:
            first, count, sealed = row
            rows = records.unseal_bytes(sealed)
            return records.VectorSegment(tuple(records.decode_piece_range(first, min(count, len(rows)))), rows)

        return self.database.read_each(decode, query)

    def _chunk_node(self, key: str) -> ChunkOfFile | None:
        path, _, ordinal = key.rpartition("::")
        if not (ordinal.isascii() and ordinal.isdigit() and len(ordinal) < 10 and ordinal == str(int(ordinal))):
            return None
        query = f"{_CHUNK_NODES} WHERE path = ? AND number = first + ?"
        return next(self._chunk_nodes(self.database.rows(query, encode_text(path), int(ordinal))), None)

    def _chunk_nodes(self, rows: Iterable[db.DatabaseRow]) -> Iterator[ChunkOfFile]:
        current, text = 0, db.TitledText()
        for row in rows:
            with db.translate_decoding_errors(self.database.path):
                id, ordinal, *fields = records.decode_numbers((row[0], *row[3:]))
                label, path = records.KIND_LABELS[records.FileKind(row[1])], records.decode_text(row[2])
            if id != current:
                current, text = id, db.read_file_texts(self.database, [id]).get(id, db.TitledText())
            piece, key = _make_piece(fields, text, ordinal), f"{path}::{ordinal}"
            properties = {"path": path, "ordinal": ordinal, "line_start": piece.line_start, "line_end": piece.line_end}
            node = GraphNode(label=NodeLabel.CHUNK, key=key, name=piece.title, properties=properties)
            yield label, path, node

    def node(self, label: NodeLabel, key: str) -> GraphNode | None:
        if label is NodeLabel.CHUNK:
            chunk = self._chunk_node(key)
            return chunk and chunk[2]
        query = f"SELECT {_NODE_FIELDS} FROM node WHERE label = ? AND key = ?"
        found = self.database.read_one(_decode_node, query, db.LABEL_NUMBERS[label], encode_text(key))
        if found is not None or label is not NodeLabel.SUBSYSTEM:
            return found
        return next((node for node in self.nodes(label) if fold_name(node.key) == fold_name(key)), None)

    def nodes(self, label: NodeLabel) -> Iterator[GraphNode]:
        if label is NodeLabel.CHUNK:
            rows = self.database.read_each(tuple, f"{_CHUNK_NODES} ORDER BY path, number")
            return (node for _, _, node in self._chunk_nodes(rows))
        query = f"SELECT {_NODE_FIELDS} FROM node WHERE label = ? ORDER BY key"
        return self.database.read_each(_decode_node, query, db.LABEL_NUMBERS[label])

    def edges(self, id: str, *, out: bool, limit: int, relations: Sequence[Relation] = ()) -> records.EdgeEnds:
        label, key = _split_id(id)
        relation = Relation.HAS_CHUNK
        found = self.first_edges([id], out=out, limit=limit, relations=relations)[id]
        left = limit - len(found)
        if left <= 0 or (relations and relation not in relations):
            return found
        if label is NodeLabel.CHUNK and not out:
            chunk = self._chunk_node(key)
            if chunk and (file := self.node(*chunk[:2])):
                found.append((GraphEdge(source=file.id, relation=relation, target=id), file))
        elif out and (kinds := [kind for kind, of_kind in records.KIND_LABELS.items() if of_kind is label]):
            query = f"{_CHUNK_NODES} WHERE path = ? AND kind IN ({db.make_placeholders(kinds)}) ORDER BY number LIMIT ?"
            for _, _, node in self._chunk_nodes(self.database.rows(query, encode_text(key), *kinds, left)):
                found.append((GraphEdge(source=id, relation=relation, target=node.id), node))
        return found

    def first_edges(
        self, ids: Iterable[str], *, out: bool, limit: int = -1, relations: Sequence[Relation] = ()
    ) -> Mapping[str, list[tuple[GraphEdge, GraphNode]]]:
        """Edges to chunks are left out."""
        found: dict[str, list[tuple[GraphEdge, GraphNode]]] = {id: [] for id in ids}
        numbers = _number_relations(relations)
        condition = f" AND edge.relation IN ({db.make_placeholders(numbers)})" if relations else ""
        near, far = ("source", "target") if out else ("target", "source")
        query = _EDGES.format(near=near, far=far, condition=condition, pairs="{pairs}")

        def decode(row: db.DatabaseRow) -> None:
            label, key, number, properties, *node, _ = row
            id, end = f"{db.LABEL_OF[label]}:{records.decode_text(key)}", _decode_node(tuple(node))
            source, target = (id, end.id) if out else (end.id, id)
            relation, facts = db.RELATION_OF[number], records.decode_properties(properties)
            edge = GraphEdge(source=source, relation=relation, target=target, properties=facts)
            found[id].append((edge, end))

        deque(self._read_of_nodes(decode, query, found, *numbers, limit, limit), maxlen=0)
        return found

    def find_stored(self, ids: Iterable[str]) -> Mapping[str, GraphNode]:
        query = f"SELECT {_NODE_FIELDS} FROM {_WANTED} ON node.label = wanted.label AND node.key = wanted.key"
        return {node.id: node for node in self._read_of_nodes(_decode_node, query, ids)}

    def _read_of_nodes(
        self, decode: Callable[[db.DatabaseRow], db.Value], query: str, ids: Iterable[str], *values: object
    ) -> Iterator[db.Value]:
        keys = ((db.LABEL_NUMBERS[label], key) for label, key in map(_split_id, ids) if label in db.LABEL_NUMBERS)
        while some := list(islice(keys, _MAX_NODES)):
            texts = [encode_text(key) for _, key in some]
            pairs = ",".join(f"({label},?)" for label, _ in some)
            yield from self.database.read(decode, query.format(pairs=pairs), *texts, *values)

    def neighbours(self, ids: Sequence[str]) -> Mapping[str, records.EdgeEnds]:
        outgoing, incoming = (self.first_edges(ids, out=out) for out in (True, False))
        return {id: [*outgoing[id], *incoming[id]] for id in outgoing}

    def walk_from(self, id: str, depth: int) -> Sequence[records.GraphHop]:
        """Return the other nodes, except chunks, within `depth` steps in either direction."""
        label, key = _split_id(id)
        if label is None or label is NodeLabel.CHUNK:
            return []
        query = f"SELECT id, {_NODE_FIELDS} FROM node WHERE label = ? AND key = ?"
        start = self.database.read(_decode_numbered_node, query, db.LABEL_NUMBERS[label], encode_text(key))
        level = {id: records.GraphHop(node) for id, node in start}
        seen = set(level)
        found: list[records.GraphHop] = []
        for _ in range(depth):
            hops = self._find_next_level(level, seen)
            level = dict(sorted(hops, key=lambda item: (db.LABEL_NUMBERS[item[1].node.label], item[1].node.key)))
            if not level:
                break
            seen.update(level)
            found += level.values()
        return found

    def _find_next_level(
        self, level: dict[int, records.GraphHop], seen: set[int]
    ) -> Iterator[tuple[int, records.GraphHop]]:
        database = self.database
        order = {id: place for place, id in enumerate(level)}
        best: dict[int, tuple[int, bool, int, int, bytes | None]] = {}
        for near, far, is_back in (("source", "target", False), ("target", "source", True)):
            query = f"SELECT {near}, relation, {far}, properties FROM edge WHERE {near} IN ({{}})"
            rows = [*database.read_many(_decode_edge, query, level)]
            with db.translate_decoding_errors(database.path):
                for here, relation, there, data in rows:
                    way = (order[here], is_back, relation, here, data)
                    if there not in seen and (there not in best or way[:3] < best[there][:3]):
                        best[there] = way
        query = f"SELECT id, {_NODE_FIELDS} FROM node WHERE id IN ({{}})"
        for id, node in database.read_many(_decode_numbered_node, query, best):
            with db.translate_decoding_errors(database.path):
                _, is_back, number, here, data = best[id]
                properties = records.decode_properties(data)
            before, kind = level[here], db.RELATION_OF[number]
            source, target = (node.id, before.node.id) if is_back else (before.node.id, node.id)
            edge = GraphEdge(source=source, relation=kind, target=target, properties=properties)
            yield id, records.GraphHop(node, edge, before)

    def find_nodes(self, term: str, labels: Sequence[NodeLabel], limit: int) -> Sequence[GraphNode]:
        """Return up to `limit` nodes for each label except chunks, exact matches first."""
        folded = encode_text(fold_name(term))
        return [
            node
            for label in dict.fromkeys(labels)
            if label is not NodeLabel.CHUNK
            for node in self.database.read(_decode_node, _NAMED, db.LABEL_NUMBERS[label], folded, folded, limit)
        ]

    def find_isolated(self, labels: Sequence[NodeLabel], relations: Sequence[Relation]) -> Iterator[GraphNode]:
        kinds = [db.LABEL_NUMBERS[label] for label in labels if label is not NodeLabel.CHUNK]
        numbers = _number_relations(relations)
        query = f"""SELECT {_NODE_FIELDS} FROM node WHERE label IN ({db.make_placeholders(kinds)}) AND NOT EXISTS
        (SELECT 1 FROM edge WHERE source = node.id AND relation IN ({db.make_placeholders(numbers)}))
        ORDER BY label, key"""
        return self.database.read_each(_decode_node, query, *kinds, *numbers)


def write_graph(database: db.Database, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> bool:
    for statement in (*_DROP_TABLES, *_NEW_TABLES):
        database.run(statement)
    database.run_many(_NEW_NODE, (row for node in nodes if (row := _encode_node(node))))
    changed = sum([database.run(statement) for statement in _UPDATE_NODES])
    database.run_many(_NEW_EDGE, (row for edge in edges if (row := _encode_edge(edge))))
    changed += sum([database.run(statement) for statement in _UPDATE_EDGES])
    for statement in _DROP_TABLES:
        database.run(statement)
    return changed > 0


def _encode_node(node: GraphNode) -> SqlValues | None:
    if node.label is NodeLabel.CHUNK:
        return None
    folded = fold_name(node.key) if not node.name else f"{fold_name(node.key)}\n{fold_name(node.name)}"
    return (
        db.LABEL_NUMBERS[node.label],
        encode_text(node.key),
        encode_text(node.name),
        None if folded == node.key else encode_text(folded),
        records.pack_record(node.properties) if node.properties else None,
    )


def _encode_edge(edge: GraphEdge) -> SqlValues | None:
    (source, source_key), (target, target_key) = _split_id(edge.source), _split_id(edge.target)
    if edge.relation is Relation.HAS_CHUNK or source not in db.LABEL_NUMBERS or target not in db.LABEL_NUMBERS:
        return None
    return (
        db.RELATION_NUMBERS[edge.relation],
        records.pack_record(edge.properties) if edge.properties else None,
        db.LABEL_NUMBERS[source],
        encode_text(source_key),
        db.LABEL_NUMBERS[target],
        encode_text(target_key),
    )


def _split_id(id: str) -> tuple[NodeLabel | None, str]:
    label, _, key = id.partition(":")
    return (NodeLabel(label) if label in NodeLabel.__members__.values() else None), key


def _number_relations(relations: Sequence[Relation]) -> list[int]:
    return [db.RELATION_NUMBERS[one] for one in relations if one is not Relation.HAS_CHUNK]


def _decode_node(row: db.DatabaseRow) -> GraphNode:
    label, key, name, properties = row
    return GraphNode(
        label=db.LABEL_OF[label],
        key=records.decode_text(key),
        name=records.decode_text(name),
        properties=records.decode_properties(properties),
    )


def _decode_numbered_node(row: db.DatabaseRow) -> tuple[int, GraphNode]:
    return records.decode_count(row[0]), _decode_node(row[1:])


def _decode_edge(row: db.DatabaseRow) -> tuple[int, int, int, bytes | None]:
    here, relation, there, properties = row
    if relation not in db.RELATION_OF:
        raise LookupError("an edge is invalid")
    return records.decode_count(here), relation, records.decode_count(there), properties


def decode_symbol_name(name: object, qualified: object) -> str:
    return records.decode_text(qualified).rpartition(".")[2] if name is None else records.decode_text(name)


def _decode_artifact(row: db.DatabaseRow) -> records.Artifact:
    path, kind, subsystem, criticality, namespace, tags, digest, commit, timestamp, skipped, count = row
    return records.Artifact(
        path=records.decode_text(path),
        kind=records.FileKind(kind),
        subsystem=records.decode_text(subsystem),
        criticality=records.decode_text(criticality),
        namespace=records.decode_text(namespace),
        tags=records.unpack_record(tags, tuple[str, ...]) if tags else (),
        digest=records.decode_hex(digest),
        git_commit=records.decode_hex(commit),
        git_timestamp=records.decode_time(timestamp),
        chunk_count=records.decode_count(count, records.MAX_PIECES),
        skipped=records.decode_text(skipped),
    )


def _decode_symbol(row: db.DatabaseRow) -> records.Symbol:
    name, qualified, kind, language, start, end = row
    return records.Symbol(
        name=decode_symbol_name(name, qualified),
        qualified_name=records.decode_text(qualified),
        kind=records.decode_word(kind),
        language=records.decode_word(language),
        line_start=records.decode_count(start),
        line_end=records.decode_count(end),
    )


def _make_piece(fields: Sequence[int], text: db.TitledText, ordinal: int) -> records.TextPiece:
    start, end, line_start, line_end = fields
    title = text.titles[ordinal] if ordinal < len(text.titles) else ""
    return records.TextPiece(start=start, end=end, line_start=line_start, line_end=line_end, title=title)
