"""Pieces as nodes of the graph: they are in no table of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from duvet.store.artifacts import piece_of
from duvet.store.database import Database, Row, marks
from duvet.store.records import KIND_LABELS, Kind, Label, Node
from duvet.store.texts import Text, text_of
from duvet.store.values import bound, counted, numbers, unbound

_PIECES = """SELECT artifact.id, kind, path, number - first, start, end, line_start, line_end
FROM artifact JOIN piece ON number >= first AND number < first + count"""
_OF_FILE = f"{_PIECES} WHERE path = ? AND kind IN ({{}}) ORDER BY number LIMIT ?"
_OF_ID = f"{_PIECES} WHERE path = ? AND number = first + ?"
_ALL = f"{_PIECES} ORDER BY path, number"


class PieceNode(NamedTuple):
    """A piece, and the file that it is of."""

    label: Label
    path: str
    node: Node


def piece_node(database: Database, key: str) -> PieceNode | None:
    """The piece of an id."""
    path, _, ordinal = key.rpartition("::")
    if not (ordinal.isascii() and ordinal.isdigit() and len(ordinal) < 10 and ordinal == str(int(ordinal))):
        return None
    found = database.read_one(_place, _OF_ID, bound(path), int(ordinal))
    return None if found is None else next(_nodes(database, [found]))


def piece_nodes_of(database: Database, label: Label, path: str, limit: int) -> Iterator[PieceNode]:
    """The pieces of a file, so many at most."""
    kinds = [kind for kind, called in KIND_LABELS.items() if called is label]
    places = database.read(_place, _OF_FILE.format(marks(kinds)), bound(path), *kinds, limit) if kinds else ()
    return _nodes(database, places)


def piece_nodes(database: Database) -> Iterator[PieceNode]:
    """All pieces."""
    return _nodes(database, database.read_each(_place, _ALL))


def _place(row: Row) -> tuple[Label, str, int, int, list[int]]:
    id, kind, path, ordinal, *fields = row
    return KIND_LABELS[Kind(kind)], unbound(path), counted(id), counted(ordinal), numbers(fields)


def _nodes(database: Database, places: Iterable[tuple[Label, str, int, int, list[int]]]) -> Iterator[PieceNode]:
    file, text = 0, Text()
    for label, path, id, ordinal, fields in places:
        if id != file:
            file, text = id, text_of(database, id)
        piece = piece_of(fields, text, ordinal)
        told = {"path": path, "ordinal": ordinal, "line_start": piece.line_start, "line_end": piece.line_end}
        yield PieceNode(
            label, path, Node(label=Label.CHUNK, key=f"{path}::{ordinal}", name=piece.title, properties=told)
        )
