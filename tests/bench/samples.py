"""Results that are made up, for the tests."""

from __future__ import annotations

from tests.bench.budgets import PROJECTS, State
from tests.bench.results import About, Curve, Figure, Results

ABOUT = About("abc1234", "3.11.7", "Linux x86_64, 2 cores", 250)
COUNTS = {"sources": 100, "annotations": 500, "specifications": 10}


def results() -> Results:
    """Rows that cost a little more each, and curves that are straight."""
    names = ["--version", *(f"{project.name}, {state}" for project in PROJECTS for state in project.budgets)]
    rows = {name: Figure(0.1 + 0.1 * number, 20.0 + number) for number, name in enumerate(names)}
    growth = [curve(name, state) for name in COUNTS for state in (State.COLD, State.SAME)]
    return Results(ABOUT, rows, growth)


def curve(name: str = "sources", state: str = State.COLD, power: float = 1.0) -> Curve:
    """A cost that grows with that power of the count, on top of a start."""
    factors = (1, 10, 100)
    figures = tuple(Figure(0.1 + 0.02 * factor**power, 18 + 0.6 * factor**power) for factor in factors)
    return Curve(name, state, tuple(COUNTS[name] * factor for factor in factors), Figure(0.1, 18.0), figures)
