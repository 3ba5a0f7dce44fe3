"""What the last committed run has measured, in cu and MB: figures of one machine say little about another's seconds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("results.json")
SLIP = 0.10  # more than this share on top shows in words


class Figure(NamedTuple):
    cu: float
    mb: float

    def rounded(self) -> Figure:
        """Without the digits that differ from run to run."""
        return Figure(round(self.cu, 3), round(self.mb, 1))


class Curve(NamedTuple):
    """How a report's cost grows with one measure of its project."""

    name: str  # what there is more and more of
    state: str
    counts: tuple[int, ...]
    start: Figure  # what a project with next to nothing takes
    figures: tuple[Figure, ...]  # one for each count


class About(NamedTuple):
    """Where the figures come from."""

    commit: str
    python: str
    machine: str
    cu_ms: float  # milliseconds of a cu on that machine


class Results(NamedTuple):
    about: About
    rows: Mapping[str, Figure]
    growth: Sequence[Curve]


def encode(results: Results) -> str:
    """The results as they are committed, one row a line so that a change reads well."""
    about = json.dumps(results.about._asdict(), indent=2)[2:-2]
    rows = _lines({"name": name, **figure.rounded()._asdict()} for name, figure in results.rows.items())
    growth = _lines(map(_flat, results.growth))
    return f'{{\n{about},\n  "rows": [\n{rows}\n  ],\n  "growth": [\n{growth}\n  ]\n}}\n'


def decode(text: str) -> Results:
    read = json.loads(text)
    rows = {row["name"]: Figure(row["cu"], row["mb"]) for row in read.pop("rows")}
    growth = [
        Curve(name, state, tuple(counts), Figure(*start), tuple(Figure(*one) for one in figures))
        for name, state, counts, start, figures in map(dict.values, read.pop("growth"))
    ]
    return Results(About(**read), rows, growth)


def committed() -> Results:
    return decode(FILE.read_text())


def change(before: float, now: float) -> float:
    return now / before - 1


def slips(before: Figure | None, now: Figure) -> list[str]:
    """In which way something is worse than it was, in words."""
    if before is None:
        return []
    grown = {"SLOWER": change(before.cu, now.cu), "BIGGER": change(before.mb, now.mb)}
    return [word for word, share in grown.items() if share > SLIP]


def _flat(curve: Curve) -> dict[str, object]:
    figures = [figure.rounded() for figure in curve.figures]
    return curve._replace(start=curve.start.rounded(), figures=tuple(figures))._asdict()


def _lines(records: Iterable[Mapping[str, object]]) -> str:
    return ",\n".join(f"    {json.dumps(record)}" for record in records)
