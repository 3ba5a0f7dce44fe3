"""A connection that speaks of its faults in plain words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from duvet.store.errors import BusyError
from duvet.store.faults import told

if TYPE_CHECKING:
    from sqlite3 import Connection

Row = tuple[Any, ...]
PATIENCE = 5000
"""Milliseconds to wait for those who are putting away what they have written."""
_PAUSE = 0.02
_MANY = 500
"""So many values are asked for at once."""


class Database:
    """The file of a store, open."""

    def __init__(self, connection: Connection, path: str) -> None:
        self.connection = connection
        self.path = path

    def rows(self, question: str, *values: object) -> list[Row]:
        """All rows at once."""
        with told(self.path):
            return self.connection.execute(question, values).fetchall()

    def each(self, question: str, *values: object) -> Iterator[Row]:
        """One row after the other, of the state in which the first was read."""
        with told(self.path):
            cursor = self.connection.execute(question, values)
        while True:
            with told(self.path):
                rows = cursor.fetchmany(_MANY)
            if not rows:
                return
            yield from rows

    def row(self, question: str, *values: object) -> Row | None:
        """The first row."""
        with told(self.path):
            row: Row | None = self.connection.execute(question, values).fetchone()
            return row

    def of_many(self, question: str, values: Iterable[object], *others: object) -> Iterator[Row]:
        """The rows of a question with `{}` in the place of a list of values, after which come others."""
        left = iter(values)
        while some := list(islice(left, _MANY)):
            yield from self.rows(question.format(marks(some)), *some, *others)

    def run(self, statement: str, *values: object) -> int:
        """Change something; tells how many rows."""
        with told(self.path):
            return self.connection.execute(statement, values).rowcount

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Change something once for each row."""
        with told(self.path):
            self.connection.executemany(statement, rows)

    def patiently(self, work: Callable[[], object], seconds: float) -> None:
        """Do what others may be in the way of, and try for so long."""
        until = time.monotonic() + seconds
        self.run("PRAGMA busy_timeout=0")
        try:
            while True:
                try:
                    work()
                    return
                except BusyError:
                    if time.monotonic() >= until:
                        raise
                # Not in sqlite, where nobody could interrupt it.
                time.sleep(_PAUSE)
        finally:
            self.run(f"PRAGMA busy_timeout={PATIENCE}")

    def shrink(self) -> None:
        """Give back the room that nothing stands in."""
        with told(self.path):
            # As a single statement it would be stopped at the first page.
            self.connection.executescript("PRAGMA incremental_vacuum")

    def undo(self) -> None:
        """Leave everything as it was."""
        import sqlite3

        with suppress(sqlite3.Error):
            self.connection.rollback()

    def close(self) -> None:
        self.connection.close()


def marks(values: Sequence[object]) -> str:
    """The places of so many values."""
    return ",".join("?" * len(values))
