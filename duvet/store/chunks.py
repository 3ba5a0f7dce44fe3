"""Files and chunks in the tables of the index."""

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
    NodeLabel,
    Symbol,
    TextPiece,
    VectorSegment,
)

_FIELDS = """path, kind, subsystem, criticality, namespace, tags, digest, git_commit, git_timestamp, count, skipped"""
_ALL = f"SELECT {_FIELDS} FROM artifact ORDER BY path"
_OF_IDS = f"SELECT id, {_FIELDS} FROM artifact WHERE id IN ({{}})"
_OF_PATH = "SELECT first, count FROM artifact WHERE path = ?"
_PIECES = """SELECT number, artifact, number - (SELECT first FROM artifact WHERE id = piece.artifact),
start, end, line_start, line_end FROM piece WHERE number IN ({})"""
_PIECES_OF = "SELECT start, end, line_start, line_end FROM piece WHERE number >= ? AND number < ? ORDER BY number"
_SYMBOLS = """SELECT name, qualified_name, kind, language, line_start, line_end FROM symbol
WHERE artifact = ? ORDER BY ordinal"""
_SEGMENTS = """SELECT first, count, rows FROM vectors JOIN artifact ON artifact.id = vectors.artifact
WHERE count > 0 ORDER BY first"""


class _Place(NamedTuple):
    """Where a piece stands."""

    number: int
    artifact: int
    ordinal: int
    start: int
    end: int
    line_start: int
    line_end: int


def read_artifacts(database: Database) -> Mapping[str, Artifact]:
    found = [*database.read_each(_artifact, _ALL)]
    # A name that is no text stands behind all others.
    return {one.path: one for one in sorted(found, key=lambda one: one.path)}


def _artifact(row: DatabaseRow) -> Artifact:
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


def read_artifacts_by_id(database: Database, ids: Iterable[int]) -> Mapping[int, Artifact]:
    return dict(database.read_many(lambda row: (decode_count(row[0]), _artifact(row[1:])), _OF_IDS, ids))


def read_chunk_numbers(database: Database, path: str) -> Sequence[int]:
    return database.read_one(lambda row: decode_piece_range(*row), _OF_PATH, encode_text(path)) or range(0)


def read_chunks(database: Database, wanted: Sequence[int]) -> Sequence[Chunk]:
    found = database.read_many(lambda row: _Place(*decode_numbers(row)), _PIECES, dict.fromkeys(wanted))
    places = {place.number: place for place in found}
    ids = dict.fromkeys(place.artifact for place in places.values())
    files = read_artifacts_by_id(database, ids)
    with translate_decoding_errors(database.path):
        of_ids = {id: files[id] for id in ids}
    texts = {id: read_file_text(database, id) for id in ids}
    symbols = {id: read_symbols(database, id) for id in ids}
    there = (places[one] for one in wanted if one in places)
    return [_chunk(at, of_ids[at.artifact], texts[at.artifact], symbols[at.artifact]) for at in there]


def _chunk(place: _Place, artifact: Artifact, text: TitledText, symbols: Iterable[Symbol]) -> Chunk:
    piece = make_piece(place[3:], text, place.ordinal)
    return Chunk(
        number=place.number,
        ordinal=place.ordinal,
        piece=piece,
        artifact=artifact,
        text=text.whole[piece.start : piece.end],
        symbols=tuple(one for one in symbols if is_symbol_in_piece(one, piece)),
    )


def make_piece(fields: Sequence[int], text: TitledText, ordinal: int) -> TextPiece:
    start, end, line_start, line_end = fields
    title = text.titles[ordinal] if ordinal < len(text.titles) else ""
    return TextPiece(start=start, end=end, line_start=line_start, line_end=line_end, title=title)


def is_symbol_in_piece(symbol: Symbol, piece: TextPiece) -> bool:
    """Whether some of its lines are lines of the piece."""
    return symbol.line_start <= piece.line_end and symbol.line_end >= piece.line_start


