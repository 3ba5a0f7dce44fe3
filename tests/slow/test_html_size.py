"""The HTML report of a large project."""

from __future__ import annotations

from duvet.model import Place, Problem
from tests.unit.reports.html_pages import page, tree
from tests.unit.reports.made import finished
from tests.unit.reports.test_html_render import elements, many


def test_most_elements_are_made_later() -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST NOT make a browser create more than 20,000 elements at first, and a citation MUST add at most
    ##% 200 bytes, apart from its code.
    problem = Problem("DUV050", "no such text", "src/a.rs", Place(3, 5, 4), "text here", "look again")
    shown = page(finished(many(3000, 1)), problems=(problem,) * 5000)
    assert elements(shown) < 1000
    assert elements(shown, scripting=False) > 20_000


def test_what_is_made_later_is_there_without_scripts() -> None:
    whole = tree(page(finished(many(3000, 1))))
    assert len([one for one in whole.iter("li") if one.get("class") == "s4"]) == 3000
    assert len([one for one in whole.iter("div") if one.get("class") == "refs"]) == 3000
    assert "".join(whole.itertext()).count("src/0.rs:1\n") == 1
    assert len([one for one in whole.iter("noscript") if one.get("class") == "later"]) == 1
