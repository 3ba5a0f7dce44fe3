"""The overview says what the terminal, JSON and the exit code say, and leads to what it counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

import pytest
from playwright.sync_api import expect

from tests.slow.browser.projects import FAILING, NO_REQUIREMENTS, NO_SPECIFICATION, PASSING
from tests.slow.browser.reading import SLUGS, counted, go, locators, numbers
from tests.slow.browser.reports import Report, Reports
from tests.slow.browser.visits import Visits
from tests.unit.reports.made_states import FILES

ROW = re.compile(r"^(.+?) +[-\d/ ]+ (\d+)/(\d+) +\d+% +(\d+) +(\d+) +(\d+) +(\d+)$", re.MULTILINE)


OWED = ("complete", "implied", "missing-test", "missing-implementation", "partial", "to-do", "uncited")


@pytest.mark.parametrize(
    ("name", "files", "code", "words"),
    [
        ("passing", PASSING, 0, "PASS: 1 of 2 applicable requirements done (50 %), 0 excepted"),
        ("failing", FAILING, 1, "FAIL: 1 problem, 1 requirement not cited"),
        ("no requirements", NO_REQUIREMENTS, 0, "PASS: no requirements"),
        ("no specification", NO_SPECIFICATION, 0, "PASS: no requirements"),
    ],
)
def test_the_verdict_is_that_of_the_run(
    name: str, files: Mapping[str, str], code: int, words: str, visit: Visits, reports: Reports
) -> None:
    report = reports.of(name, files)
    assert (report.done.code, report.done.err.splitlines()[-1]) == (code, words)
    verdict = visit(report.url).locator("#overview .verdict")
    expect(verdict).to_have_text(words)
    expect(verdict).to_have_class(f"verdict {'fail' if code else 'pass'}")


@pytest.mark.parametrize("project", ["states", "s2n", "h3"])
def test_the_totals_are_those_of_json(project: str, visit: Visits, request: pytest.FixtureRequest) -> None:
    report: Report = request.getfixturevalue(project)
    page = visit(report.url)
    names = locators(page)
    shown: Counter[tuple[str, str, str]] = Counter()
    for one in numbers(page):
        if one.level and one.status in SLUGS and one.amount and one.specification:
            shown[names[one.specification], one.level, SLUGS[one.status]] += one.amount
    assert shown == counted(report)


def test_the_totals_are_those_of_the_terminal(visit: Visits, s2n: Report) -> None:
    page = visit(s2n.url)
    sums: dict[str, Counter[str]] = {}
    for one in numbers(page):
        if one.specification and not one.level and one.status in SLUGS:
            sums.setdefault(one.specification, Counter())[SLUGS[one.status]] += one.amount
    table = [[int(cell) for cell in row[1:]] for row in ROW.findall(s2n.done.err)]
    statuses = ("done", "needs tests", "in progress", "not started", "excepted")
    without_all = [[done, *rest] for done, _, *rest in table[:-1]]
    assert [[counts[status] for status in statuses] for counts in sums.values()] == without_all


def test_exceptions_are_neither_complete_nor_applicable(visit: Visits, states: Report) -> None:
    page = visit(states.url)
    expect(page.locator("#overview")).to_contain_text("2 of 9 applicable requirements done (22 %), 1 excepted")
    found = Counter({one.status: one.amount for one in numbers(page) if not one.level})
    assert (found["complete"], found["implied"], found["exception"]) == (1, 1, 1)
    assert (found["complete,implied"], found[",".join(OWED)]) == (2, 9)


@pytest.mark.parametrize("project", ["states", "s2n"])
def test_every_number_leads_to_as_many_requirements(
    project: str, visit: Visits, request: pytest.FixtureRequest
) -> None:
    report: Report = request.getfixturevalue(project)
    page = visit(report.url)
    found = numbers(page)
    assert len(found) > 8
    for one in found:
        go(page, one.href)
        expect(page.locator("#count")).to_have_text(re.compile(rf"^{one.amount}\b"))
        if one.amount <= 100:
            expect(page.locator("#requirements tbody tr")).to_have_count(one.amount)


def test_features_and_issues_lead_to_their_requirements(visit: Visits, reports: Reports) -> None:
    asked = FILES | {"src/a.rs": FILES["src/a.rs"].replace("tracking-issue=7", "tracking-issue=tea & milk, #7+1")}
    page = visit(reports.of("asked", asked).url)
    links = page.locator("#overview .counts a.n")
    expect(links).to_have_count(4)
    for href in links.evaluate_all("links => links.map(link => link.getAttribute('href'))"):
        go(page, href)
        expect(page.locator("#count")).to_have_text("1 of 10 requirements")


def test_the_legend_explains_every_state(visit: Visits, states: Report) -> None:
    legend = visit(states.url).locator("dl.legend")
    signs = legend.locator("dt").evaluate_all("all => all.map(one => one.textContent.trim().split(/\\s+/)[0])")
    assert set("✗…◑◔◐∅⇒✓•") <= set(signs)
    assert legend.locator("dd").count() == len(signs)
    assert all(legend.locator("dd").evaluate_all("all => all.map(one => one.textContent.trim() !== '')"))
