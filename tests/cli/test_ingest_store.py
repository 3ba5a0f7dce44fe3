"""`duvet ingest` over files and stores that are out of order"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from duvet.store.location import open_store
from tests.cli.ingesting import STORE, WITHOUT_VECTORS, known, ledger
from tests.cli.running import NOBODY, run
from tests.unit.knowledge.ingest.made import opened, written

__all__ = ["ledger"]  # fixtures, which tests ask for by name


def test_a_file_that_may_not_be_read(public: Path, duvet_command: str) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% `duvet ingest` MUST keep only the name of a file that is empty, too large, not UTF-8 or unreadable, and skip one
    ##% whose name is not UTF-8.
    written(public, {"secret.md": "x", **WITHOUT_VECTORS})
    (public / "secret.md").chmod(0)
    done = run(duvet_command, public, "-q", "ingest", "--format", "json", before=NOBODY)
    assert done.code == 0
    assert json.loads(done.out)["warnings"] == ["secret.md: Permission denied (os error 13)"]
    with closing(opened(public)) as store:
        assert store.artifacts()["secret.md"].skipped == "unreadable"


def torn(data: bytes) -> bytes:
    """Much of every block of a file is others."""
    chance = random.Random(1)
    return b"".join(
        data[at : at + 100] + chance.randbytes(800) + data[at + 900 : at + 4096] for at in range(0, len(data), 4096)
    )


@pytest.mark.parametrize(
    "damage", [torn, lambda data: b"no database at all\n" * 100, lambda data: data[: len(data) // 2]]
)
def test_a_store_that_is_damaged_is_replaced(
    damage: Callable[[bytes], bytes], ledger: Path, duvet_command: str
) -> None:
    assert run(duvet_command, ledger, "ingest").code == 0
    before = known(ledger)
    for elsewhere in (False, True):
        if elsewhere:
            written(ledger, {"duvet.config.yaml": "ingest: {semantic: false}\nstore: {path: kept/all.db}\n"})
            assert run(duvet_command, ledger, "ingest").code == 0
        file = ledger / ("kept/all.db" if elsewhere else STORE)
        written(ledger, {str(file.relative_to(ledger)): damage(file.read_bytes())})
        told = run(duvet_command, ledger, "ingest")
        assert told.code == 1 and "Traceback" not in told.err and "it is damaged" in told.err and file.name in told.err
        is_ours = not elsewhere or file.read_bytes().startswith(b"SQLite")
        assert ("`duvet ingest --full` replaces it" in told.err) is is_ours
        assert run(duvet_command, ledger, "ingest", "--full", "--dry-run").code == (0 if is_ours else 1)
        done = run(duvet_command, ledger, "ingest", "--full")
        assert (done.code, "Replacing" in done.err) == ((0, True) if is_ours else (1, False))
        if is_ours:
            with closing(open_store(str(file))) as store:
                assert list(store.artifacts()) == before


def test_a_dry_run_does_not_mind_a_store_of_an_older_duvet(ledger: Path, duvet_command: str) -> None:
    ##= man/spec/knowledge.md#storage
    ##= type=test
    ##% An ingest run MUST replace the index of an older version, and with `--full` a damaged one, but no other file and
    ##% not the index of a newer version.
    run(duvet_command, ledger, "ingest")
    with closing(sqlite3.connect(ledger / STORE)) as database:
        database.execute("PRAGMA user_version=1")
    before = (ledger / STORE).read_bytes()
    done = run(duvet_command, ledger, "ingest", "--dry-run")
    assert done.code == 0 and "8 new, 0 changed, 0 removed" in done.err
    assert (ledger / STORE).read_bytes() == before
    with closing(sqlite3.connect(ledger / STORE)) as database:
        database.execute("PRAGMA user_version=99")
    assert run(duvet_command, ledger, "ingest", "--dry-run").code == 1


def test_the_folder_can_be_removed(ledger: Path, duvet_command: str) -> None:
    run(duvet_command, ledger, "ingest")
    first = known(ledger)
    for path in (ledger / ".duvet/knowledge").iterdir():
        path.unlink()
    assert run(duvet_command, ledger, "ingest").code == 0 and known(ledger) == first
    with closing(sqlite3.connect(ledger / STORE)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
