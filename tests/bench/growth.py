"""Measures whether time and memory grow linearly, on projects with one part 10 and 100 times as large."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench.budgets import State
from tests.bench.calibration import Clock
from tests.bench.measure import least, settle
from tests.bench.results import Curve, Figure
from tests.bench.table import align
from tests.bench.workloads import Size, forget, make_generated

STEEPEST = 1.1  # The greatest exponent that counts as linear, because measurements are inexact.
NOISE = 0.1  # Growth by less than this share of the start is noise.
MEASURES = {"cu": 3, "mb": 0}  # What is measured of a report, with the digits to print.


class Line(NamedTuple):
    curve: Curve
    measure: str

    @property
    def start(self) -> float:
        return float(getattr(self.curve.start, self.measure))

    @property
    def values(self) -> list[float]:
        return [float(getattr(figure, self.measure)) for figure in self.curve.figures]

    @property
    def exponent(self) -> float:
        """The exponent of growth between the last two counts, without the start; 1 is linear."""
        earlier, later = (max(value - self.start, NOISE * self.start) for value in self.values[-2:])
        fewer, more = self.curve.counts[-2:]
        return math.log(later / earlier) / math.log(more / fewer)

    @property
    def passes(self) -> bool:
        return self.exponent <= STEEPEST


def lines(curves: Sequence[Curve]) -> list[Line]:
    return [Line(curve, measure) for measure in MEASURES for curve in curves]


def render(curves: Sequence[Curve]) -> str:
    factors = [f"x {count // curves[0].counts[0]}" for count in curves[0].counts]
    rows = []
    for line in lines(curves):
        values = (f"{value:.{MEASURES[line.measure]}f}" for value in (line.start, *line.values))
        name = f"{line.curve.name}, {line.curve.state}, {line.measure}"
        rows.append((name, *values, f"{line.exponent:.2f}", "good" if line.passes else "WORSE THAN LINEAR"))
    return align([("", "start", *factors, "exponent", ""), *rows])


FACTORS = (1, 10, 100)
START = Size(requirements=1, sources=1, citations=1, per_document=1)
BASE = Size(requirements=100, sources=100, citations=5, per_document=10)
COUNTS = {
    "sources": BASE.sources,
    "annotations": BASE.sources * BASE.citations,
    "specifications": BASE.requirements // BASE.per_document,
}  # What grows, and its amount in the base project.
STATES = (State.COLD, State.SAME)


def sweep(shared: Path, scratch: Path, command: str, runs: int, clock: Clock) -> Iterator[Curve]:
    folder, report = scratch / "growing", [command, "report"]

    def cost(size: Size) -> dict[State, Figure]:
        make_generated(shared, size, folder)
        unit = clock.unit()
        cold = least(report, folder, runs, lambda: forget(folder))
        settle(report, folder)
        same = least(report, folder, runs)
        shutil.rmtree(folder)
        return {State.COLD: Figure(cold.cpu / unit, cold.memory), State.SAME: Figure(same.cpu / unit, same.memory)}

    start, base = cost(START), cost(BASE)
    for name, count in COUNTS.items():
        costs = [base, *(cost(grow_project(name, factor)) for factor in FACTORS[1:])]
        for state in STATES:
            figures = tuple(figure[state] for figure in costs)
            yield Curve(name, state, tuple(count * factor for factor in FACTORS), start[state], figures)


def grow_project(name: str, factor: int) -> Size:
    part = {"sources": "sources", "annotations": "citations", "specifications": "requirements"}[name]
    return BASE._replace(**{part: getattr(BASE, part) * factor})
