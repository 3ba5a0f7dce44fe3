import os
import random
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from msgspec import json

from duvet.config.service_tables import IngestRule, StoreSection
from duvet.errors import NotFoundError
from duvet.knowledge import reports
from duvet.knowledge.feedback import append_lines, read_lines
from duvet.knowledge.graph import find_node_edges, find_subsystem, search_nodes
from duvet.knowledge.index import Knowledge, OpenStore
from duvet.knowledge.restore import restore_backup
from duvet.knowledge.search_query import SearchRequest
from duvet.store.database import StoreError
from duvet.store.location import KnowledgeSettings
from tests.unit.knowledge.archives import manifest as archived, member, packed
from tests.unit.knowledge.ingest.ingest_projects import LEDGER, ingest_files, written
from tests.unit.knowledge.stored_project import CLOCK, Fork, Say, fill, make_backup, places

WANTED = IngestRule()


def damage(whole: bytes, chance: random.Random, *, heavily: bool) -> bytes:
    full = [at for at, byte in enumerate(whole) if byte]
    places = [(at, 800) for at in range(100, len(whole), 4096)]
    if not heavily:
        places = [(chance.choice(full), chance.choice([1, 1, 2, 16, 300])) for _ in range(chance.choice([1, 3, 30]))]
    data = bytearray(whole)
    for at, length in places:
        data[at : at + length] = chance.randbytes(len(data[at : at + length]))
    return bytes(data)


NODES = ("Code:src/app/ledger/book.py", "Subsystem:ledger", "Chunk:docs/spec.md::0", "Specification:spec")
QUESTIONS: tuple[Callable[[OpenStore], object], ...] = (
    lambda known: known.engine.search(SearchRequest(query="where an entry of the book is balanced")),
    lambda known: reports.make_lifecycle_report(reports.load_facts(known.store, WANTED), time.time()),
    lambda known: reports.make_coverage_report(reports.load_facts(known.store, WANTED), time.time()),
    lambda known: reports.read_report_history(known.store, reports.COVERAGE_NAME, reports.PastCoverage, 9),
    lambda known: reports.read_report_history(known.store, reports.LIFECYCLE_NAME, reports.PastLifecycle, 9),
    lambda known: [reports.make_run_row(run) for run in known.store.runs()],
    lambda known: search_nodes(known.store, "book", 9),
    lambda known: find_subsystem(known.store, "ledger", depth=5),
    lambda known: [find_node_edges(known.store, name, "all", 50) for name in NODES],
)


def ask_everything(folder: Path) -> bool:
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


@pytest.mark.parametrize(("heavily", "tries"), [(True, 6), (False, 60)])
def test_damage_anywhere_is_a_store_error(heavily: bool, tries: int, tmp_path: Path) -> None:
    ingest_files(written(tmp_path, LEDGER), WANTED)
    file = tmp_path / StoreSection().path
    whole, found = file.read_bytes(), 0
    for seed in range(tries):
        for end in ("-wal", "-shm"):
            Path(f"{file}{end}").unlink(missing_ok=True)
        file.write_bytes(damage(whole, random.Random(seed), heavily=heavily))
        # Numbers that are damaged must not reach a calculation.
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found += not ask_everything(tmp_path)
            with suppress(StoreError):
                ingest_files(tmp_path, WANTED)
    assert found * 4 > tries


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_acknowledged_lines_survive_killed_writers(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"

    def append(who: str, say: Say) -> None:
        for number in count():
            append_lines(str(path), [json.encode({"who": who, "number": number, "note": "tea " * (number % 5000)})])
            say(f"{who} {number}")

    acknowledged: set[str] = set()
    for _ in range(3):
        with Fork(partial(append, "one")) as one, Fork(partial(append, "two")) as two:
            for process in (one, two):
                acknowledged |= {process.lines.readline().strip() for _ in range(40)}
            for process in (one, two):
                process.kill()
                rest = process.lines.read()
                acknowledged |= set(rest.splitlines() if rest.endswith("\n") else rest.splitlines()[:-1])
    append_lines(str(path), [b'{"who":"me","number":0}'])
    lines = path.read_bytes().splitlines()
    found = [json.decode(line) for line in lines]
    assert acknowledged <= {f"{one['who']} {one['number']}" for one in found}
    assert list(read_lines(str(path))) == lines


def test_feedback_that_compresses_well_is_restored(tmp_path: Path) -> None:
    paths = places(fill(tmp_path / "tea"))
    line = b'{"request_id": "%d", "note": "%s"}\n'
    with open(paths.feedback, "wb") as file:
        file.writelines(line % (number, "🍵".encode() * 20_000) for number in range(900))
    archive = make_backup(paths)
    assert os.path.getsize(archive) * 200 < os.path.getsize(paths.feedback)
    os.unlink(paths.feedback)
    assert restore_backup(paths, archive, CLOCK).votes == 900


def damage_blocks(whole: bytes, chance: random.Random) -> bytes:
    """Truncate the file, or overwrite, clear or swap some of its blocks."""
    size = 4096
    kind = chance.choice(["cut", "noise", "zeros", "swap"])
    if kind == "cut":
        return whole[: chance.randrange(len(whole) // 4, len(whole) - size)]
    data = bytearray(whole)
    starts = [at for at in range(0, len(whole) - size, size) if whole[at : at + size].strip(b"\0")]
    for at in chance.sample(starts, chance.randint(2, 6)):
        other = chance.choice(starts)
        new = {"noise": chance.randbytes(size), "zeros": bytes(size), "swap": whole[other : other + size]}[kind]
        data[at : at + size] = new
    return bytes(data) if data != whole else damage_blocks(whole, chance)


def test_no_backup_or_restore_of_a_damaged_store_succeeds(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#storage
    ##% duvet MUST check the whole index for damage before it makes or restores a backup.
    ingest_files(written(tmp_path / "tea", LEDGER), WANTED)
    paths = places(tmp_path / "tea")
    make_backup(paths)
    whole = Path(paths.store).read_bytes()
    succeeded: list[object] = []
    for seed in range(30):
        damaged = damage_blocks(whole, random.Random(seed))
        for end in ("-wal", "-shm"):
            Path(f"{paths.store}{end}").unlink(missing_ok=True)
        Path(paths.store).write_bytes(damaged)
        with suppress(StoreError):
            succeeded.append((seed, make_backup(paths)))
        Path(paths.store).write_bytes(whole)
        archive = packed(tmp_path / f"{seed}.tgz", [archived({"store.db": damaged}), member("store.db", damaged)])
        with suppress(StoreError):
            succeeded.append((seed, restore_backup(paths, archive, CLOCK)))
    assert (succeeded, len(os.listdir(paths.backups))) == ([], 1)
