"""The verdicts of the benchmark, on figures that are made up."""

from __future__ import annotations

import json

from tests.bench.measure import Cost
from tests.bench.table import Result, as_json, render
from tests.bench.workloads import Budget

QUICK = Result("--version", Budget(0.11, 0.14), Cost(0.03, 20.4), 0.3)
SLUGGISH = Result("report", Budget(0.20, 0.30, 60), Cost(0.09, 60.0), 0.3)
SLOW = Result("slow", Budget(0.20, 0.30, 60), Cost(0.091, 60.0), 0.3)
BIG = Result("big", Budget(0.20, 0.30, 60), Cost(0.03, 60.1), 0.3)


def test_table() -> None:
    assert render([QUICK, SLUGGISH, SLOW, BIG]) == (
        "           CPU ms     cu  goal  gate  MB  gate\n"
        "--version      30  0.100  0.11  0.14  20     -  good\n"
        "report         90  0.300  0.20  0.30  60    60  passes\n"
        "slow           91  0.303  0.20  0.30  60    60  TOO SLOW\n"
        "big            30  0.100  0.20  0.30  60    60  TOO BIG"
    )


def test_only_what_stays_below_both_gates_passes() -> None:
    assert [result.passes for result in (QUICK, SLUGGISH, SLOW, BIG)] == [True, True, False, False]


def test_json() -> None:
    assert json.loads(as_json([QUICK], {"commit": "abc"})) == {
        "commit": "abc",
        "rows": [
            {
                "name": "--version",
                "cpu_seconds": 0.03,
                "unit_seconds": 0.3,
                "cu": 0.1,
                "goal": 0.11,
                "gate": 0.14,
                "rss_mb": 20.4,
                "rss_gate_mb": None,
                "passes": True,
            }
        ],
    }
