"""Files and their pieces, as they stand in the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from duvet.store.database import Database, Row
from duvet.store.records import Artifact, Chunk, Kind, Piece, Segment, Symbol
from duvet.store.texts import Text, text_of
from duvet.store.values import bound, counted, decoded, raw, timed, unbound, unbound_hex, unpacked

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
_MOST_PIECES = 1 << 20
"""No file has as many."""


def artifacts(database: Database) -> Mapping[str, Artifact]:
    found = [artifact_of(database, row) for row in database.each(_ALL)]
    # A name that is no text stands behind all others.
    return {one.path: one for one in sorted(found, key=lambda one: one.path)}


def artifact_of(database: Database, row: Row) -> Artifact:
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
        chunk_count=counted(count, _MOST_PIECES),
        skipped=unbound(skipped),
    )


def artifacts_of(database: Database, ids: Iterable[int]) -> Mapping[int, Artifact]:
    return {row[0]: artifact_of(database, row[1:]) for row in database.of_many(_OF_IDS, ids)}


def chunk_numbers(database: Database, path: str) -> Sequence[int]:
    first, count = database.row(_OF_PATH, bound(path)) or (0, 0)
    return _numbers(first, count)


def chunks(database: Database, numbers: Sequence[int]) -> Sequence[Chunk]:
    rows = {row[0]: row[1:] for row in database.of_many(_PIECES, dict.fromkeys(numbers))}
    ids = dict.fromkeys(row[0] for row in rows.values())
    files = artifacts_of(database, ids)
    texts = {id: text_of(database, id) for id in ids}
    symbols = {id: symbols_of(database, id) for id in ids}
    found = []
    for number in numbers:
        if number in rows:
            id, ordinal, *fields = rows[number]
            piece = piece_of(fields, texts[id], ordinal)
            among = tuple(one for one in symbols[id] if is_among(one, piece))
            found.append(
                Chunk(
                    number=number,
                    ordinal=ordinal,
                    piece=piece,
                    artifact=files[id],
                    text=texts[id].whole[piece.start : piece.end],
                    symbols=among,
                )
            )
    return found


def piece_of(fields: Sequence[int], text: Text, ordinal: int) -> Piece:
    start, end, line_start, line_end = map(counted, fields)
    title = text.titles[ordinal] if ordinal < len(text.titles) else ""
    return Piece(start=start, end=end, line_start=line_start, line_end=line_end, title=title)


def is_among(symbol: Symbol, piece: Piece) -> bool:
    """Whether some of its lines are lines of the piece."""
    return symbol.line_start <= piece.line_end and symbol.line_end >= piece.line_start


def pieces_of(database: Database, text: Text, first: int, count: int) -> Iterable[Piece]:
    rows = database.rows(_PIECES_OF, first, first + count)
    return [piece_of(row, text, ordinal) for ordinal, row in enumerate(rows)]


def symbols_of(database: Database, id: int) -> Sequence[Symbol]:
    return [
        Symbol(
            name=unbound(qualified).rpartition(".")[2] if name is None else unbound(name),
            qualified_name=unbound(qualified),
            kind=decoded(kind),
            language=decoded(language),
            line_start=counted(start),
            line_end=counted(end),
        )
        for name, qualified, kind, language, start, end in database.rows(_SYMBOLS, id)
    ]


def segments(database: Database) -> Iterator[Segment]:
    for first, count, rows in database.each(_SEGMENTS):
        yield Segment(tuple(_numbers(first, min(count, len(raw(rows))))), rows)


def _numbers(first: object, count: object) -> range:
    start = counted(first)
    return range(start, start + counted(count, _MOST_PIECES))
