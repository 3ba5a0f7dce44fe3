"""A store that another process keeps locked."""

from __future__ import annotations

import sqlite3

from tests.unit.tools.knowledge.made import STATUS, Asking


def test_a_store_that_is_locked(known: Asking) -> None:
    locked = sqlite3.connect(known.file, isolation_level=None)
    locked.execute("BEGIN EXCLUSIVE")
    # Who reads goes on.
    assert known.value(STATUS)["run_id"] == "r1"
    locked.execute("ROLLBACK")
    known.knowledge.close()
    locked.execute("PRAGMA locking_mode=EXCLUSIVE")
    locked.execute("BEGIN EXCLUSIVE")
    assert known.refusal("km-coverage-summary") == (
        "upstream_error",
        "store.db: somebody else is writing to it",
        "try again when that is done",
    )
    locked.close()
    assert known.value(STATUS)["run_id"] == "r1"
