"""Files, chunks, symbols and vectors in the tables of the index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from duvet.store.database import (
    MAX_PIECES,
    Database,
    DatabaseRow,
    TitledText,
    decode_bytes,
    decode_count,
    decode_hex,
    decode_numbers,
    decode_piece_range,
    decode_text,
    decode_time,
    decode_word,
    encode_text,
    make_placeholders,
    read_file_text,
    unpack_record,
)
from duvet.store.errors import translate_decoding_errors
from duvet.store.records import (
    KIND_LABELS,
    Artifact,
    Chunk,
    FileKind,
    GraphNode,
    IngestedFile,
    NodeLabel,
    Symbol,
    TextPiece,
    VectorSegment,
)

_ARTIFACT = "path, kind, subsystem, criticality, namespace, tags, digest, git_commit, git_timestamp, count, skipped"
_PIECES = """SELECT number, artifact, number - (SELECT first FROM artifact WHERE id = piece.artifact),
start, end, line_start, line_end FROM piece WHERE number IN ({})"""
_CHUNK_NODES = """SELECT artifact.id, kind, path, number - first, start, end, line_start, line_end
FROM artifact JOIN piece ON number >= first AND number < first + count"""


class _ChunkRow(NamedTuple):
    number: int
    artifact: int
    ordinal: int
    start: int
    end: int
    line_start: int
    line_end: int


class ChunkNode(NamedTuple):
    """A chunk as a node of the graph, with its file."""

    label: NodeLabel
    path: str
    node: GraphNode


class ChunkTables:
    """The part of a store that reads files and chunks."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def artifacts(self) -> Mapping[str, Artifact]:
        found = self.database.read_each(_decode_artifact, f"SELECT {_ARTIFACT} FROM artifact ORDER BY path")
        # Sorted again: sqlite puts paths that are not UTF-8, which are blobs, last.
        return {artifact.path: artifact for artifact in sorted(found, key=lambda artifact: artifact.path)}

    def artifacts_by_id(self, ids: Iterable[int]) -> Mapping[int, Artifact]:
        """Return the files with these row ids."""
        query = f"SELECT id, {_ARTIFACT} FROM artifact WHERE id IN ({{}})"
        rows = self.database.read_many(lambda row: (decode_count(row[0]), _decode_artifact(row[1:])), query, ids)
        return dict(rows)

    def ingested_file(self, id: int, numbers: range) -> IngestedFile:
        """Return a file as it was put, without its vectors."""
        text = read_file_text(self.database, id)
        files = self.artifacts_by_id([id])
        with translate_decoding_errors(self.database.path):
            artifact = files[id]
        rows = self.database.read(
            decode_numbers,
            "SELECT start, end, line_start, line_end FROM piece WHERE number >= ? AND number < ? ORDER BY number",
            numbers.start,
            numbers.stop,
        )
        pieces = tuple(_make_piece(row, text, ordinal) for ordinal, row in enumerate(rows))
        return IngestedFile(artifact=artifact, text=text.whole, pieces=pieces, symbols=tuple(self._symbols(id)))

    def chunk_numbers(self, path: str) -> Sequence[int]:
        query = "SELECT first, count FROM artifact WHERE path = ?"
        return self.database.read_one(lambda row: decode_piece_range(*row), query, encode_text(path)) or range(0)

    def chunks(self, numbers: Sequence[int]) -> Sequence[Chunk]:
        database = self.database
        rows = database.read_many(lambda row: _ChunkRow(*decode_numbers(row)), _PIECES, dict.fromkeys(numbers))
        places = {place.number: place for place in rows}
        ids = dict.fromkeys(place.artifact for place in places.values())
        files = self.artifacts_by_id(ids)
        with translate_decoding_errors(database.path):
            artifacts = {id: files[id] for id in ids}
        texts = {id: read_file_text(database, id) for id in ids}
        symbols = {id: self._symbols(id) for id in ids}
        chunks: list[Chunk] = []
        for place in (places[number] for number in numbers if number in places):
            text = texts[place.artifact]
            piece = _make_piece(place[3:], text, place.ordinal)
            chunks.append(
                Chunk(
                    number=place.number,
                    ordinal=place.ordinal,
                    piece=piece,
                    artifact=artifacts[place.artifact],
                    text=text.whole[piece.start : piece.end],
                    symbols=tuple(
                        symbol
                        for symbol in symbols[place.artifact]
                        if symbol.line_start <= piece.line_end and symbol.line_end >= piece.line_start
                    ),
                )
            )
        return chunks

    def _symbols(self, id: int) -> Sequence[Symbol]:
        query = """SELECT name, qualified_name, kind, language, line_start, line_end FROM symbol
        WHERE artifact = ? ORDER BY ordinal"""
        return self.database.read(_decode_symbol, query, id)

    def has_symbols(self) -> bool:
        return self.database.row("SELECT 1 FROM symbol LIMIT 1") is not None

    def lacks_times(self) -> bool:
        query = "SELECT 1 FROM artifact WHERE count > 0 AND git_timestamp IS NULL LIMIT 1"
        return self.database.row(query) is not None

    def segments(self) -> Iterator[VectorSegment]:
        query = """SELECT first, count, rows FROM vectors JOIN artifact ON artifact.id = vectors.artifact
        WHERE count > 0 ORDER BY first"""

        def decode(row: DatabaseRow) -> VectorSegment:
            first, count, rows = row
            return VectorSegment(tuple(decode_piece_range(first, min(count, len(decode_bytes(rows))))), rows)

        return self.database.read_each(decode, query)

    def chunk_node(self, key: str) -> ChunkNode | None:
        """Return the chunk with an id, `path::ordinal`."""
        path, _, ordinal = key.rpartition("::")
        if not (ordinal.isascii() and ordinal.isdigit() and len(ordinal) < 10 and ordinal == str(int(ordinal))):
            return None
        query = f"{_CHUNK_NODES} WHERE path = ? AND number = first + ?"
        return next(self._chunk_nodes(self.database.rows(query, encode_text(path), int(ordinal))), None)

    def file_chunk_nodes(self, label: NodeLabel, path: str, limit: int) -> Iterator[ChunkNode]:
        """Return the first chunks of a file with this label."""
        kinds = [kind for kind, kind_label in KIND_LABELS.items() if kind_label is label]
        query = f"{_CHUNK_NODES} WHERE path = ? AND kind IN ({make_placeholders(kinds)}) ORDER BY number LIMIT ?"
        return self._chunk_nodes(self.database.rows(query, encode_text(path), *kinds, limit) if kinds else ())

    def all_chunk_nodes(self) -> Iterator[ChunkNode]:
        return self._chunk_nodes(self.database.read_each(tuple, f"{_CHUNK_NODES} ORDER BY path, number"))

    def _chunk_nodes(self, rows: Iterable[DatabaseRow]) -> Iterator[ChunkNode]:
        current, text = 0, TitledText()
        for row in rows:
            with translate_decoding_errors(self.database.path):
                id, ordinal, *fields = decode_numbers((row[0], *row[3:]))
                label, path = KIND_LABELS[FileKind(row[1])], decode_text(row[2])
            if id != current:
                current, text = id, read_file_text(self.database, id)
            piece = _make_piece(fields, text, ordinal)
            properties = {"path": path, "ordinal": ordinal, "line_start": piece.line_start, "line_end": piece.line_end}
            node = GraphNode(label=NodeLabel.CHUNK, key=f"{path}::{ordinal}", name=piece.title, properties=properties)
            yield ChunkNode(label, path, node)


