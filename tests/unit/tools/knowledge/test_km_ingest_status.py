"""`km-ingest-status`"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from duvet.store.records import IngestRun
from tests.unit.knowledge.stored import NOW, RUN, fill
from tests.unit.tools.knowledge.made import Asking

TOOL = "km-ingest-status"
LAST = {
    "run_id": "r1",
    "profile": "local",
    "started_at": NOW - 60,
    "duration_seconds": 1.5,
    "success": True,
    "artifact_counts": {"code": 4, "doc": 3, "test": 1},
    "chunk_count": 7,
    "changed": 8,
    "removed": 2,
    "repo_head": "c1",
}
FAILED = IngestRun(run_id="r3", profile="nightly", started_at=NOW, success=False, error="no room is left")


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Asking]:
    found = Asking(fill(tmp_path, [RUN, replace(RUN, run_id="r2", profile="demo", started_at=NOW - 30), FAILED]))
    yield found
    found.knowledge.close()


def test_the_last_run(known: Asking) -> None:
    assert known.value(TOOL) == {"status": "ok", **LAST, "run": LAST}


def test_profiles(runs: Asking) -> None:
    ##= man/spec/knowledge.md#reports
    ##= type=test
    ##% `km-ingest-status` MUST return the outcome of the last run, or the last with a given `profile`, or `not_found`.
    assert runs.value(TOOL, profile="local") == {"status": "ok", **LAST, "run": LAST}
    assert runs.value(TOOL, profile="demo")["run_id"] == "r2"
    last = runs.value(TOOL)
    assert (last["run_id"], last["success"], last["error"]) == ("r3", False, "no room is left")
    assert "repo_head" not in last
    warning = "The last run has failed: what is known comes from an earlier one."
    assert runs.answer(TOOL).warning == warning
    assert runs.value(TOOL, profile="scheduled") == {"status": "not_found", "profile": "scheduled"}
    assert runs.value(TOOL, profile="%")["status"] == "not_found"


def test_history(runs: Asking) -> None:
    assert [one["run_id"] for one in runs.value(TOOL, history=100)["history"]] == ["r3", "r2", "r1"]
    assert runs.value(TOOL, history=100)["history"][2] == LAST
    assert len(runs.value(TOOL, history=2)["history"]) == 2
    assert "history" not in runs.value(TOOL, history=0)


def test_nothing_was_taken_in(tmp_path: Path) -> None:
    known = Asking(tmp_path)
    assert known.value(TOOL) == {"status": "not_found"}
    assert known.value(TOOL, profile="scheduled") == {"status": "not_found", "profile": "scheduled"}
    assert list(tmp_path.iterdir()) == []
