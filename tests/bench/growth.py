"""Whether time and memory grow as the project does, and not faster."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tests.bench.results import Curve
from tests.bench.table import align

STEEPEST = 1.1
"""The exponent that still counts as linear, for measuring is not exact."""
NOISE = 0.1
"""Growth by less than this share of the start can't be told from chance."""
MEASURES = {"cu": 3, "mb": 0}
"""What is measured of a report, with the digits that are told."""


class Line(NamedTuple):
    """One measure of a curve."""

    curve: Curve
    measure: str

    @property
    def start(self) -> float:
        """The cost of a project with next to nothing."""
        return float(getattr(self.curve.start, self.measure))

    @property
    def values(self) -> list[float]:
        """The cost at each count."""
        return [float(getattr(figure, self.measure)) for figure in self.curve.figures]

    @property
    def exponent(self) -> float:
        """The power of its count with which the cost above the start grows between the last two counts; 1 is linear."""
        earlier, later = (max(value - self.start, NOISE * self.start) for value in self.values[-2:])
        fewer, more = self.curve.counts[-2:]
        return math.log(later / earlier) / math.log(more / fewer)

    @property
    def passes(self) -> bool:
        """Whether it grows linearly or slower."""
        return self.exponent <= STEEPEST


def lines(curves: Sequence[Curve]) -> list[Line]:
    """Each curve's time, then each curve's memory."""
    return [Line(curve, measure) for measure in MEASURES for curve in curves]


def render(curves: Sequence[Curve]) -> str:
    """A table of how each cost grows."""
    factors = [f"x {count // curves[0].counts[0]}" for count in curves[0].counts]
    return align([("", "start", *factors, "exponent", ""), *(_cells(line) for line in lines(curves))])


def _cells(line: Line) -> tuple[str, ...]:
    values = (f"{value:.{MEASURES[line.measure]}f}" for value in (line.start, *line.values))
    name = f"{line.curve.name}, {line.curve.state}, {line.measure}"
    return (name, *values, f"{line.exponent:.2f}", "good" if line.passes else "WORSE THAN LINEAR")
