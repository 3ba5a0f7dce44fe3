"""A store of which some bytes are others: whatever is asked of it, nothing but a StoreError comes of that."""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec import json

from duvet.config.settings import IngestRule, StoreSection
from duvet.errors import NotFoundError
from duvet.knowledge.graph import EdgeSelection, SubsystemQuery, find_node_edges, find_subsystem, search_nodes
from duvet.knowledge.index import Knowledge, OpenStore
from duvet.knowledge.reports import (
    COVERAGE_NAME,
    LIFECYCLE_NAME,
    PastCoverage,
    PastLifecycle,
    load_facts,
    make_coverage_report,
    make_lifecycle_report,
    make_run_row,
    read_report_history,
)
from duvet.knowledge.search_query import SearchRequest
from duvet.knowledge.settings import KnowledgeSettings
from duvet.store.database import StoreError
from tests.unit.knowledge.ingest.made import LEDGER, taken, written

WANTED = IngestRule()
Question = Callable[[OpenStore], object]
Damage = Callable[[bytes, random.Random], bytes]


def in_each_block(whole: bytes, chance: random.Random) -> bytes:
    """Much of everything is others."""
    data = bytearray(whole)
    for at in range(100, len(data), 4096):
        data[at : at + 800] = chance.randbytes(len(data[at : at + 800]))
    return bytes(data)


def here_and_there(whole: bytes, chance: random.Random) -> bytes:
    """A few bytes are, where there is something."""
    data, full = bytearray(whole), [at for at, byte in enumerate(whole) if byte]
    for _ in range(chance.choice([1, 3, 30])):
        at, length = chance.choice(full), chance.choice([1, 1, 2, 16, 300])
        data[at : at + length] = chance.randbytes(len(data[at : at + length]))
    return bytes(data)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = written(tmp_path_factory.mktemp("ledger"), LEDGER)
    taken(folder, WANTED)
    return folder


def _facts(known: OpenStore) -> object:
    now, facts = time.time(), load_facts(known.store, WANTED)
    return make_lifecycle_report(facts, now), make_coverage_report(facts, now)


def _past(known: OpenStore) -> object:
    store = known.store
    reports = (
        read_report_history(store, COVERAGE_NAME, PastCoverage, 9),
        read_report_history(store, LIFECYCLE_NAME, PastLifecycle, 9),
    )
    return reports, [make_run_row(run) for run in store.runs()]


def _node(name: str) -> Question:
    return lambda known: find_node_edges(known.store, name, EdgeSelection.ALL, 50)


QUESTIONS: tuple[Question, ...] = (
    lambda known: known.engine.search(SearchRequest(query="where an entry of the book is balanced")),
    _facts,
    _past,
    lambda known: search_nodes(known.store, "book", 9),
    lambda known: find_subsystem(known.store, "ledger", SubsystemQuery(depth=5)),
    *map(_node, ("Code:src/app/ledger/book.py", "Subsystem:ledger", "Chunk:docs/spec.md::0", "Specification:spec")),
)


def ask_everything(folder: Path) -> bool:
    """Whether every question is answered, or told to be about what isn't there."""
    is_well = True
    knowledge = Knowledge(lambda: KnowledgeSettings(str(folder), WANTED, StoreSection()))
    for question in QUESTIONS:
        try:
            with suppress(NotFoundError):
                json.encode(knowledge.ask(question))
        except StoreError as error:
            assert error.path and error.hint
            is_well = False
    knowledge.close()
    return is_well


@pytest.mark.parametrize(("damage", "count"), [(in_each_block, 6), (here_and_there, 60)])
def test_nothing_else_comes_of_it(damage: Damage, count: int, ledger: Path) -> None:
    ##= man/spec/knowledge.md#storage
    ##= type=test
    ##% duvet MUST name the file and the remedy when the index is damaged or not an index, or when the disk is full.
    file = ledger / StoreSection().path
    whole, told = file.read_bytes(), 0
    try:
        for seed in range(count):
            for end in ("-wal", "-shm"):
                Path(f"{file}{end}").unlink(missing_ok=True)
            file.write_bytes(damage(whole, random.Random(seed)))
            # Nothing is calculated of what is no number.
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                told += not ask_everything(ledger)
                with suppress(StoreError):
                    taken(ledger, WANTED)
    finally:
        file.write_bytes(whole)
    assert told * 4 > count
