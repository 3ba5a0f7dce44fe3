"""The page opens from a file, with nothing else."""

from __future__ import annotations

from tests.browser.reports import Report
from tests.browser.visits import Visits


def test_a_page_asks_for_nothing_but_itself(visit: Visits, states: Report) -> None:
    page = visit(states.url)
    assert page.locator("h1").count() == 1
    assert page.title() != ""
    assert page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)") == []
