"""Figures with budgets, their table, and a run that measures them in a scratch folder."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench.budgets import Budget
from tests.bench.measure import FailedError
from tests.bench.table import align


class Figure(NamedTuple):
    name: str
    value: float
    budget: Budget

    @property
    def verdict(self) -> str:
        if self.value <= self.budget.goal:
            return "good"
        return "passes" if self.passes else "TOO MUCH"

    @property
    def passes(self) -> bool:
        return self.value <= self.budget.gate


def show_figures(measure: Callable[[Path], Iterable[Figure]]) -> int:
    try:
        with tempfile.TemporaryDirectory(prefix="duvet-bench-") as scratch:
            figures = list(measure(Path(scratch)))
    except FailedError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(render(figures))
    return 0 if all(figure.passes for figure in figures) else 1


def render(figures: Sequence[Figure]) -> str:
    rows = [
        (one.name, f"{one.value:.2f}", f"{one.budget.goal:.2f}", f"{one.budget.gate:.2f}", one.verdict)
        for one in figures
    ]
    return align([("the server", "measured", "goal", "gate", ""), *rows])


def seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def p99(values: Iterable[float]) -> float:
    ordered = sorted(values)
    return ordered[-1 - len(ordered) // 100]
