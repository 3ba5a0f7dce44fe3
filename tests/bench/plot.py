"""The plot of growth: an SVG for light and dark pages."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench.budgets import State
from tests.bench.growth import MEASURES, Line
from tests.bench.results import Curve, Results

STEPS = (1, 2, 5)  # the digits at which an axis has a mark


class Panel(NamedTuple):
    """A rectangle of the plot, and the values at its edges."""

    left: float
    top: float
    width: float
    height: float
    most: float  # the factor at the right edge; the left one has 1
    low: float
    high: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def x(self, factor: float) -> float:
        return round(self.left + self.width * math.log(factor) / math.log(self.most), 1)

    def y(self, value: float) -> float:
        return round(self.bottom - self.height * math.log(value / self.low) / math.log(self.high / self.low), 1)

    def proportional(self, value: float) -> list[tuple[float, float]]:
        lowest = max(value / self.most, self.low)
        return [(self.x(self.most * lowest / value), self.y(lowest)), (self.right, self.y(value))]


def marks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    numbers = [float(f"{step}e{power}") for power in powers for step in STEPS]
    first = max(number for number in numbers if number <= low)
    last = min(number for number in numbers if number >= high)
    return [number for number in numbers if first <= number <= last]


FILE = Path(__file__).with_name("growth.svg")
WIDTH, HEIGHT = 800, 392
TOP, PANEL_WIDTH, PANEL_HEIGHT = 44, 310, 230
LEFTS = (60, 460)
LEGEND, ROW = 344, 24
COLUMNS = (60, 290, 540)
DASHES = {State.COLD: "solid", State.SAME: "dashed"}
WORDS = {State.COLD: "first run", State.SAME: "nothing changed"}
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


def render(results: Results) -> str:
    size = {"width": str(WIDTH), "height": str(HEIGHT), "viewBox": f"0 0 {WIDTH} {HEIGHT}"}
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, "role": "img"})
    ET.SubElement(root, "title").text = "How the time and memory of duvet report grow with its project"
    ET.SubElement(root, "style").text = STYLE
    _add(root, "rect", "card", x=0.5, y=0.5, width=WIDTH - 1, height=HEIGHT - 1, rx=6)
    titles = (f"CPU time in cu (1 cu is {results.about.cu_ms:.0f} ms here)", "peak memory in MB")
    for left, title, measure in zip(LEFTS, titles, MEASURES, strict=True):
        _draw(root, left, title, [Line(curve, measure) for curve in results.growth])
    _explain(root, results.growth)
    ET.indent(root)
    return f"{ET.tostring(root, encoding='unicode')}\n"


def _draw(root: ET.Element, left: float, title: str, lines: Sequence[Line]) -> None:
    values = [value for line in lines for value in line.values]
    counts = lines[0].curve.counts
    low, *_, high = marks(min(values), max(values))
    panel = Panel(left, TOP, PANEL_WIDTH, PANEL_HEIGHT, counts[-1] / counts[0], low, high)
    _write(root, left, TOP - 16, title, "title")
    _mark(root, panel, [count // counts[0] for count in counts])
    _trace(root, panel.proportional(max(values)), "line linear")
    for line in lines:
        places = [
            (panel.x(count / line.curve.counts[0]), panel.y(value))
            for count, value in zip(line.curve.counts, line.values, strict=True)
        ]
        _trace(root, places, f"line {line.curve.name} {DASHES[State(line.curve.state)]}")
        for x, y in places:
            _dot(root, x, y, line.curve.name)


def _mark(root: ET.Element, panel: Panel, factors: Sequence[int]) -> None:
    for value in marks(panel.low, panel.high):
        _trace(root, [(panel.left, panel.y(value)), (panel.right, panel.y(value))], "grid")
        _write(root, panel.left - 8, panel.y(value) + 4, f"{value:g}", anchor="end")
    for factor in factors:
        _trace(root, [(panel.x(factor), panel.top), (panel.x(factor), panel.bottom)], "grid")
        _write(root, panel.x(factor), panel.bottom + 18, f"{factor} \N{MULTIPLICATION SIGN}", anchor="middle")
    _write(root, panel.left + panel.width / 2, panel.bottom + 38, "size of the project", anchor="middle")


def _explain(root: ET.Element, curves: Sequence[Curve]) -> None:
    for x, curve in zip(COLUMNS, (curve for curve in curves if curve.state == State.COLD), strict=True):
        _trace(root, [(x, LEGEND), (x + 28, LEGEND)], f"line {curve.name}")
        _dot(root, x + 14, LEGEND, curve.name)
        _write(root, x + 36, LEGEND + 4, f"{curve.counts[0]:,} to {curve.counts[-1]:,} {curve.name}")
    strokes = [(f"neutral {DASHES[state]}", words) for state, words in WORDS.items()]
    for x, (kind, words) in zip(COLUMNS, [*strokes, ("linear", "proportional, to compare")], strict=True):
        _trace(root, [(x, LEGEND + ROW), (x + 28, LEGEND + ROW)], f"line {kind}")
        _write(root, x + 36, LEGEND + ROW + 4, words)


def _dot(root: ET.Element, x: float, y: float, name: str) -> None:
    """Draw a different shape for each name, for readers who can't distinguish the colours."""
    shapes = {
        "sources": [(-4, -4), (4, -4), (4, 4), (-4, 4)],
        "annotations": [(0, -5), (5, 4), (-5, 4)],
        "specifications": [(0, -5), (5, 0), (0, 5), (-5, 0)],
    }
    points = " ".join(f"{x + right:g},{y + down:g}" for right, down in shapes[name])
    _add(root, "polygon", f"mark {name}", points=points)


def _trace(root: ET.Element, places: Sequence[tuple[float, float]], kind: str) -> None:
    _add(root, "polyline", kind, points=" ".join(f"{x:g},{y:g}" for x, y in places))


def _write(root: ET.Element, x: float, y: float, text: str, kind: str = "label", anchor: str = "start") -> None:
    element = _add(root, "text", kind, x=x, y=y)
    element.set("text-anchor", anchor)
    element.text = text


def _add(root: ET.Element, tag: str, kind: str, **attributes: object) -> ET.Element:
    return ET.SubElement(root, tag, {"class": kind, **{name: _spell(value) for name, value in attributes.items()}})


def _spell(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
