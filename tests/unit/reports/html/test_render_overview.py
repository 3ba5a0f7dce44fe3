"""The overview of the HTML report."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.model import Place, Problem, Severity
from duvet.queries.gaps import RequirementFilter, make_priority_rows, prioritize_requirements
from duvet.queries.revisions import SnapshotChange, SnapshotDiff
from duvet.trace.records import Finished, GateResult, compute_totals
from tests.conftest import ROOT
from tests.unit.reports.html.html_pages import page, page_of, write_specifications
from tests.unit.reports.report_projects import STATES, finished

ISSUES = "https://git.example/o/r/issues"
WRONG = Problem("DUV050", "no such text", "src/a.rs", Place(3, 5, 4))
ODD = Problem("DUV051", "odd", severity=Severity.WARNING)


def line(text: str, **given: str) -> SnapshotChange:
    fields = {"specification": "tea.md", "section": "pot", "before": "test", "after": "implementation, test"}
    return SnapshotChange(text=text, **(fields | given))


def overview(report: Finished, **given: Any) -> str:
    return page(report, **given).partition('id="overview">\n')[2].partition('</section>\n<section class="view"')[0]


def test_a_whole_overview_is_rendered(snapshot: Snapshot) -> None:
    report = finished(STATES, None, ISSUES)
    since = SnapshotDiff(
        gained=(line("The pot MUST be warm."),),
        lost=(
            line("It <MAY> be", section="gone", after=""),
            line("a", after="", specification="https://gone.example/", section="b"),
        ),
        removed=(line("b", section="cup"), line("c", before="", after="")),
        added=tuple(line(f"Line {number}", before="") for number in range(10)),
    )
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "html"
    catalogue = page_of(report).catalogue
    rows = make_priority_rows(catalogue, prioritize_requirements(catalogue, RequirementFilter()), 3)
    shown = overview(report, problems=(WRONG, ODD), next=tuple(rows), since=since)
    snapshot.assert_match(shown, "overview.html")


def test_no_change_since_the_snapshot() -> None:
    shown = overview(finished(STATES), since=SnapshotDiff())
    assert "<h3>Changes since the committed snapshot</h3>\n<p>No changes.</p>\n" in shown
    assert "What changed" not in overview(finished(STATES))


HELD = GateResult("snapshot", "snapshot is up to date", 0)
BROKEN = GateResult("citations", "every requirement is cited", 1)


@pytest.mark.parametrize(
    ("gates", "problems", "verdict"),
    [
        ((), (), '<p class="verdict neutral">OK: all {} annotations are valid</p>'),
        ((), (ODD,), '<p class="verdict neutral">OK: all {} annotations are valid</p>'),
        ((HELD,), (ODD,), '<p class="verdict pass">PASS: snapshot is up to date</p>'),
        (
            (HELD, BROKEN),
            (replace(ODD, severity=Severity.ERROR),),
            '<p class="verdict fail">PASS: snapshot is up to date<br>FAIL: citations: 1 problem</p>',
        ),
    ],
)
def test_the_verdict_of_the_run_is_shown(
    gates: tuple[GateResult, ...], problems: tuple[Problem, ...], verdict: str
) -> None:
    report = finished(STATES)
    coverage = compute_totals(report.requirements)[-1]
    begin = f'<h2 tabindex="-1">Overview</h2>\n{verdict.format(report.trace.citation_count)}\n'
    words = f'<p class="coverage">Coverage: {coverage.words}</p>\n'
    assert overview(report, problems=problems, gates=gates).startswith(begin + words)


def test_a_feature_leads_to_its_requirements() -> None:
    files = STATES | {"src/a.rs": STATES["src/a.rs"].replace("feature=cutlery", "feature=the  cutlery")}
    shown = page(finished(files))
    assert 'cutlery</span> <a class="n" href="#requirements?feature=the%20cutlery">1</a>' in shown
    assert shown.count("<i class=f>the cutlery</i>") == 1


def test_the_table_has_no_empty_columns_and_no_repeated_rows() -> None:
    files = write_specifications(1, "# S{}\n\nIt MUST work.\n\nThis MUST shine.\n")
    table = overview(finished(files)).partition('<table class="totals">')[2].partition("</table>")[0]
    heads = re.findall(r'<th scope="col"[^>]*>(?:<span.*?</span>&nbsp;)?(.*?)</th>', table)
    assert heads == ["Specification", "Level", "Done", "Applicable", "Coverage", "Uncited"]
    assert re.findall('<th scope="row">(.*?)</th>', table) == ["MUST"]


@pytest.mark.parametrize(("number", "rows"), [(2, 3 + 3 + 3), (40, 40 * 3 + 3), (41, 41 + 3)])
def test_many_specifications_are_not_listed_by_level(number: int, rows: int) -> None:
    files = write_specifications(number, "# S{}\n\nIt MUST work.\n\nIt MAY shine.\n")
    table = overview(finished(files)).partition("<tbody>")[2].partition("</table>")[0]
    assert table.count("<tr") == rows
