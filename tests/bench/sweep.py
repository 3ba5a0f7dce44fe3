"""Measures projects of which one part is ten and a hundred times as large."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.bench.budgets import State
from tests.bench.calibration import Clock
from tests.bench.measure import least, settle
from tests.bench.results import Curve, Figure
from tests.bench.trees import Size, forget, make_generated

FACTORS = (1, 10, 100)
START = Size(requirements=1, sources=1, citations=1, per_document=1)
BASE = Size(requirements=100, sources=100, citations=5, per_document=10)
COUNTS = {
    "sources": BASE.sources,
    "annotations": BASE.sources * BASE.citations,
    "specifications": BASE.requirements // BASE.per_document,
}
"""What grows, and how much of it the base has."""
STATES = (State.COLD, State.SAME)

Costs = dict[State, Figure]


def sweep(shared: Path, scratch: Path, command: str, runs: int, clock: Clock) -> Iterator[Curve]:
    """How the cost of a report grows with each part of its project."""

    def cost(size: Size) -> Costs:
        return _cost(shared, scratch / "growing", command, size, runs, clock)

    start, base = cost(START), cost(BASE)
    for name, count in COUNTS.items():
        costs = [base, *(cost(grown(name, factor)) for factor in FACTORS[1:])]
        for state in STATES:
            figures = tuple(figure[state] for figure in costs)
            yield Curve(name, state, tuple(count * factor for factor in FACTORS), start[state], figures)


def grown(name: str, factor: int) -> Size:
    """The base with more of one part; what it is made of grows along."""
    match name:
        case "sources":
            return BASE._replace(sources=BASE.sources * factor)
        case "annotations":
            return BASE._replace(citations=BASE.citations * factor)
        case _:
            return BASE._replace(requirements=BASE.requirements * factor)


def _cost(shared: Path, folder: Path, command: str, size: Size, runs: int, clock: Clock) -> Costs:
    make_generated(shared, size, folder)
    report = [command, "report"]
    unit = clock.unit()
    cold = least(report, folder, runs, lambda: forget(folder))
    settle(report, folder)
    same = least(report, folder, runs)
    shutil.rmtree(folder)
    return {
        State.COLD: Figure(cold.cpu / unit, cold.memory),
        State.SAME: Figure(same.cpu / unit, same.memory),
    }
