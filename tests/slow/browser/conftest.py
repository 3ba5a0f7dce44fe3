"""A browser for the tests of the HTML report, and the reports."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.bench.measure import FailedError
from tests.bench.pages import chromium
from tests.slow.browser.reports import Report, Reports
from tests.unit.knowledge.pages.page_projects import TRACE
from tests.unit.reports.html.test_notes import NOTES
from tests.unit.reports.report_projects import STATES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.slow.browser.pages import Visits


def lacking(what: str) -> None:
    if os.environ.get("DUVET_REQUIRE_BROWSER"):
        pytest.fail(f"{what}, and DUVET_REQUIRE_BROWSER is set")
    pytest.skip(what)


# The driver keeps an event loop running, which other tests must not meet.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    try:
        with chromium() as browser:
            yield browser
    except FailedError as error:
        lacking(str(error))


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visits]:
    from tests.slow.browser.pages import Visits

    visits = Visits(browser)
    yield visits
    visits.close()
    assert visits.faults == []


@pytest.fixture(scope="session")
def reports(duvet_command: str, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    return Reports(duvet_command, tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="session")
def states(reports: Reports) -> Report:
    return reports.of("states", STATES)


@pytest.fixture(scope="session")
def s2n(reports: Reports, shared: Path) -> Report:
    return reports.golden(shared, "s2n-tls-132053b")


@pytest.fixture(scope="session")
def h3(reports: Reports, shared: Path) -> Report:
    return reports.golden(shared, "h3-704b37a")


@pytest.fixture(scope="session")
def noted(reports: Reports) -> Report:
    hostile = "# <img src=x onerror=alert(1)>\n\n<script>alert(1)</script> </noscript> [a](javascript:alert(1))\n"
    return reports.of("noted", {**TRACE, **NOTES, "docs/hostile.md": hostile})


@pytest.fixture(scope="session")
def axe() -> str:
    path = os.environ.get("DUVET_AXE")
    if not path:
        lacking("DUVET_AXE doesn't name axe.min.js: npm install axe-core brings it")
    return Path(str(path)).read_text()
