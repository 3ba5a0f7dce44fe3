"""The page on a phone, magnified, and with room between its letters."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.projects import CONFIG, PASSING
from tests.slow.browser.reading import add_style, go
from tests.slow.browser.reports import Report, Reports
from tests.slow.browser.visits import NARROW, Visits

FRAGMENTS = ["#overview", "#requirements?", "#sources", "#problems", "#tea", "#manners"]
SPACED = """* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
p { margin-bottom: 2em !important }"""
LOST = """all => all.filter(one => one.checkVisibility() && ['hidden', 'clip'].includes(getComputedStyle(one).overflowX)
  && one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1).map(one => one.outerHTML.slice(0, 80))"""


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than the window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_a_phone_never_scrolls_sideways(fragment: str, visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}{fragment}", viewport=NARROW, has_touch=True, is_mobile=True)
    assert overflow(page) == 0


def test_a_real_project_fits_a_phone(visit: Visits, s2n: Report) -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% Every view MUST fit a window that is 390 pixels wide.
    page = visit(s2n.url, viewport=NARROW, has_touch=True, is_mobile=True)
    assert overflow(page) == 0
    for fragment in ("#rfc8446", "#requirements?", "#sources", "#problems"):
        go(page, fragment)
        assert (fragment, overflow(page)) == (fragment, 0)


@pytest.mark.parametrize("width", [700, 1000, 1089, 1200])
def test_a_real_project_fits_every_width(width: int, visit: Visits, s2n: Report) -> None:
    page = visit(s2n.url, viewport={"width": width, "height": 800})
    for fragment in ("#overview", "#rfc8446", "#requirements?", "#sources", "#problems"):
        go(page, fragment)
        assert (fragment, overflow(page)) == (fragment, 0)


def test_the_panel_is_a_sheet_that_closes(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea", viewport=NARROW, has_touch=True, is_mobile=True)
    page.locator('[id="tea"] pre a').first.tap()
    panel = page.locator("#panel")
    expect(panel).to_be_visible()
    box = panel.bounding_box()
    assert box is not None and (box["x"], box["width"]) == (0, 390)
    assert overflow(page) == 0
    panel.locator(".close").tap()
    expect(panel).to_be_hidden()


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_twice_as_large_is_still_whole(fragment: str, visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}{fragment}", viewport={"width": 640, "height": 512}, device_scale_factor=2)
    assert overflow(page) == 0
    assert page.locator("body *").evaluate_all(LOST) == []


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_room_between_letters_cuts_nothing_off(fragment: str, visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}{fragment}")
    add_style(page, SPACED)
    assert overflow(page) == 0
    assert page.locator("body *").evaluate_all(LOST) == []


def test_the_logo_is_not_cut_off(visit: Visits, reports: Reports) -> None:
    config = CONFIG + '[report.html]\nenabled = true\nlogo = "ACME"\n'
    page = visit(reports.of("logo", PASSING | {".duvet/config.toml": config}).url, viewport=NARROW)
    logo, title = page.locator(".brand").bounding_box(), page.locator(".what").bounding_box()
    assert logo is not None and title is not None
    assert 0 <= logo["y"] < logo["y"] + logo["height"] <= title["y"]
