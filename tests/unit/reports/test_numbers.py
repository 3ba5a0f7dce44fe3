"""Every report says the same"""

from __future__ import annotations

from io import BytesIO

from duvet.reports import json_v1, summary
from duvet.trace.coverage import compute_totals, judge_run
from duvet.trace.records import Finished, State
from tests.unit.reports.made import finished
from tests.unit.reports.made_pages import page
from tests.unit.reports.made_states import FILES


def ended(report: Finished) -> str:
    """The last line of the table that ends a run."""
    out = BytesIO()
    summary.render_summary(report, (), out)
    return out.getvalue().decode().splitlines()[-1]


def test_the_table_and_the_page_end_with_the_totals() -> None:
    report = finished(FILES)
    words = judge_run(compute_totals(report.requirements)[-1], ()).words
    assert words == "PASS: 2 of 9 applicable requirements done (22 %), 1 excepted"
    assert ended(report) == words
    assert f">{words}<" in page(report)


def test_json_counts_the_same_bytes() -> None:
    report = finished(FILES)
    statuses = json_v1.build_json_v1(report)["statuses"].values()
    counts = compute_totals(report.requirements)[-1].counts
    assert sum(one.incomplete == one.spec for one in statuses) == counts[State.UNCITED] + counts[State.TO_DO]
    assert sum(one.implication == one.spec for one in statuses) == counts[State.IMPLIED]
    assert sum(one.citation == one.test == one.spec for one in statuses) == counts[State.COMPLETE]
