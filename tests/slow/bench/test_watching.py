"""Waiting for answers to edits, and the table of that."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench.measure import FailedError
from tests.bench.watching import Row, Wait, render, waits
from tests.bench.workloads import Edit
from tests.cli.made import KETTLE, make


def test_each_edit_is_answered(duvet_command: str, tmp_path: Path) -> None:
    make(tmp_path, KETTLE)
    found = waits([duvet_command, "report", "--watch"], tmp_path, Edit(tmp_path / "src" / "a.rs"), 3, pause=0)
    assert len(found) == 3
    assert all(0 < wait.reports < wait.summary for wait in found)


def test_a_command_that_ends_answers_nothing(tmp_path: Path) -> None:
    with pytest.raises(FailedError, match="has ended\nbroken\n"):
        waits([sys.executable, "-c", "import sys; sys.exit('broken')"], tmp_path, lambda: None, 1)


def test_the_table() -> None:
    quick = [Wait(0.1, 0.11), Wait(0.12, 0.2), Wait(0.3, 0.4)]
    slow = [Wait(0.3, 0.31)] * 200 + [Wait(0.9, 1), Wait(0.9, 1)]
    assert render([Row("quick", quick, 0.3), Row("slow", slow, 0.3), Row("huge", slow, None)]) == (
        "edit to  reports p50  p99  summary p50  p99  gate\n"
        "quick            120  300          200  400   300  good\n"
        "slow             300  300          310  310   300  TOO SLOW\n"
        "huge             300  300          310  310     -  good"
    )
