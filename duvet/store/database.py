"""A connection that speaks of its faults in plain words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from duvet.store.errors import BusyError
from duvet.store.faults import decoding, told
from duvet.store.places import Seen, seen_at

if TYPE_CHECKING:
    from sqlite3 import Connection

Row = tuple[Any, ...]
Value = TypeVar("Value")
PATIENCE = 5000
"""Milliseconds to wait for those who are putting away what they have written."""
_PAUSE = 0.02
_MANY = 500
"""So many values are asked for at once."""


class Database:
    """The file of a store, open."""

    def __init__(self, connection: Connection, path: str, seen: Seen | None = None) -> None:
        """What is given as seen is the only state of the files that is ever read: what others write isn't followed."""
        self.connection = connection
        self.path = path
        self._seen = seen

    @property
    def is_current(self) -> bool:
        """Whether it tells what is in the file."""
        return self._seen is None or self._seen == seen_at(self.path)

    @property
    def is_in_transaction(self) -> bool:
        with told(self.path):
            return self.connection.in_transaction

    def rows(self, question: str, *values: object) -> list[Row]:
        """All rows at once."""
        with told(self.path):
            return self.connection.execute(question, values).fetchall()

    def row(self, question: str, *values: object) -> Row | None:
        """The first row."""
        with told(self.path):
            row: Row | None = self.connection.execute(question, values).fetchone()
            return row

    def read(self, decode: Callable[[Row], Value], question: str, *values: object) -> list[Value]:
        """What all rows stand for."""
        return self._decoded(decode, self.rows(question, *values))

    def read_one(self, decode: Callable[[Row], Value], question: str, *values: object) -> Value | None:
        """What the first row stands for."""
        row = self.row(question, *values)
        return None if row is None else self._decoded(decode, [row])[0]

    def read_each(self, decode: Callable[[Row], Value], question: str, *values: object) -> Iterator[Value]:
        """What one row after the other stands for, of the state in which the first was read."""
        with told(self.path):
            cursor = self.connection.execute(question, values)
        while True:
            with told(self.path):
                rows = cursor.fetchmany(_MANY)
            if not rows:
                return
            yield from self._decoded(decode, rows)

    def read_many(
        self, decode: Callable[[Row], Value], question: str, values: Iterable[object], *others: object
    ) -> Iterator[Value]:
        """The same for a question with `{}` in the place of a list of values, after which come others."""
        left = iter(values)
        while some := list(islice(left, _MANY)):
            yield from self.read(decode, question.format(marks(some)), *some, *others)

    def _decoded(self, decode: Callable[[Row], Value], rows: list[Row]) -> list[Value]:
        with decoding(self.path):
            return [decode(row) for row in rows]

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
