"""The colours of the page, and what tells states apart without them"""

from __future__ import annotations

import re

import pytest

from duvet.reports.html.anchors import CITED_LOOK, STATE_LOOKS
from duvet.templates import page_file

TOKENS = page_file("tokens.css")
COLOURS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([a-z]+): light-dark\((#[0-9a-f]+), (#[0-9a-f]+)\);", TOKENS)
}
GROUNDS = ("ground", "sheet", "raised")
TEXTS = ("ink", "soft", "link", "red", "purple", "amber", "grey", "blue", "green", "slate")


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    parts = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def looks() -> dict[str, dict[str, str]]:
    """What the style sheet gives each state."""
    rules = re.findall(r"\.(s\d) \{ ([^}]*) \}", TOKENS)
    return {name: dict(re.findall(r"--(\w+): (.*?);", rule)) for name, rule in rules}


def test_every_colour_is_known() -> None:
    assert {*GROUNDS, *TEXTS, "edge", "rule"} == set(COLOURS)
    assert contrast("#fff", "#000000") == pytest.approx(21)


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("ground", GROUNDS)
def test_contrast_is_enough(theme: int, ground: str) -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST pass axe's checks for WCAG 2.2 AA in every view and theme, on wide and narrow screens, and MUST
    ##% NOT distinguish states by colour alone.
    low = {name for name in TEXTS if contrast(COLOURS[name][theme], COLOURS[ground][theme]) < 4.5}
    assert low | {name for name in ("edge",) if contrast(COLOURS[name][theme], COLOURS[ground][theme]) < 3} == set()


def test_states_are_told_apart_without_colours() -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST pass axe's checks for WCAG 2.2 AA in every view and theme, on wide and narrow screens, and MUST
    ##% NOT distinguish states by colour alone.
    found = looks()
    assert {name: (look["sign"], look["word"]) for name, look in found.items()} == {
        look.mark: (f'"{look.sign}"', f'"{look.words}"') for look in (*STATE_LOOKS, CITED_LOOK)
    }
    for parts in (("sign",), ("style", "thick")):
        assert len({tuple(look[part] for part in parts) for look in found.values()}) == len(found)
