"""What was measured, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.bench.measure import Cost
from tests.bench.workloads import Budget

HEADINGS = ("", "CPU ms", "cu", "goal", "gate", "MB", "gate", "")


class Result(NamedTuple):
    """One row, measured."""

    name: str
    budget: Budget
    cost: Cost
    unit: float
    """CPU seconds of the calibration in the same minute."""

    @property
    def ratio(self) -> float:
        """The cost in units of the calibration."""
        return self.cost.cpu / self.unit

    @property
    def fits_memory(self) -> bool:
        """Whether it stayed below the gate for memory."""
        return not self.budget.memory or self.cost.memory <= self.budget.memory

    @property
    def passes(self) -> bool:
        """Whether it stayed below both gates."""
        return self.ratio <= self.budget.gate and self.fits_memory

    @property
    def verdict(self) -> str:
        """How the cost stands to the budget, in a word or two."""
        if self.ratio > self.budget.gate:
            return "TOO SLOW"
        if not self.fits_memory:
            return "TOO BIG"
        return "good" if self.ratio <= self.budget.goal else "passes"


def render(results: Sequence[Result]) -> str:
    """The table, numbers to the right."""
    rows = [HEADINGS, *(_cells(result) for result in results)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_line(row, widths) for row in rows)


def as_json(results: Sequence[Result], about: Mapping[str, object]) -> str:
    """The same facts for programs, with what they were measured on."""
    rows = [
        {
            "name": result.name,
            "cpu_seconds": round(result.cost.cpu, 4),
            "unit_seconds": round(result.unit, 4),
            "cu": round(result.ratio, 3),
            "goal": result.budget.goal,
            "gate": result.budget.gate,
            "rss_mb": round(result.cost.memory, 1),
            "rss_gate_mb": result.budget.memory or None,
            "passes": result.passes,
        }
        for result in results
    ]
    return json.dumps({**about, "rows": rows}, indent=2) + "\n"


def _cells(result: Result) -> tuple[str, ...]:
    budget = result.budget
    return (
        result.name,
        f"{result.cost.cpu * 1000:.0f}",
        f"{result.ratio:.3f}",
        f"{budget.goal:.2f}",
        f"{budget.gate:.2f}",
        f"{result.cost.memory:.0f}",
        f"{budget.memory:.0f}" if budget.memory else "-",
        result.verdict,
    )


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *numbers, verdict = row
    cells = [cell.rjust(width) for cell, width in zip(numbers, widths[1:-1], strict=True)]
    return "  ".join([first.ljust(widths[0]), *cells, verdict]).rstrip()
