"""Nobody is shut out: axe finds nothing in any view or state, and the keyboard gets everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.reading import add_style, go
from tests.slow.browser.reports import PAGE, Report
from tests.slow.browser.visits import NARROW, WIDE, Visits

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
RUN = """tags => axe.run(document, {runOnly: {type: "tag", values: tags}, resultTypes: ["violations"]})
  .then(found => found.violations.map(one => `${one.id}: ${one.nodes.map(node => node.html.slice(0, 150)).join("; ")}`))"""
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "forced": {"forced_colors": "active"},
    "forced dark": {"forced_colors": "active", "color_scheme": "dark"},
    "narrow": {"viewport": NARROW},
    "narrow dark": {"viewport": NARROW, "color_scheme": "dark"},
    "narrow forced": {"viewport": NARROW, "forced_colors": "active"},
}


def situations(page: Page) -> Iterator[str]:
    """Everything that a reader can have on the screen."""
    for fragment in ("#overview", "#problems", "#requirements?", "#requirements?q=nowhere", "#sources", "#manners"):
        go(page, fragment)
        yield fragment
    go(page, "#tea")
    yield "#tea"
    page.locator('[id="tea"] pre a').first.click()
    expect(page.locator("#panel")).to_be_visible()
    yield "panel"
    page.keyboard.press("Escape")
    page.evaluate("location.hash = '#nowhere-at-all'")
    expect(page.locator("#notice")).to_be_visible()
    yield "notice"
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    yield "help"


def found_by(axe: str, page: Page) -> list[str]:
    """What axe has to say about the page as it is."""
    if not page.evaluate("typeof axe !== 'undefined'"):
        page.evaluate(axe)
        # What is out of sight has no place yet, and axe takes its guessed place for the real one.
        add_style(page, ".part, .file { content-visibility: visible !important }")
    found: list[str] = page.evaluate(RUN, TAGS)
    return found


@pytest.mark.parametrize("look", LOOKS)
def test_nothing_shuts_anybody_out(look: str, visit: Visits, states: Report, axe: str) -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST pass axe's checks for WCAG 2.2 AA in every view and theme, on wide and narrow screens, and MUST
    ##% NOT distinguish states by colour alone.
    page = visit(states.url, **LOOKS[look])
    found = {situation: found_by(axe, page) for situation in situations(page)}
    assert len(found) == 10
    assert {situation: violations for situation, violations in found.items() if violations} == {}


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_a_real_project_shuts_nobody_out(width: str, visit: Visits, s2n: Report, axe: str) -> None:
    page = visit(s2n.url, viewport=WIDE if width == "wide" else NARROW)
    found = {}
    for fragment in ("#overview", "#rfc5746", "#requirements?status=partial", "#problems"):
        go(page, fragment)
        found[fragment] = found_by(axe, page)
    assert {fragment: violations for fragment, violations in found.items() if violations} == {}


def test_a_page_without_scripts_shuts_nobody_out(visit: Visits, states: Report, axe: str, tmp_path: Path) -> None:
    without = re.sub(r"(?s)<script.*?</script>", "", states.html)
    opened = re.sub(r"<(/?)noscript\b", r"<\1div", without)
    (tmp_path / PAGE).write_text(opened)
    assert found_by(axe, visit((tmp_path / PAGE).as_uri())) == []


FOCUSED = """() => {
  const one = document.activeElement
  const style = getComputedStyle(one)
  const place = one.closest("header, #specifications, main, aside, dialog")?.tagName ?? ""
  const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== "none"
  const box = one.getBoundingClientRect()
  const seen = box.width > 0 && box.bottom > 0 && box.top < innerHeight
  return one === document.body ? null : [place, one.className, ring && seen, one.outerHTML.slice(0, 90)]
}"""


def tabbed(page: Page) -> list[list[Any]]:
    """What the tab key comes by, until it leaves the page or comes round."""
    stops: list[list[Any]] = []
    for _ in range(300):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop is None or (stops and stop == stops[0]):
            return stops
        stops.append(stop)
    raise AssertionError(f"a trap: {stops[-3:]}")


def test_the_tab_key_goes_through_the_page_in_order(visit: Visits, states: Report) -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST be usable with the keyboard alone, with a visible focus.
    page = visit(states.url)
    stops = tabbed(page)
    assert stops[0][1] == "skip"
    places = [place for place, *_ in stops[1:]]
    order = [place for index, place in enumerate(places) if index == 0 or places[index - 1] != place]
    assert order == ["HEADER", "NAV", "MAIN"]
    assert [text for _, _, seen, text in stops if not seen] == []


RING_HAS_ROOM = """link => {
  const { outlineWidth, outlineOffset } = getComputedStyle(link)
  const clipped = link.closest('.part, .file').getBoundingClientRect()
  return link.getBoundingClientRect().left - parseFloat(outlineWidth) - parseFloat(outlineOffset) >= clipped.left
}"""


@pytest.mark.parametrize("fragment", ["#tea/pot", "#sources"])
def test_nothing_cuts_into_what_shows_the_focus(fragment: str, visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}{fragment}")
    link = page.locator(":is(#tea .part h3, #sources li) a:visible").first
    page.keyboard.press("Tab")
    link.focus()
    expect(link).to_have_css("outline-style", "solid")
    assert link.evaluate(RING_HAS_ROOM)


def test_the_skip_link_leads_to_the_view(visit: Visits, states: Report) -> None:
    page = visit(states.url)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.closest('main') !== null")
    expect(page.locator("#overview")).to_be_visible()


@pytest.mark.parametrize("fragment", ["#overview", "#requirements?", "#sources", "#problems", "#tea"])
def test_headings_are_in_order(fragment: str, visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}{fragment}")
    headings = page.locator("h1, h2, h3, h4, h5, h6").filter(visible=True)
    levels = headings.evaluate_all("all => all.map(one => Number(one.tagName[1]))")
    assert levels[:2] == [1, 2] and levels.count(1) == 1
    assert [pair for pair in pairwise(levels) if pair[1] > pair[0] + 1] == []
