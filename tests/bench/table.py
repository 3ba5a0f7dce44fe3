"""Prints results for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.bench.budgets import Budget
from tests.bench.measure import Cost
from tests.bench.results import Figure, change, slips

HEADINGS = ("", "CPU ms", "cu", "change", "goal", "gate", "MB", "change", "gate")
PEER_HEADINGS = ("peer cu", "of peer")


class Result(NamedTuple):
    name: str
    budget: Budget
    cost: Cost
    unit: float  # CPU seconds of the calibration in the same minute
    before: Figure | None = None  # The figure of the last committed run.
    peer: Cost | None = None  # The cost of another duvet in the same minute.

    @property
    def figure(self) -> Figure:
        return Figure(self.cost.cpu / self.unit, self.cost.memory)

    @property
    def of_peer(self) -> float | None:
        return self.cost.cpu / self.peer.cpu if self.peer else None

    @property
    def fits_memory(self) -> bool:
        return not self.budget.memory or self.cost.memory <= self.budget.memory

    @property
    def passes(self) -> bool:
        return self.figure.cu <= self.budget.gate and self.fits_memory

    @property
    def verdict(self) -> str:
        cost, slipped = self.figure.cu, slips(self.before, self.figure)
        standing = "TOO SLOW" if cost > self.budget.gate else "TOO BIG" if not self.fits_memory else "passes"
        standing = "good" if self.passes and cost <= self.budget.goal else standing
        return standing + (f", {' and '.join(slipped)} than before" if slipped else "")


def render(results: Sequence[Result]) -> str:
    with_peer = any(result.peer for result in results)
    headings = (*HEADINGS, *PEER_HEADINGS, "") if with_peer else (*HEADINGS, "")
    return align([headings, *(_cells(result, with_peer) for result in results)])


def align(rows: Sequence[Sequence[str]]) -> str:
    """Align rows of equal length in columns; numbers between the first and last column go to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *numbers, last in rows:
        cells = [cell.rjust(width) for cell, width in zip(numbers, widths[1:-1], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells, last]).rstrip())
    return "\n".join(lines)


def as_json(results: Sequence[Result], about: Mapping[str, object]) -> str:
    rows = [
        {
            "name": one.name,
            "cpu_seconds": round(one.cost.cpu, 4),
            "unit_seconds": round(one.unit, 4),
            "cu": round(one.figure.cu, 3),
            "cu_before": one.before.cu if one.before else None,
            "goal": one.budget.goal,
            "gate": one.budget.gate,
            "rss_mb": round(one.cost.memory, 1),
            "rss_before_mb": one.before.mb if one.before else None,
            "rss_gate_mb": one.budget.memory or None,
            "peer_cpu_seconds": round(one.peer.cpu, 4) if one.peer else None,
            "of_peer": round(one.of_peer, 3) if one.of_peer else None,
            "passes": one.passes,
        }
        for one in results
    ]
    return json.dumps({**about, "rows": rows}, indent=2) + "\n"


def _cells(result: Result, with_peer: bool) -> tuple[str, ...]:
    budget, figure, before, peer = result.budget, result.figure, result.before, result.peer
    changes = [f"{change(*pair) * 100:+.0f} %" for pair in zip(before, figure, strict=True)] if before else ["new"] * 2
    cells = (
        *(result.name, f"{result.cost.cpu * 1000:.0f}", f"{figure.cu:.3f}", changes[0]),
        *(f"{budget.goal:.2f}", f"{budget.gate:.2f}", f"{figure.mb:.0f}", changes[1]),
        f"{budget.memory:.0f}" if budget.memory else "-",
    )
    others = (f"{peer.cpu / result.unit:.3f}", f"{result.of_peer:.2f}") if peer else ("-", "-")
    return (*cells, *(others if with_peer else ()), result.verdict)