def read_pieces(database: Database, text: TitledText, among: range) -> Iterable[TextPiece]:
    rows = database.read(decode_numbers, _PIECES_OF, among.start, among.stop)
    return [make_piece(row, text, ordinal) for ordinal, row in enumerate(rows)]


def read_symbols(database: Database, id: int) -> Sequence[Symbol]:
    return database.read(_symbol, _SYMBOLS, id)


def _symbol(row: DatabaseRow) -> Symbol:
    name, qualified, kind, language, start, end = row
    return Symbol(
        name=find_symbol_name(name, qualified),
        qualified_name=decode_text(qualified),
        kind=decode_word(kind),
        language=decode_word(language),
        line_start=decode_count(start),
        line_end=decode_count(end),
    )


def find_symbol_name(name: object, qualified: object) -> str:
    """The name of a symbol, which is the last part of its qualified name unless another one was kept."""
    return decode_text(qualified).rpartition(".")[2] if name is None else decode_text(name)


def read_segments(database: Database) -> Iterator[VectorSegment]:
    return database.read_each(_segment, _SEGMENTS)


def _segment(row: DatabaseRow) -> VectorSegment:
    first, count, rows = row
    return VectorSegment(tuple(decode_piece_range(first, min(count, len(decode_bytes(rows))))), rows)


_PIECE_NODES_PIECES = """SELECT artifact.id, kind, path, number - first, start, end, line_start, line_end
FROM artifact JOIN piece ON number >= first AND number < first + count"""
_OF_FILE = f"{_PIECE_NODES_PIECES} WHERE path = ? AND kind IN ({{}}) ORDER BY number LIMIT ?"
_OF_ID = f"{_PIECE_NODES_PIECES} WHERE path = ? AND number = first + ?"
_PIECE_NODES_ALL = f"{_PIECE_NODES_PIECES} ORDER BY path, number"


class PieceNode(NamedTuple):
    """A piece, and the file that it is of."""

    label: NodeLabel
    path: str
    node: GraphNode


def read_piece_node(database: Database, key: str) -> PieceNode | None:
    """The piece of an id."""
    path, _, ordinal = key.rpartition("::")
    if not (ordinal.isascii() and ordinal.isdigit() and len(ordinal) < 10 and ordinal == str(int(ordinal))):
        return None
    found = database.read_one(_place, _OF_ID, encode_text(path), int(ordinal))
    return None if found is None else next(_nodes(database, [found]))


def read_file_piece_nodes(database: Database, label: NodeLabel, path: str, limit: int) -> Iterator[PieceNode]:
    """The pieces of a file, so many at most."""
    kinds = [kind for kind, called in KIND_LABELS.items() if called is label]
    places = (
        database.read(_place, _OF_FILE.format(make_placeholders(kinds)), encode_text(path), *kinds, limit)
        if kinds
        else ()
    )
    return _nodes(database, places)


def read_piece_nodes(database: Database) -> Iterator[PieceNode]:
    """All pieces."""
    return _nodes(database, database.read_each(_place, _PIECE_NODES_ALL))


def _place(row: DatabaseRow) -> tuple[NodeLabel, str, int, int, list[int]]:
    id, kind, path, ordinal, *fields = row
    return (
        KIND_LABELS[FileKind(kind)],
        decode_text(path),
        decode_count(id),
        decode_count(ordinal),
        decode_numbers(fields),
    )


def _nodes(database: Database, places: Iterable[tuple[NodeLabel, str, int, int, list[int]]]) -> Iterator[PieceNode]:
    file, text = 0, TitledText()
    for label, path, id, ordinal, fields in places:
        if id != file:
            file, text = id, read_file_text(database, id)
        piece = make_piece(fields, text, ordinal)
        told = {"path": path, "ordinal": ordinal, "line_start": piece.line_start, "line_end": piece.line_end}
        yield PieceNode(
            label, path, GraphNode(label=NodeLabel.CHUNK, key=f"{path}::{ordinal}", name=piece.title, properties=told)
        )
