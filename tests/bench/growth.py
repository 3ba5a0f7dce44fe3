"""Measures whether time and memory grow linearly, on projects with one part 10 and 100 times as large; plots the growth."""

import math
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench.measure import Clock, least, settle
from tests.bench.rows import Size, State, forget, make_generated
from tests.bench.table import Cu, Curve, Results, align, in_cu

STEEPEST = 1.1  # The greatest exponent that counts as linear, because measurements are inexact.
NOISE = 0.1  # Growth by less than this share of the start is noise.
MEASURES = {"cu": 3, "mb": 0}  # What is measured of a report, with the digits to print.


class Line(NamedTuple):
    curve: Curve
    measure: str

    @property
    def values(self) -> list[float]:
        """The cost of a nearly empty project, and that at each count."""
        return [float(getattr(figure, self.measure)) for figure in (self.curve.start, *self.curve.figures)]

    @property
    def exponent(self) -> float:
        """The exponent of growth between the last two counts, without the start; 1 is linear."""
        start, *_, earlier, later = self.values
        earlier, later = (max(value - start, NOISE * start) for value in (earlier, later))
        fewer, more = self.curve.counts[-2:]
        return math.log(later / earlier) / math.log(more / fewer)

    @property
    def passes(self) -> bool:
        return self.exponent <= STEEPEST


def lines(curves: Sequence[Curve]) -> list[Line]:
    return [Line(curve, measure) for measure in MEASURES for curve in curves]


def render(curves: Sequence[Curve]) -> str:
    factors = [f"x {count // curves[0].counts[0]}" for count in curves[0].counts]
    rows: list[Sequence[str]] = [("", "start", *factors, "exponent", "")]
    for line in lines(curves):
        values = (f"{value:.{MEASURES[line.measure]}f}" for value in line.values)
        name = f"{line.curve.name}, {line.curve.state}, {line.measure}"
        rows.append((name, *values, f"{line.exponent:.2f}", "good" if line.passes else "WORSE THAN LINEAR"))
    return align(rows)


FACTORS = (1, 10, 100)
START = Size(requirements=1, sources=1, citations=1, per_document=1)
BASE = Size(requirements=100, sources=100, citations=5, per_document=10)
PARTS = {"sources": "sources", "annotations": "citations", "specifications": "requirements"}
COUNTS = {
    "sources": BASE.sources,
    "annotations": BASE.sources * BASE.citations,
    "specifications": BASE.requirements // BASE.per_document,
}  # What grows, and its amount in the base project.
STATES = (State.COLD, State.SAME)


def sweep(shared: Path, scratch: Path, command: str, runs: int, clock: Clock) -> Iterator[Curve]:
    folder, report = scratch / "growing", [command, "report"]

    def cost(size: Size) -> dict[State, Cu]:
        make_generated(shared, size, folder)
        unit = clock.unit()
        cold = least(report, folder, runs, lambda: forget(folder))
        settle(report, folder)
        same = least(report, folder, runs)
        shutil.rmtree(folder)
        return {State.COLD: in_cu(cold, unit), State.SAME: in_cu(same, unit)}

    start, base = cost(START), cost(BASE)
    for name, count in COUNTS.items():
        costs = [base, *(cost(grow_project(name, factor)) for factor in FACTORS[1:])]
        for state in STATES:
            counts, figures = tuple(count * factor for factor in FACTORS), tuple(one[state] for one in costs)
            yield Curve(name, state, counts, start[state], figures)


def grow_project(name: str, factor: int) -> Size:
    return BASE._replace(**{PARTS[name]: getattr(BASE, PARTS[name]) * factor})


FILE = Path(__file__).with_name("growth.svg")
WIDTH, HEIGHT = 800, 392
TOP, PANEL_WIDTH, PANEL_HEIGHT = 44, 310, 230
LEFTS, COLUMNS = (60, 460), (60, 290, 540)  # The left edges of the two panels, and of the legend's columns.
LEGEND, ROW = 344, 24
# A different shape for each name, for readers who can't distinguish the colours.
SHAPES = {
    "sources": ((-4, -4), (4, -4), (4, 4), (-4, 4)),
    "annotations": ((0, -5), (5, 4), (-5, 4)),
    "specifications": ((0, -5), (5, 0), (0, 5), (-5, 0)),
}
STYLES = {State.COLD: ("solid", "first run"), State.SAME: ("dashed", "nothing changed")}
STYLE = """
.card { fill: #ffffff; stroke: #d0d7de }
text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.grid { stroke: #d8dee4 }
.line { fill: none; stroke-width: 2 }
.dashed { stroke-dasharray: 6 4 }
.linear { stroke: #6e7781; stroke-dasharray: 1 4; stroke-linecap: round }
.sources { stroke: #0072b2 } .sources.mark { fill: #0072b2 }
.annotations { stroke: #d55e00 } .annotations.mark { fill: #d55e00 }
.specifications { stroke: #00805f } .specifications.mark { fill: #00805f }
.neutral { stroke: #1f2328 }
@media (prefers-color-scheme: dark) {
.card { fill: #0d1117; stroke: #30363d }
text { fill: #e6edf3 }
.grid { stroke: #2a313a }
.linear { stroke: #9198a1 }
.sources { stroke: #56b4e9 } .sources.mark { fill: #56b4e9 }
.annotations { stroke: #f0883e } .annotations.mark { fill: #f0883e }
.specifications { stroke: #3fc99a } .specifications.mark { fill: #3fc99a }
.neutral { stroke: #e6edf3 }
}
"""