def decode_symbol_name(name: object, qualified: object) -> str:
    """Return the stored name, or by default the last part of the qualified name."""
    return decode_text(qualified).rpartition(".")[2] if name is None else decode_text(name)


def _decode_artifact(row: DatabaseRow) -> Artifact:
    path, kind, subsystem, criticality, namespace, tags, digest, commit, timestamp, count, skipped = row
    return Artifact(
        path=decode_text(path),
        kind=FileKind(kind),
        subsystem=decode_text(subsystem),
        criticality=decode_text(criticality),
        namespace=decode_text(namespace),
        tags=unpack_record(tags, tuple[str, ...]) if tags else (),
        digest=decode_hex(digest),
        git_commit=decode_hex(commit),
        git_timestamp=decode_time(timestamp),
        chunk_count=decode_count(count, MAX_PIECES),
        skipped=decode_text(skipped),
    )


def _decode_symbol(row: DatabaseRow) -> Symbol:
    name, qualified, kind, language, start, end = row
    return Symbol(
        name=decode_symbol_name(name, qualified),
        qualified_name=decode_text(qualified),
        kind=decode_word(kind),
        language=decode_word(language),
        line_start=decode_count(start),
        line_end=decode_count(end),
    )


def _make_piece(fields: Sequence[int], text: TitledText, ordinal: int) -> TextPiece:
    start, end, line_start, line_end = fields
    title = text.titles[ordinal] if ordinal < len(text.titles) else ""
    return TextPiece(start=start, end=end, line_start=line_start, line_end=line_end, title=title)
