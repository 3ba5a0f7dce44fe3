"""What is in a store: all that it can be asked, and its tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from duvet.store.records import ChunkFilters, NodeLabel, Relation, Store
from tests.unit.store.made import frequencies


@contextmanager
def by_hand(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        yield connection


def everything(store: Store) -> list[object]:
    """Whatever a store can be asked."""
    answers: list[object] = [store.revision, store.kept("space"), store.artifacts(), store.chunk_total()]
    answers += [store.chunks(range(1, 20)), store.chunk_numbers("src/kettle.py"), store.lacks_times()]
    filters = ChunkFilters(subsystems=("kitchen",), tags=("hot",), symbol_kinds=("method",))
    for every in (True, False):
        answers += [store.lexical(["kettle", "water"], ChunkFilters(), 9, every=every), store.allowed(filters)]
    answers += [frequencies(store, "kettle"), list(store.segments()), store.around("Subsystem:Kitchen", 3)]
    answers += [list(store.nodes(label)) for label in NodeLabel]
    answers += [store.edges("SourceFile:src/kettle.py", out=out, limit=9) for out in (True, False)]
    answers += [store.neighbours(["Subsystem:Kitchen"]), store.found_nodes("kettle", list(NodeLabel), 9)]
    return [*answers, list(store.isolated(list(NodeLabel), list(Relation))), store.runs(), store.reports("coverage")]