def marks(low: float, high: float) -> list[float]:
    """Return the marks of a logarithmic axis, from the last one that is not above the lowest value."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    numbers = [float(f"{step}e{power}") for power in powers for step in (1, 2, 5)]
    first = max(number for number in numbers if number <= low)
    last = min(number for number in numbers if number >= high)
    return [number for number in numbers if first <= number <= last]


def plot(results: Results) -> str:
    """Return an SVG for light and dark pages."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>How the time and memory of duvet report grow with its project</title>\n<style>{STYLE}</style>",
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="6" />',
    ]
    titles = (f"CPU time in cu (1 cu is {results.cu_ms:.0f} ms here)", "peak memory in MB")
    for left, title, measure in zip(LEFTS, titles, MEASURES, strict=True):
        parts += _draw_panel(left, title, [Line(curve, measure) for curve in results.growth])
    for x, curve in zip(COLUMNS, (one for one in results.growth if one.state == State.COLD), strict=True):
        words = f"{curve.counts[0]:,} to {curve.counts[-1]:,} {curve.name}"
        parts += [_trace([(x, LEGEND), (x + 28, LEGEND)], f"line {curve.name}"), _dot(x + 14, LEGEND, curve.name)]
        parts.append(_write(x + 36, LEGEND + 4, words))
    strokes = [(f"neutral {dash}", words) for dash, words in STYLES.values()]
    for x, (kind, words) in zip(COLUMNS, [*strokes, ("linear", "proportional, to compare")], strict=True):
        parts.append(_trace([(x, LEGEND + ROW), (x + 28, LEGEND + ROW)], f"line {kind}"))
        parts.append(_write(x + 36, LEGEND + ROW + 4, words))
    return "\n".join([*parts, "</svg>\n"])


def _draw_panel(left: float, title: str, shown: Sequence[Line]) -> Iterator[str]:
    """Draw lines on logarithmic axes: the cost by the factor by which the project has grown."""
    values, counts = [value for line in shown for value in line.values[1:]], shown[0].curve.counts
    low, *_, high = axis = marks(min(values), max(values))
    right, bottom, factors = left + PANEL_WIDTH, TOP + PANEL_HEIGHT, [count // counts[0] for count in counts]

    def place(factor: float, value: float) -> tuple[float, float]:
        x = left + PANEL_WIDTH * math.log(factor) / math.log(factors[-1])
        return round(x, 1), round(bottom - PANEL_HEIGHT * math.log(value / low) / math.log(high / low), 1)

    yield _write(left, TOP - 16, title, "title")
    for value in axis:
        _, y = place(1, value)
        yield _trace([(left, y), (right, y)], "grid")
        yield _write(left - 8, y + 4, f"{value:g}", anchor="end")
    for factor in factors:
        x, _ = place(factor, low)
        yield _trace([(x, TOP), (x, bottom)], "grid")
        yield _write(x, bottom + 18, f"{factor} \N{MULTIPLICATION SIGN}", anchor="middle")
    yield _write(left + PANEL_WIDTH / 2, bottom + 38, "size of the project", anchor="middle")
    least = max(max(values) / factors[-1], low)
    yield _trace([place(factors[-1] * least / max(values), least), place(factors[-1], max(values))], "line linear")
    for line in shown:
        places = [place(factor, value) for factor, value in zip(factors, line.values[1:], strict=True)]
        yield _trace(places, f"line {line.curve.name} {STYLES[State(line.curve.state)][0]}")
        yield from (_dot(x, y, line.curve.name) for x, y in places)


def _dot(x: float, y: float, name: str) -> str:
    points = " ".join(f"{x + right:g},{y + down:g}" for right, down in SHAPES[name])
    return f'<polygon class="mark {name}" points="{points}" />'


def _trace(places: Sequence[tuple[float, float]], kind: str) -> str:
    return f'<polyline class="{kind}" points="{" ".join(f"{x:g},{y:g}" for x, y in places)}" />'


def _write(x: float, y: float, text: str, kind: str = "label", anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{text}</text>'
