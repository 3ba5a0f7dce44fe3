"""Pages in the report, as people see them."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.slow.browser.reports import Report, Reports
from tests.slow.browser.test_routes import shown
from tests.slow.browser.visits import Visits
from tests.unit.knowledge.pages.made import TRACE
from tests.unit.reports.test_html_notes import NOTES

FIRST = "spec/brewing/38574ef4fa26"


@pytest.fixture(scope="module")
def noted(reports: Reports) -> Report:
    """A project with pages, one of them hostile."""
    hostile = "# <img src=x onerror=alert(1)>\n\n<script>alert(1)</script> </noscript> [a](javascript:alert(1))\n"
    return reports.of("noted", {**TRACE, **NOTES, "docs/hostile.md": hostile})


def test_the_view_and_the_way_between_pages(visit: Visits, noted: Report) -> None:
    page = visit(noted.url)
    page.click("nav.views a[href='#pages']")
    assert shown(page) == ["pages"]
    expect(page.locator("#pages article h3")).to_have_text(["hostile", "Kettle", "Cups & saucers"])
    page.click("article[id='pages/kettle'] >> text=the *cups*")
    assert page.evaluate("location.hash") == "#pages/cups"
    assert shown(page) == ["pages"]


def test_a_link_to_a_page(visit: Visits, noted: Report) -> None:
    page = visit(f"{noted.url}#pages/cups")
    assert shown(page) == ["pages"]
    expect(page.locator("#notice")).to_be_hidden()


def test_a_requirement_leads_to_what_explains_it(visit: Visits, noted: Report) -> None:
    page = visit(f"{noted.url}#{FIRST}")
    page.click("#panel >> text=Kettle")
    assert page.evaluate("location.hash") == "#pages/kettle"
    assert shown(page) == ["pages"]


def test_without_a_script(visit: Visits, noted: Report) -> None:
    page = visit(noted.url, java_script_enabled=False)
    expect(page.locator("article[id='pages/kettle']")).to_contain_text("Linked from: Cups & saucers")


def test_nothing_is_wrong_for_anybody(visit: Visits, noted: Report, axe: str) -> None:
    page = visit(f"{noted.url}#pages")
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']})")
    assert [one["id"] for one in found["violations"]] == []
