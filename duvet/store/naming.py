"""Pieces by what is named there: something that code declares, or the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from duvet.store.artifacts import chunk_numbers, name_of
from duvet.store.database import Database
from duvet.store.indexing import DECLARED, FILE, stem_of
from duvet.store.values import unbound
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
    exact = {number for number, *names in database.of_many(_DECLARED, numbers) if name_of(*names) == name}
    return [number for number in numbers if number in exact] if exact else numbers


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
    paths = {first: folded(unbound(name)) for first, name in database.of_many(_PATHS, numbers)}
    return [*_kept((number for number in numbers if _is_called(paths[number], asked)), allowed)]


def _is_called(path: str, asked: str) -> bool:
    """What is asked for may say less than the path, or more: that of a folder around the project."""
    folder, _, name = path.rpartition("/")
    without = f"{folder}/{stem_of(name)}"
    return any(f"/{one}".endswith(f"/{asked}") for one in (path, without)) or asked.endswith(f"/{path}")


def _marked(database: Database, mark: str, name: str) -> Sequence[int]:
    word = as_one(name)
    return [number for (number,) in database.rows(_FOUND, f'"{mark}{word}"', _MOST)] if word else []


def _kept(numbers: Iterable[int], allowed: Sequence[int] | None) -> Iterator[int]:
    among = None if allowed is None else frozenset(allowed)
    return (number for number in numbers if among is None or number in among)
