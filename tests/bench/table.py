"""Prints results for people and for programs, and compares them with the committed ones, in cu and MB."""

import json
import re
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

import msgspec

from tests.bench.measure import Cost
from tests.bench.rows import Budget

FILE = Path(__file__).with_name("results.json")
SLIP = 0.10  # Growth by more than this share is described in words.


class Figure(NamedTuple):
    """A measured value; without a gate, the goal is the gate, and without a goal, every value passes."""

    name: str
    value: float
    goal: float = inf
    gate: float = 0
    is_floor: bool = False  # Whether the goal is the least, not the most.

    @property
    def passes(self) -> bool:
        return self.value >= self.goal if self.is_floor else self.value <= max(self.goal, self.gate)

    @property
    def verdict(self) -> str:
        if self.passes:
            return "good" if self.is_floor or self.value <= self.goal else "passes"
        return "TOO LITTLE" if self.is_floor else "TOO MUCH"


def render_figures(figures: Sequence[Figure]) -> str:
    rows: list[Sequence[str]] = [("", "measured", "goal", "gate", "")]
    for one in figures:
        limits = ("-" if limit == inf else f"{limit:,.2f}" for limit in (one.goal, max(one.goal, one.gate)))
        rows.append((one.name, f"{one.value:,.2f}", *limits, one.verdict if one.goal < inf else ""))
    return align(rows)


class Cu(NamedTuple):
    """The rounded cost of a command in cu and MB, because seconds are different on another machine."""

    cu: float
    mb: float


def in_cu(cost: Cost, unit: float) -> Cu:
    return Cu(round(cost.cpu / unit, 3), round(cost.memory, 1))


class Curve(msgspec.Struct, frozen=True):
    name: str  # What grows.
    state: str
    counts: tuple[int, ...]
    start: Cu  # The cost of a nearly empty project.
    figures: tuple[Cu, ...]  # one for each count


class Results(msgspec.Struct):
    commit: str
    python: str
    machine: str
    cu_ms: float  # milliseconds of a cu on that machine
    rows: dict[str, Cu]
    growth: list[Curve]


def encode(results: Results) -> str:
    text = msgspec.json.format(msgspec.json.encode(results), indent=2).decode()
    # Lists of numbers on one line make the differences readable.
    return re.sub(r"\[[\d.,\s]+\]", lambda found: "".join(found[0].split()).replace(",", ", "), text) + "\n"


def decode(text: str) -> Results:
    return msgspec.json.decode(text, type=Results)


class Result(NamedTuple):
    name: str
    budget: Budget
    cost: Cost
    unit: float  # CPU seconds of the calibration in the same minute
    before: Cu | None = None  # The figures of the last committed run.
    peer: Cost | None = None  # The cost of another duvet in the same minute.

    @property
    def figure(self) -> Cu:
        return in_cu(self.cost, self.unit)

    @property
    def verdict(self) -> str:
        goal, gate, memory = self.budget
        cu, mb = self.figure
        words = "TOO SLOW" if cu > gate else "TOO BIG" if memory and mb > memory else "good" if cu <= goal else "passes"
        slips = [
            word
            for word, before, now in zip(("SLOWER", "BIGGER"), self.before or (), self.figure, strict=False)
            if now / before - 1 > SLIP
        ]
        return words + (f", {' and '.join(slips)} than before" if slips else "")

    @property
    def passes(self) -> bool:
        return not self.verdict.startswith("TOO")


def render_results(results: Sequence[Result]) -> str:
    headings = ["", "CPU ms", "cu", "change", "goal", "gate", "MB", "change", "gate"]
    with_peer = any(result.peer for result in results)
    rows = [[*headings, *(["peer cu", "of peer"] if with_peer else []), ""]]
    for one in results:
        (goal, gate, memory), (cu, mb) = one.budget, one.figure
        before = zip(one.before, one.figure, strict=True) if one.before else ()
        changes = [f"{(now / old - 1) * 100:+.0f} %" for old, now in before] or ["new", "new"]
        cells = [one.name, f"{one.cost.cpu * 1000:.0f}", f"{cu:.3f}", changes[0], f"{goal:.2f}", f"{gate:.2f}"]
        cells += [f"{mb:.0f}", changes[1], f"{memory:.0f}" if memory else "-"]
        peer = [f"{one.peer.cpu / one.unit:.3f}", f"{one.cost.cpu / one.peer.cpu:.2f}"] if one.peer else ["-", "-"]
        rows.append([*cells, *(peer if with_peer else []), one.verdict])
    return align(rows)


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
            "cu": one.figure.cu,
            "cu_before": one.before.cu if one.before else None,
            "goal": one.budget.goal,
            "gate": one.budget.gate,
            "rss_mb": one.figure.mb,
            "rss_before_mb": one.before.mb if one.before else None,
            "rss_gate_mb": one.budget.memory or None,
            "peer_cpu_seconds": round(one.peer.cpu, 4) if one.peer else None,
            "of_peer": round(one.cost.cpu / one.peer.cpu, 3) if one.peer else None,
            "passes": one.passes,
        }
        for one in results
    ]
    return json.dumps({**about, "rows": rows}, indent=2) + "\n"
