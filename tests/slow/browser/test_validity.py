"""The page is HTML without a mistake, and the same whenever and wherever it is made."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import html5lib
import pytest

from tests.slow.browser.projects import FAILING, NO_REQUIREMENTS, NO_SECTIONS, NO_SPECIFICATION, PASSING
from tests.slow.browser.reports import Report, Reports
from tests.slow.browser.test_hostile import TARGET, files
from tests.slow.browser.visits import Visits
from tests.unit.reports.made_states import FILES

PROJECTS: Mapping[str, Mapping[str, str]] = {
    "states": FILES,
    "passing": PASSING,
    "failing": FAILING,
    "no requirements": NO_REQUIREMENTS,
    "no specification": NO_SPECIFICATION,
    "no sections": NO_SECTIONS,
    "hostile": files(TARGET),
}


def mistakes(html: str, *, scripting: bool) -> list[object]:
    """What a strict reader objects to."""
    parser = html5lib.HTMLParser()
    parser.parse(html, scripting=scripting)
    return list(parser.errors)


@pytest.mark.parametrize("scripting", [True, False])
@pytest.mark.parametrize("name", PROJECTS)
def test_pages_have_no_mistakes(name: str, scripting: bool, reports: Reports) -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST be valid HTML, whatever it contains, and readable without scripts.
    assert mistakes(reports.of(name, PROJECTS[name]).html, scripting=scripting) == []


@pytest.mark.parametrize("scripting", [True, False])
def test_the_page_of_a_real_project_has_no_mistakes(scripting: bool, s2n: Report) -> None:
    assert mistakes(s2n.html, scripting=scripting) == []


@pytest.mark.parametrize("project", ["states", "s2n"])
@pytest.mark.parametrize("script", [True, False])
def test_ids_are_unique(project: str, script: bool, visit: Visits, request: pytest.FixtureRequest) -> None:
    report: Report = request.getfixturevalue(project)
    page = visit(report.url, java_script_enabled=script)
    ids = Counter(page.locator("[id]").evaluate_all("all => all.map(one => one.id)"))
    assert [id for id, count in ids.items() if count > 1] == []


def test_the_same_input_makes_the_same_page(states: Report, duvet_command: str, tmp_path: Path) -> None:
    folder = tmp_path / "else where"
    shutil.copytree(states.folder, folder, ignore=shutil.ignore_patterns("cache", "reports"))
    again = Report(duvet_command, folder, LANG="de_DE.UTF-8", LC_ALL="C", TZ="Asia/Tokyo", PYTHONHASHSEED="7")
    assert again.html == states.html


def test_a_second_run_makes_the_same_page(states: Report, duvet_command: str) -> None:
    first = states.html
    assert Report(duvet_command, states.folder, "--no-cache").html == first
