import re
from itertools import product

import pytest

from duvet.reports.html.anchors import CITED_LOOK, STATE_LOOKS, AnchorNames, strip_backticks
from duvet.reports.snapshot import SnapshotDiff
from duvet.templates import page_file
from tests.unit.reports.html.html_pages import page, without_shell
from tests.unit.reports.report_projects import STATES, finished


def ids(text: str) -> list[str]:
    return re.findall(r'<[^>]*? id="?([^" >]+)', without_shell(text))


def test_each_place_has_an_anchor_that_does_not_move() -> None:
    report = finished(STATES)
    found = [id for id in ids(page(report)) if id.startswith(("tea", "manners"))]
    wanted = {f"tea/{one.section.id}/{one.id[:12]}" for one in report.requirements}
    assert len(wanted) == 10 and wanted < set(found)
    assert {"tea", "tea/tea-biscuits", "tea/pot", "tea/cup", "tea/milk", "manners", "manners/guests"} < set(found)
    more = STATES | {"src/0.rs": "//= tea.md#pot\n//# The lid MUST NOT be lost.\n"}
    assert [id for id in ids(page(finished(more))) if id.startswith(("tea", "manners"))] == found


def test_names_that_are_taken_get_a_number_and_titles_have_no_backticks() -> None:
    shown = page(finished(STATES), since=SnapshotDiff(), embedded=b"{}")
    own = [id for id in ids(shown) if not re.match("tea|manners", id)]
    assert len(own) > 15 and [AnchorNames().new(id) for id in own] == [f"{id}-2" for id in own]
    names = AnchorNames()
    assert [names.new(name) for name in ("a", "a-2", "a", "a", "a-2", "sources", "a b", "c?d")] == [
        *("a", "a-2", "a-3", "a-4", "a-2-2", "sources-2", "a-b", "c-d")
    ]
    titles = ["The `duvet ask` command", "``a`b``", "A ` alone", "``"]
    assert [*map(strip_backticks, titles)] == ["The duvet ask command", "a`b", "A ` alone", "``"]


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


def test_contrast_is_enough() -> None:
    assert contrast("#fff", "#000000") == pytest.approx(21)
    assert {*GROUNDS, *TEXTS, "edge", "rule"} == set(COLOURS)
    for ground, (name, ratio), theme in product(GROUNDS, (dict.fromkeys(TEXTS, 4.5) | {"edge": 3}).items(), (0, 1)):
        assert contrast(COLOURS[name][theme], COLOURS[ground][theme]) >= ratio, (ground, name, theme)


def test_states_differ_without_their_colours() -> None:
    rules = re.findall(r"\.(s\d) \{ ([^}]*) \}", TOKENS)
    found = {name: dict(re.findall(r"--(\w+): (.*?);", rule)) for name, rule in rules}
    assert {name: (look["sign"], look["word"]) for name, look in found.items()} == {
        look.mark: (f'"{look.sign}"', f'"{look.words}"') for look in (*STATE_LOOKS, CITED_LOOK)
    }
    assert len({look["sign"] for look in found.values()}) == len(found)
    assert len({(look["style"], look["thick"]) for look in found.values()}) == len(found)
