"""The picture of growth, as far as a program can look at it; what it shows is compared in test_committed.py."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest

from tests.bench.plot import HEIGHT, LEFTS, PANEL_HEIGHT, PANEL_WIDTH, STYLE, TOP, WIDTH, Panel, bounds, marks, render
from tests.bench.samples import results

SVG = "{http://www.w3.org/2000/svg}"
CHARACTER = 7.5
"""More than a character of this size is wide on the average."""
SHIFT = {"start": 0.0, "middle": 0.5, "end": 1.0}

Box = tuple[float, float, float, float]


@pytest.fixture(scope="module")
def picture() -> ET.Element:
    return ET.fromstring(render(results()))


def box(text: ET.Element) -> Box:
    """Left, top, right and bottom of a text."""
    width = CHARACTER * len(text.text or "")
    left = float(text.attrib["x"]) - SHIFT[text.attrib["text-anchor"]] * width
    return left, float(text.attrib["y"]) - 11, left + width, float(text.attrib["y"]) + 3


def places(shape: ET.Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for pair in shape.attrib["points"].split() for x, y in [pair.split(",")]]


def test_it_says_what_it_shows(picture: ET.Element) -> None:
    texts = [text.text or "" for text in picture.iter(f"{SVG}text")]
    assert [text for text in texts if not re.fullmatch("[\\d. \N{MULTIPLICATION SIGN}]+", text)] == [
        "CPU time in cu (1 cu is 250 ms here)",
        "size of the project",
        "peak memory in MB",
        "size of the project",
        "100 to 10,000 sources",
        "500 to 50,000 annotations",
        "10 to 1,000 specifications",
        "first run",
        "nothing changed",
        "proportional, to compare",
    ]


def test_no_text_stands_on_another_or_outside(picture: ET.Element) -> None:
    boxes = [box(text) for text in picture.iter(f"{SVG}text")]
    assert [
        (a, b) for a, b in combinations(boxes, 2) if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ] == []
    assert [one for one in boxes if one[0] < 0 or one[1] < 0 or one[2] > WIDTH or one[3] > HEIGHT] == []


def test_each_curve_has_its_line_in_both_panels(picture: ET.Element) -> None:
    kinds = [line.attrib["class"] for line in picture.iter(f"{SVG}polyline") if len(places(line)) == 3]
    names = ("sources", "annotations", "specifications")
    assert kinds == 2 * [f"line {name} {dashes}" for name in names for dashes in ("solid", "dashed")]


def test_lines_stay_in_their_panels(picture: ET.Element) -> None:
    lines = [places(line) for line in picture.iter(f"{SVG}polyline") if len(places(line)) == 3]
    found = {(x, TOP <= y <= TOP + PANEL_HEIGHT) for line in lines for x, y in line}
    assert found == {(left + PANEL_WIDTH * step / 2, True) for left in LEFTS for step in range(3)}


def test_what_costs_more_stands_higher(picture: ET.Element) -> None:
    first = next(places(line) for line in picture.iter(f"{SVG}polyline") if len(places(line)) == 3)
    assert first[0][1] > first[1][1] > first[2][1]


def test_each_colour_of_a_light_page_has_another_on_a_dark_one() -> None:
    light, dark = STYLE.split("@media (prefers-color-scheme: dark)")
    pattern = r"^(\S+)(?: \{.*)? (?:fill|stroke): #"
    assert set(re.findall(pattern, light, re.MULTILINE)) == set(re.findall(pattern, dark, re.MULTILINE))


def test_marks_are_round_and_enclose_the_values() -> None:
    assert marks(0.16, 1.9) == [0.1, 0.2, 0.5, 1, 2]
    assert bounds([18, 83]) == (10, 100)


def test_a_proportional_line_has_the_slope_of_the_panel() -> None:
    panel = Panel(0, 0, 200, 100, 100, 1, 10)
    assert panel.proportional(10) == [(100, 100), (200, 0)]
