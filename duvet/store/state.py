"""What a store tells of itself."""

from __future__ import annotations

from typing import NamedTuple

from duvet.store.database import Database, Row
from duvet.store.faults import damaged
from duvet.store.values import counted, unbound


class State(NamedTuple):
    """The only row of its table."""

    revision: str
    next: int
    """The number of the piece that comes next."""
    total: int
    """How many pieces there are."""


def state_of(database: Database) -> State:
    found = database.read_one(_state, "SELECT revision, next, total FROM state")
    if found is None:
        raise damaged(database.path, "it doesn't say what it holds")
    return found


def _state(row: Row) -> State:
    revision, *counts = row
    return State(unbound(revision), *map(counted, counts))
