"""The committed results, in cu and MB, because seconds are different on another machine."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("results.json")
SLIP = 0.10  # Growth by more than this share is described in words.


class Figure(NamedTuple):
    cu: float
    mb: float

    def rounded(self) -> Figure:
        return Figure(round(self.cu, 3), round(self.mb, 1))


class Curve(NamedTuple):
    name: str  # What grows.
    state: str
    counts: tuple[int, ...]
    start: Figure  # The cost of a nearly empty project.
    figures: tuple[Figure, ...]  # one for each count


class About(NamedTuple):
    commit: str
    python: str
    machine: str
    cu_ms: float  # milliseconds of a cu on that machine


class Results(NamedTuple):
    about: About
    rows: Mapping[str, Figure]
    growth: Sequence[Curve]


def encode(results: Results) -> str:
    """Encode the results for committing, with one row per line so that diffs are readable."""
    about = json.dumps(results.about._asdict(), indent=2)[2:-2]
    rows = _lines({"name": name, **figure.rounded()._asdict()} for name, figure in results.rows.items())
    growth = _lines(
        one._replace(start=one.start.rounded(), figures=tuple(map(Figure.rounded, one.figures)))._asdict()
        for one in results.growth
    )
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
    if before is None:
        return []
    grown = {"SLOWER": change(before.cu, now.cu), "BIGGER": change(before.mb, now.mb)}
    return [word for word, share in grown.items() if share > SLIP]


def _lines(records: Iterable[Mapping[str, object]]) -> str:
    return ",\n".join(f"    {json.dumps(record)}" for record in records)
