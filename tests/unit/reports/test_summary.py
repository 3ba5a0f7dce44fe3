"""The table that ends a run"""

from __future__ import annotations

from io import BytesIO
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.model import Level
from duvet.reports.cells import measure_width
from duvet.reports.summary import render_summary
from duvet.trace.records import Finished, Requirement, State
from tests.conftest import ROOT
from tests.unit.trace.made import finished, requirement

LEVELS = (Level.MUST, Level.SHOULD, Level.MAY)
OWED = tuple(state for state in State if state is not State.NOT_APPLICABLE)
ONE = finished(*(requirement("RFC 2324", Level.MUST, state) for state in OWED))
SEVERAL = finished(
    *(requirement("RFC 2324", level, State.COMPLETE) for level in Level),
    *(requirement("飲み物の仕様", Level.MUST, state) for state in (State.UNCITED, State.IMPLIED)),
    *(requirement("Cafe\N{COMBINING ACUTE ACCENT}\x1b[31m", Level.MAY, state) for state in (State.EXCEPTION,)),
    cited=("RFC 1", "RFC 2"),
)
FORTY = finished(
    *(
        requirement(f"A specification with a rather long name, number {number}", level, state)
        for number, level, state, _ in product(range(40), LEVELS, OWED, range(5))
    )
)


def summary(report: Finished) -> str:
    out = BytesIO()
    render_summary(report, (), out)
    return out.getvalue().decode()


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("none", finished()),
        ("cited_only", finished(cited=("RFC 1",))),
        ("one", ONE),
        ("several", SEVERAL),
        ("not_applicable", finished(*(requirement(name, Level.MUST, state) for name in "ab" for state in State))),
        ("forty", FORTY),
    ],
)
def test_tables(name: str, report: Finished, snapshot: Snapshot) -> None:
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "summary"
    snapshot.assert_match(summary(report), f"{name}.txt")


@given(
    st.lists(
        st.builds(requirement, st.text(min_size=1, max_size=60), st.sampled_from(Level), st.sampled_from(State)),
        max_size=8,
    )
)
def test_no_name_breaks_the_table(made: list[Requirement]) -> None:
    lines = summary(finished(*made)).splitlines()
    assert all(measure_width(line) <= 100 and line.isprintable() for line in lines)
