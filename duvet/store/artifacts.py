"""Files and their pieces, as they stand in the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from duvet.store.database import Database, Row
from duvet.store.faults import decoding
from duvet.store.records import Artifact, Chunk, Kind, Piece, Segment, Symbol
from duvet.store.texts import Text, text_of
from duvet.store.values import (
    MOST_PIECES,
    bound,
    counted,
    decoded,
    numbers,
    pieces_from,
    raw,
    timed,
    unbound,
    unbound_hex,
    unpacked,
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


def artifacts(database: Database) -> Mapping[str, Artifact]:
    found = [*database.read_each(_artifact, _ALL)]
    # A name that is no text stands behind all others.
    return {one.path: one for one in sorted(found, key=lambda one: one.path)}


def _artifact(row: Row) -> Artifact:
    path, kind, subsystem, criticality, namespace, tags, digest, commit, timestamp, count, skipped = row
    return Artifact(
        path=unbound(path),
        kind=Kind(kind),
        subsystem=unbound(subsystem),
        criticality=unbound(criticality),
        namespace=unbound(namespace),
        tags=unpacked(tags, tuple[str, ...]) if tags else (),
        digest=unbound_hex(digest),
        git_commit=unbound_hex(commit),
        git_timestamp=timed(timestamp),
        chunk_count=counted(count, MOST_PIECES),
        skipped=unbound(skipped),
    )


def artifacts_of(database: Database, ids: Iterable[int]) -> Mapping[int, Artifact]:
    return dict(database.read_many(lambda row: (counted(row[0]), _artifact(row[1:])), _OF_IDS, ids))


def chunk_numbers(database: Database, path: str) -> Sequence[int]:
    return database.read_one(lambda row: pieces_from(*row), _OF_PATH, bound(path)) or range(0)


def chunks(database: Database, wanted: Sequence[int]) -> Sequence[Chunk]:
    found = database.read_many(lambda row: _Place(*numbers(row)), _PIECES, dict.fromkeys(wanted))
    places = {place.number: place for place in found}
    ids = dict.fromkeys(place.artifact for place in places.values())
    files = artifacts_of(database, ids)
    with decoding(database.path):
        of_ids = {id: files[id] for id in ids}
    texts = {id: text_of(database, id) for id in ids}
    symbols = {id: symbols_of(database, id) for id in ids}
    there = (places[one] for one in wanted if one in places)
    return [_chunk(at, of_ids[at.artifact], texts[at.artifact], symbols[at.artifact]) for at in there]


def _chunk(place: _Place, artifact: Artifact, text: Text, symbols: Iterable[Symbol]) -> Chunk:
    piece = piece_of(place[3:], text, place.ordinal)
    return Chunk(
        number=place.number,
        ordinal=place.ordinal,
        piece=piece,
        artifact=artifact,
        text=text.whole[piece.start : piece.end],
        symbols=tuple(one for one in symbols if is_among(one, piece)),
    )


def piece_of(fields: Sequence[int], text: Text, ordinal: int) -> Piece:
    start, end, line_start, line_end = fields
    title = text.titles[ordinal] if ordinal < len(text.titles) else ""
    return Piece(start=start, end=end, line_start=line_start, line_end=line_end, title=title)


def is_among(symbol: Symbol, piece: Piece) -> bool:
    """Whether some of its lines are lines of the piece."""
    return symbol.line_start <= piece.line_end and symbol.line_end >= piece.line_start


def pieces_of(database: Database, text: Text, among: range) -> Iterable[Piece]:
    rows = database.read(numbers, _PIECES_OF, among.start, among.stop)
    return [piece_of(row, text, ordinal) for ordinal, row in enumerate(rows)]


def symbols_of(database: Database, id: int) -> Sequence[Symbol]:
    return database.read(_symbol, _SYMBOLS, id)


def _symbol(row: Row) -> Symbol:
    name, qualified, kind, language, start, end = row
    return Symbol(
        name=name_of(name, qualified),
        qualified_name=unbound(qualified),
        kind=decoded(kind),
        language=decoded(language),
        line_start=counted(start),
        line_end=counted(end),
    )


def name_of(name: object, qualified: object) -> str:
    """The name of a symbol, which is the last part of its qualified name unless another one was kept."""
    return unbound(qualified).rpartition(".")[2] if name is None else unbound(name)


def segments(database: Database) -> Iterator[Segment]:
    return database.read_each(_segment, _SEGMENTS)


def _segment(row: Row) -> Segment:
    first, count, rows = row
    return Segment(tuple(pieces_from(first, min(count, len(raw(rows))))), rows)
