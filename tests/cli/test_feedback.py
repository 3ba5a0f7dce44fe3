"""`duvet feedback`"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from duvet.knowledge.feedback import submit_vote
from tests.cli.made import make
from tests.cli.running import Run, runner
from tests.unit.knowledge.stored import CLOCK, places, vote
from tests.unit.tools.made import FILES

FIRST = {
    "request_id": "r",
    "chunk_id": "a.md::0",
    "vote": 1.0,
    "note": 'good, "very"\n=1+1',
    "context": None,
    "timestamp": CLOCK.isoformat(),
    "source": "mcp.manual",
}
SECOND = {**FIRST, "chunk_id": "b.md::1", "vote": -0.5, "note": None}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "pot", FILES)


@pytest.fixture
def duvet(duvet_command: str, project: Path) -> Run:
    kept = places(project)
    submit_vote(kept, vote("a.md::0", 1.0, note=str(FIRST["note"])))
    submit_vote(kept, vote("b.md::1", -0.5))
    return runner(duvet_command, project)


def test_the_list(duvet: Run) -> None:
    time = CLOCK.isoformat()
    lines = duvet("feedback").out.splitlines()
    assert [line.split("\t")[:3] for line in lines] == [[time, "-0.5", "b.md::1"], [time, "1", "a.md::0"]]
    assert len(json.loads(duvet("feedback", "list", "--format", "json").out)) == 2
    assert "a.md::0" in duvet("feedback", "--format", "table").out


def test_the_order(duvet: Run, project: Path) -> None:
    ##= man/spec/gateway.md#indexing-and-feedback
    ##= type=test
    ##% `duvet feedback` MUST list feedback by time, and `duvet feedback export` MUST write all of it as JSON Lines, CSV
    ##% or JSON.
    submit_vote(places(project), replace(vote("first.md::0", 1.0), timestamp="2026-01-01T00:00:00+00:00"))
    chunks = [line.split("\t")[2] for line in duvet("feedback").out.splitlines()]
    assert chunks == ["b.md::1", "a.md::0", "first.md::0"]
    assert json.loads(duvet("feedback", "export").out.splitlines()[0])["chunk_id"] == "first.md::0"


def test_all_of_it(duvet: Run) -> None:
    ##= man/spec/gateway.md#indexing-and-feedback
    ##= type=test
    ##% `duvet feedback` MUST list feedback by time, and `duvet feedback export` MUST write all of it as JSON Lines, CSV
    ##% or JSON.
    assert [json.loads(line) for line in duvet("feedback", "export").out.splitlines()] == [FIRST, SECOND]
    assert json.loads(duvet("feedback", "export", "--format", "json").out) == [FIRST, SECOND]
    rows = list(csv.DictReader(io.StringIO(duvet("feedback", "export", "--format", "csv").out)))
    assert [row["vote"] for row in rows] == ["1", "-0.5"]
    assert rows[0].keys() == FIRST.keys() and rows[0]["chunk_id"] == "a.md::0"
    wrong = duvet("feedback", "export", "--format", "table")
    assert (wrong.code, wrong.out) == (2, "") and "jsonl, csv, json" in wrong.err


def test_nothing(duvet_command: str, project: Path) -> None:
    duvet = runner(duvet_command, project)
    assert duvet("feedback") == (0, "", "nobody has said anything of a result yet\n")
    assert duvet("feedback", "export") == (0, "", "")
    assert duvet("feedback", "export", "--format", "json").out == "[]\n"
    assert not (project / ".duvet/knowledge").exists()
