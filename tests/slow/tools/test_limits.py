import sqlite3

from msgspec import json

from duvet.tools.tool import MAX_PAGE_BYTES
from tests.unit.tools.knowledge.knowledge_calls import STATUS, Asking
from tests.unit.tools.tool_calls import answer, ask, context_of
from tests.unit.tools.trace.test_sections import COVERAGE, make_many_specifications


def test_very_long_answers_are_cut() -> None:
    context = context_of(make_many_specifications(200))
    found, words = answer(context, COVERAGE)
    shown = found["specifications"]
    assert words == (
        f"{len(shown)} of 202 specifications shown: those with the most open requirements. "
        "Set spec to see the levels of one specification."
    )
    assert 100 < len(shown) < 202 and shown[0]["id"] == "a199"
    assert len(json.encode(ask(context, COVERAGE).value)) <= MAX_PAGE_BYTES
    assert len(answer(context_of(make_many_specifications(200), page_size=0), COVERAGE)[0]["specifications"]) == 202


def test_a_store_that_is_locked(known: Asking) -> None:
    locked = sqlite3.connect(known.file, isolation_level=None)
    locked.execute("BEGIN EXCLUSIVE")
    # Readers continue.
    assert known.value(STATUS)["run_id"] == "r1"
    locked.execute("ROLLBACK")
    known.knowledge.close()
    locked.execute("PRAGMA locking_mode=EXCLUSIVE")
    locked.execute("BEGIN EXCLUSIVE")
    assert known.refusal("km-coverage-summary") == (
        "upstream_error",
        "store.db: another process is writing to the index",
        "try again when it has finished",
    )
    locked.close()
    assert known.value(STATUS)["run_id"] == "r1"
