"""The verdicts of the benchmark, on figures that are made up."""

from __future__ import annotations

import json

from tests.bench.budgets import Budget
from tests.bench.measure import Cost
from tests.bench.results import Figure
from tests.bench.table import Result, as_json, render

QUICK = Result("--version", Budget(0.11, 0.14), Cost(0.03, 20.4), 0.3)
SLUGGISH = Result("report", Budget(0.20, 0.30, 60), Cost(0.09, 60.0), 0.3, Figure(0.28, 60.0))
SLOW = Result("slow", Budget(0.20, 0.30, 60), Cost(0.091, 60.0), 0.3, Figure(0.27, 54.0))
BIG = Result("big", Budget(0.20, 0.30, 60), Cost(0.03, 60.1), 0.3, Figure(0.2, 60.0))
COMPARED = Result("cold", Budget(0.20, 0.30, 60), Cost(0.045, 50.0), 0.3, Figure(0.15, 50.0), Cost(0.09, 40.0))


def test_table() -> None:
    assert render([QUICK, SLUGGISH, SLOW, BIG]) == (
        "           CPU ms     cu  change  goal  gate  MB  change  gate\n"
        "--version      30  0.100     new  0.11  0.14  20     new     -  good\n"
        "report         90  0.300    +7 %  0.20  0.30  60    +0 %    60  passes\n"
        "slow           91  0.303   +12 %  0.20  0.30  60   +11 %    60  TOO SLOW, SLOWER and BIGGER than before\n"
        "big            30  0.100   -50 %  0.20  0.30  60    +0 %    60  TOO BIG"
    )


def test_table_with_a_peer() -> None:
    assert render([QUICK, COMPARED]) == (
        "           CPU ms     cu  change  goal  gate  MB  change  gate  peer cu  of peer\n"
        "--version      30  0.100     new  0.11  0.14  20     new     -        -        -  good\n"
        "cold           45  0.150    +0 %  0.20  0.30  50    +0 %    60    0.300     0.50  good"
    )


def test_only_what_stays_below_both_gates_passes() -> None:
    assert [result.passes for result in (QUICK, SLUGGISH, SLOW, BIG)] == [True, True, False, False]


def test_json() -> None:
    quick, compared = json.loads(as_json([QUICK, COMPARED], {"commit": "abc"}))["rows"]
    assert quick == {
        "name": "--version",
        "cpu_seconds": 0.03,
        "unit_seconds": 0.3,
        "cu": 0.1,
        "cu_before": None,
        "goal": 0.11,
        "gate": 0.14,
        "rss_mb": 20.4,
        "rss_before_mb": None,
        "rss_gate_mb": None,
        "peer_cpu_seconds": None,
        "of_peer": None,
        "passes": True,
    }
    told = ("cu_before", "rss_before_mb", "peer_cpu_seconds", "of_peer")
    assert [compared[key] for key in told] == [0.15, 50.0, 0.09, 0.5]


def test_json_says_where_it_was_measured() -> None:
    assert json.loads(as_json([], {"commit": "abc"})) == {"commit": "abc", "rows": []}
