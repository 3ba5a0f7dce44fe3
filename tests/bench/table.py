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
        slipped = slips(self.before, self.figure)
        return self._standing + (f", {' and '.join(slipped)} than before" if slipped else "")

    @property
    def _standing(self) -> str:
        if self.figure.cu > self.budget.gate:
            return "TOO SLOW"
        if not self.fits_memory:
            return "TOO BIG"
        return "good" if self.figure.cu <= self.budget.goal else "passes"


def render(results: Sequence[Result]) -> str:
    with_peer = any(result.peer for result in results)
    headings = (*HEADINGS, *PEER_HEADINGS, "") if with_peer else (*HEADINGS, "")
    return align([headings, *(_cells(result, with_peer) for result in results)])


def align(rows: Sequence[Sequence[str]]) -> str:
    """Align rows of equal length in columns; numbers between the first and last column go to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_line(row, widths) for row in rows)


def as_json(results: Sequence[Result], about: Mapping[str, object]) -> str:
    """Return the same figures as JSON, with information about the machine."""
    return json.dumps({**about, "rows": [_record(result) for result in results]}, indent=2) + "\n"


def _record(result: Result) -> dict[str, object]:
    return {
        "name": result.name,
        "cpu_seconds": round(result.cost.cpu, 4),
        "unit_seconds": round(result.unit, 4),
        "cu": round(result.figure.cu, 3),
        "cu_before": result.before.cu if result.before else None,
        "goal": result.budget.goal,
        "gate": result.budget.gate,
        "rss_mb": round(result.cost.memory, 1),
        "rss_before_mb": result.before.mb if result.before else None,
        "rss_gate_mb": result.budget.memory or None,
        "peer_cpu_seconds": round(result.peer.cpu, 4) if result.peer else None,
        "of_peer": round(result.of_peer, 3) if result.of_peer else None,
        "passes": result.passes,
    }


def _cells(result: Result, with_peer: bool) -> tuple[str, ...]:
    budget, figure, before = result.budget, result.figure, result.before
    cells = (
        result.name,
        f"{result.cost.cpu * 1000:.0f}",
        f"{figure.cu:.3f}",
        _percent(before and change(before.cu, figure.cu)),
        f"{budget.goal:.2f}",
        f"{budget.gate:.2f}",
        f"{figure.mb:.0f}",
        _percent(before and change(before.mb, figure.mb)),
        f"{budget.memory:.0f}" if budget.memory else "-",
    )
    return (*cells, *_peer_cells(result), result.verdict) if with_peer else (*cells, result.verdict)


def _peer_cells(result: Result) -> tuple[str, str]:
    if result.peer is None:
        return "-", "-"
    return f"{result.peer.cpu / result.unit:.3f}", f"{result.of_peer:.2f}"


def _percent(share: float | None) -> str:
    return "new" if share is None else f"{share * 100:+.0f} %"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *numbers, last = row
    cells = [cell.rjust(width) for cell, width in zip(numbers, widths[1:-1], strict=True)]
    return "  ".join([first.ljust(widths[0]), *cells, last]).rstrip()
