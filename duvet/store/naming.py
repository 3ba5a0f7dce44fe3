"""Pieces by what is named there: something that code declares, or the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from duvet.store.artifacts import chunk_numbers, name_of
from duvet.store.database import Database, Row
from duvet.store.indexing import DECLARED, FILE, stem_of
from duvet.store.values import counted, unbound
from duvet.store.words import as_one, folded

_FOUND = "SELECT rowid FROM found WHERE found MATCH ? ORDER BY rowid LIMIT ?"
_MOST = 2000
"""So many things of one name are looked at."""
_DECLARED = """SELECT number, name, qualified_name FROM piece JOIN symbol ON symbol.artifact = piece.artifact
AND symbol.line_start BETWEEN piece.line_start AND piece.line_end WHERE number IN ({})"""
_PATHS = "SELECT first, path FROM artifact JOIN piece ON piece.artifact = artifact.id WHERE number IN ({})"


def declaring(database: Database, name: str, allowed: Sequence[int] | None) -> Sequence[int]:
    """The pieces in which something of that name is declared."""
    ##= man/spec/knowledge.md#store
    ##% The pieces that declare a symbol MUST be found by its name, and where nothing is called just so, by one with other
    ##% capitals, or with its parts joined otherwise.
    numbers = [*_kept(_marked(database, DECLARED, name), allowed)]
    names = database.read_many(_named, _DECLARED, numbers)
    exact = {one for one, known in names if known == name}
    return [one for one in numbers if one in exact] if exact else numbers


def called(database: Database, path: str, allowed: Sequence[int] | None) -> Sequence[int]:
    """The first pieces of the files that are called so."""
    ##= man/spec/knowledge.md#store
    ##% A file MUST be found by its path, by any number of the last parts of it, and by its name with or without the
    ##% ending, in whatever case.
    whole = chunk_numbers(database, path)[:1]
    if whole:
        return [*_kept(whole, allowed)]
    asked = folded(path)
    numbers = _marked(database, FILE, path.rpartition("/")[2])
    paths = database.read_many(_first, _PATHS, numbers)
    found = {one for one, known in paths if _is_called(folded(known), asked)}
    return [*_kept((one for one in numbers if one in found), allowed)]


def _named(row: Row) -> tuple[int, str]:
    return counted(row[0]), name_of(*row[1:])


def _first(row: Row) -> tuple[int, str]:
    return counted(row[0]), unbound(row[1])


def _is_called(path: str, asked: str) -> bool:
    """What is asked for may say less than the path, or more: that of a folder around the project."""
    folder, _, name = path.rpartition("/")
    without = f"{folder}/{stem_of(name)}"
    return any(f"/{one}".endswith(f"/{asked}") for one in (path, without)) or asked.endswith(f"/{path}")


def _marked(database: Database, mark: str, name: str) -> Sequence[int]:
    word = as_one(name)
    return database.read(lambda row: counted(*row), _FOUND, f'"{mark}{word}"', _MOST) if word else []


def _kept(numbers: Iterable[int], allowed: Sequence[int] | None) -> Iterator[int]:
    among = None if allowed is None else frozenset(allowed)
    return (one for one in numbers if among is None or one in among)
