import json
import re
from itertools import product

from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.model import Level
from duvet.reports.cells import TableLook, measure_width
from duvet.trace.catalogue import State
from duvet.trace.records import Requirement, compute_totals
from tests.unit.reports.report_projects import STATES, finished as finished_of, json_v1_of, not_applicable, summary_of
from tests.unit.trace.trace_samples import finished, requirement

LEVELS = (Level.MUST, Level.SHOULD, Level.MAY)
OWED = tuple(state for state in State if state is not State.NOT_APPLICABLE)
ONE = finished(*(requirement("RFC 2324", Level.MUST, state) for state in OWED))
SEVERAL = finished(
    *(requirement("RFC 2324", level, State.DONE) for level in Level),
    *(requirement("飲み物の仕様", Level.MUST, state) for state in (State.UNCITED, State.NEEDS_CODE)),
    *(requirement("Cafe\N{COMBINING ACUTE ACCENT}\x1b[31m", Level.MAY, state) for state in (State.EXCEPTED,)),
    cited=("RFC 1", "RFC 2"),
)
FORTY = finished(
    *(
        requirement(f"A specification with a rather long name, number {number}", level, state)
        for number, level, state, _ in product(range(40), LEVELS, OWED, range(5))
    )
)


def test_summaries_match_their_golden_files(snapshot: Snapshot) -> None:
    for name, report in {
        "none": finished(),
        "cited_only": finished(cited=("RFC 1",)),
        "one": ONE,
        "several": SEVERAL,
        "not_applicable": finished(*(requirement(name, Level.MUST, state) for name in "ab" for state in State)),
        "entries": not_applicable(),
        "forty": FORTY,
    }.items():
        snapshot.assert_match(summary_of(report), f"summary/{name}.txt")
    for width in (40, 60, 80, 120):
        snapshot.assert_match(summary_of(FORTY, TableLook(width)), f"summary/width_{width}.txt")
    report = finished(*(requirement(name, Level.MUST, State.DONE) for name in "ab"), *ONE.requirements)
    text = summary_of(report, TableLook(colour=True))
    snapshot.assert_match(text.replace("\x1b", "ESC"), "summary/colours.txt")
    assert re.sub("\x1b[^m]*m", "", text) == summary_of(report)


@given(
    st.lists(
        st.builds(requirement, st.text(min_size=1, max_size=60), st.sampled_from(Level), st.sampled_from(State)),
        max_size=8,
    ),
    st.integers(20, 140),
)
def test_no_name_breaks_the_table(made: list[Requirement], width: int) -> None:
    *table, _, _ = summary_of(finished(*made), TableLook(width)).splitlines()
    assert all(measure_width(line) <= width and line.isprintable() for line in table)


def test_json_counts_the_same_requirements() -> None:
    report = finished_of(STATES)
    counts = compute_totals(report.requirements)[-1].counts
    statuses = json.loads(json_v1_of(report))["statuses"].values()
    empty = counts[State.UNCITED] + counts[State.TO_DO]
    assert sum(one.get("incomplete", 0) == one["spec"] for one in statuses) == empty
    done = (
        one.get("citation") == one.get("test") == one["spec"] or one.get("implication") == one["spec"]
        for one in statuses
    )
    assert sum(done) == counts[State.DONE]
