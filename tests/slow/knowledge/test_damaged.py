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

from duvet.config.schema import IngestRule, StoreRule
from duvet.errors import NotFoundError
from duvet.knowledge.graph.node import Which, around
from duvet.knowledge.graph.search import search
from duvet.knowledge.graph.subsystem import Wish, subsystem
from duvet.knowledge.knowledge import Knowledge, OpenStore, Rules
from duvet.knowledge.reports.coverage import CoverageThen, coverage
from duvet.knowledge.reports.facts import facts_in
from duvet.knowledge.reports.history import COVERAGE, LIFECYCLE, history
from duvet.knowledge.reports.lifecycle import LifecycleThen, lifecycle
from duvet.knowledge.reports.runs import row
from duvet.knowledge.retrieval.records import Asked
from duvet.store.errors import StoreError
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
    now, facts = time.time(), facts_in(known.store, WANTED)
    return lifecycle(facts, now), coverage(facts, now)


def _past(known: OpenStore) -> object:
    store = known.store
    reports = history(store, COVERAGE, CoverageThen, 9), history(store, LIFECYCLE, LifecycleThen, 9)
    return reports, [row(run) for run in store.runs()]


def _node(name: str) -> Question:
    return lambda known: around(known.store, name, Which.ALL, 50)


QUESTIONS: tuple[Question, ...] = (
    lambda known: known.engine.search(Asked(query="where an entry of the book is balanced")),
    _facts,
    _past,
    lambda known: search(known.store, "book", 9),
    lambda known: subsystem(known.store, "ledger", Wish(depth=5)),
    *map(_node, ("Code:src/app/ledger/book.py", "Subsystem:ledger", "Chunk:docs/spec.md::0", "Specification:spec")),
)


def ask_everything(folder: Path) -> bool:
    """Whether every question is answered, or told to be about what isn't there."""
    is_well = True
    knowledge = Knowledge(lambda: Rules(str(folder), WANTED, StoreRule()))
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
    ##= man/spec/knowledge.md#store
    ##= type=test
    ##% A store that is cut off, that makes no sense, or that is not one of duvet at all MUST be an error that names the file
    ##% and says what to do.
    file = ledger / StoreRule().path
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
