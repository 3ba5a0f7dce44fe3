"""The page opens from a file, with nothing else."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.slow.browser.projects import CONFIG, PASSING
from tests.slow.browser.reading import go
from tests.slow.browser.reports import Report, Reports
from tests.slow.browser.visits import Visits


def test_a_page_asks_for_nothing_but_itself(visit: Visits, states: Report) -> None:
    ##= man/spec/page.md#safety
    ##% The report MUST NOT load anything from elsewhere, and MUST link only to itself and the web.
    page = visit(states.url)
    assert page.locator("h1").count() == 1
    assert page.title() != ""
    assert page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)") == []


@pytest.mark.parametrize(
    ("project", "title"),
    [
        ("states", "Requirements report: Tea & <biscuits>"),
        ("s2n", "aws/s2n-tls: requirements report"),
        ("h3", "hyperium/h3: requirements report"),
    ],
)
def test_the_title_names_the_project(project: str, title: str, visit: Visits, request: pytest.FixtureRequest) -> None:
    report: Report = request.getfixturevalue(project)
    page = visit(report.url)
    assert page.title() == f"Overview · {title}"
    expect(page.locator("h1")).to_have_text(title)


def test_a_project_can_give_its_own_title(visit: Visits, reports: Reports) -> None:
    config = f'{CONFIG}\n[report.html]\ntitle = "Tea for <two>"\n'
    page = visit(reports.of("titled", {**PASSING, ".duvet/config.toml": config}).url)
    assert page.title() == "Overview · Tea for <two>"
    expect(page.locator("h1")).to_have_text("Tea for <two>")


@pytest.mark.parametrize("fragment", ["#rfc8446", "#requirements?", "#sources", "#problems"])
def test_no_view_asks_for_anything(fragment: str, visit: Visits, s2n: Report) -> None:
    page = visit(s2n.url)
    go(page, fragment)
    assert page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)") == []
