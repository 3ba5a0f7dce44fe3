"""Keys without modifiers."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.reports import Report
from tests.slow.browser.visits import Visits, come_back

# In the order of the text: what is a gap, and what is not.
GAPS = ["Pots come first.", "It SHOULD be round.", "It MAY be <b>brown</b>.", "A cup MUST be clean and MUST be dry."]


def quoted(page: Page) -> str:
    """The text of the requirement in the panel."""
    return page.locator("#panel blockquote").inner_text()


def view(page: Page) -> str:
    """The view that is shown."""
    return str(page.locator("main > .view:not([hidden])").get_attribute("id"))


def press(page: Page, *keys: str) -> None:
    """Press keys, one after the other."""
    for key in keys:
        page.keyboard.press(key)


def test_requirements_of_a_specification(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    press(page, "j")
    assert quoted(page) == "Pots come first."
    press(page, "j", "j")
    assert quoted(page) == "It SHOULD be round."
    press(page, "k")
    assert quoted(page) == "The pot MUST be warm."
    press(page, "k", "k")
    assert quoted(page) == "Pots come first."
    expect(page.locator("#panel [role=status]")).to_have_text("No earlier requirement.")
    expect(page.locator("#panel-title")).to_be_focused()


def test_gaps(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    for gap in GAPS:
        press(page, "J")
        assert quoted(page) == gap
    press(page, "J", "J", "J")
    assert quoted(page) == "The pot MUST be warm."
    press(page, "J")
    assert quoted(page) == "The pot MUST be warm."
    expect(page.locator("#panel [role=status]")).to_have_text("No further gap.")
    press(page, "K")
    assert quoted(page) == "Sugar is OPTIONAL."


def test_gaps_of_the_next_specification(visit: Visits, s2n: Report) -> None:
    page = visit(f"{s2n.url}#rfc4492")
    last = page.locator("#rfc4492 .requirements > li:is(.s0, .s1, .s2, .s3, .s4)").last.get_attribute("id")
    page.evaluate("anchor => { location.hash = anchor }", last)
    expect(page.locator("#panel")).to_be_visible()
    page.click("#panel >> text=Next gap")
    assert view(page) != "rfc4492"
    expect(page.locator("#panel-title")).to_be_focused()


def test_rows_of_the_list(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#requirements")
    links = page.locator("#requirements tbody a")
    press(page, "j")
    expect(links.nth(0)).to_be_focused()
    press(page, "j", "j")
    expect(links.nth(2)).to_be_focused()
    press(page, "k")
    expect(links.nth(1)).to_be_focused()
    press(page, *"JJJJJJJJ")
    expect(links.nth(6)).to_be_focused()
    press(page, "Enter")
    assert quoted(page) == "It SHOULD be round."


def test_views(visit: Visits, states: Report) -> None:
    page = visit(states.url)
    for key, name in zip("rspo", ("requirements", "sources", "problems", "overview"), strict=True):
        press(page, "g", key)
        assert view(page) == name
        expect(page.locator(f"#{name} h2")).to_be_focused()


def test_the_filter(visit: Visits, states: Report) -> None:
    page = visit(states.url)
    press(page, "/")
    assert view(page) == "requirements"
    expect(page.locator("#filters [name=q]")).to_be_focused()
    assert page.input_value("#filters [name=q]") == ""
    page.locator("nav.views a").first.focus()
    press(page, "g", "s", "/")
    expect(page.locator("#source-filter [name=q]")).to_be_focused()


def test_escape(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    link = page.locator("pre a").nth(2)
    link.press("Enter")
    expect(page.locator("#panel-title")).to_be_focused()
    press(page, "Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(link).to_be_focused()
    assert page.evaluate("location.hash") == "#tea/pot"


def test_help(visit: Visits, states: Report) -> None:
    page = visit(states.url)
    press(page, "?")
    expect(page.locator("#help")).to_be_visible()
    press(page, "g", "r")
    assert view(page) == "overview"
    press(page, "Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.click("#keys")
    page.click("#help .close")
    expect(page.locator("#help")).to_be_hidden()


def test_keys_are_off_where_one_writes(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#requirements")
    page.focus("#filters [name=q]")
    page.keyboard.type("jkJKc/?gogs")
    assert page.input_value("#filters [name=q]") == "jkJKc/?gogs"
    assert view(page) == "requirements"
    expect(page.locator("#help")).to_be_hidden()
    page.focus("#filters select >> nth=0")
    press(page, "g", "s")
    assert view(page) == "requirements"


@pytest.mark.parametrize("modifier", ["Control", "Alt", "Meta"])
def test_keys_are_off_with_modifiers(visit: Visits, states: Report, modifier: str) -> None:
    page = visit(f"{states.url}#tea")
    held = {"Control": "ctrlKey", "Alt": "altKey", "Meta": "metaKey"}[modifier]
    for key in "jJ?":
        page.locator("body").dispatch_event("keydown", {"key": key, held: True})
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator("#help")).to_be_hidden()


def test_keys_can_be_turned_off(visit: Visits, states: Report) -> None:
    ##= man/spec/page.md#working-with-the-report
    ##% Keyboard shortcuts MUST be optional, and MUST NOT act in fields or together with Ctrl, Alt or Meta.
    page = visit(f"{states.url}#tea")
    press(page, "?")
    page.uncheck("#keys-on")
    press(page, "Escape", "j")
    expect(page.locator("#panel")).to_be_hidden()
    come_back(page, keys="off")
    press(page, "j", "?")
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator("#help")).to_be_hidden()
    page.click("#keys")
    page.check("#keys-on")
    press(page, "Escape", "j")
    expect(page.locator("#panel")).to_be_visible()
