"""Counts of states, and the verdict of a run."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from duvet.model import Level, Problem, Severity
from duvet.trace import records
from tests.unit.trace.trace_samples import requirement

MADE = st.builds(requirement, st.sampled_from("abc"), st.sampled_from(Level), st.sampled_from(records.State))
ERROR = Problem("DUV050", "wrong")
WARNING = Problem("DUV051", "odd", severity=Severity.WARNING)


def rows(found: tuple[records.Total, ...]) -> list[tuple[str, str, tuple[int, ...]]]:
    return [
        (
            one.specification.id if one.specification else "all",
            one.level.name if one.level is not None else "all",
            one.counts,
        )
        for one in found
    ]


def test_levels_come_strongest_first_and_sums_last() -> None:
    made = [
        requirement("b", Level.AUTO, records.State.TO_DO),
        requirement("b", Level.MUST, records.State.DONE),
        requirement("a", Level.MUST, records.State.EXCEPTED),
    ]
    assert rows(records.compute_totals(made)) == [
        ("b", "MUST", (0, 0, 0, 0, 0, 0, 1, 0)),
        ("b", "AUTO", (0, 1, 0, 0, 0, 0, 0, 0)),
        ("b", "all", (0, 1, 0, 0, 0, 0, 1, 0)),
        ("a", "MUST", (0, 0, 0, 0, 0, 1, 0, 0)),
        ("a", "all", (0, 0, 0, 0, 0, 1, 0, 0)),
        ("all", "MUST", (0, 0, 0, 0, 0, 1, 1, 0)),
        ("all", "AUTO", (0, 1, 0, 0, 0, 0, 0, 0)),
        ("all", "all", (0, 1, 0, 0, 0, 1, 1, 0)),
    ]


def test_nothing_adds_up_to_nothing() -> None:
    (total,) = records.compute_totals([])
    assert rows((total,)) == [("all", "all", (0,) * 8)]
    assert (total.percent, total.words, total.left) == (None, "no requirements", "")


HALF = "3 uncited, 1 to do, 2 in progress, 1 needs code, 4 need tests"


@pytest.mark.parametrize(
    ("counts", "applicable", "words", "left"),
    [
        ((3, 1, 2, 1, 4, 5, 3, 0), 14, "21 % (3 of 14), 5 excepted", HALF),
        ((3, 1, 2, 1, 4, 5, 3, 6), 14, "21 % (3 of 14), 5 excepted, 6 not applicable", HALF),
        ((0,) * 7 + (2,), 0, "no applicable requirements, 2 not applicable", ""),
        ((0,) * 5 + (2, 0, 0), 0, "no applicable requirements, 2 excepted", ""),
        ((0,) * 6 + (999, 0), 999, "100 % (999 of 999)", ""),
        ((1, *(0,) * 5, 999, 0), 1000, "99 % (999 of 1,000)", "1 uncited"),
    ],
)
def test_totals_count_each_state(counts: tuple[int, ...], applicable: int, words: str, left: str) -> None:
    ##= man/spec/trace.md#coverage
    ##% duvet MUST NOT count an excepted requirement as done.
    total = records.Total(None, None, counts)
    assert (total.requirements, total.applicable, total.excepted) == (sum(counts), applicable, counts[5])
    assert (total.words, total.left) == (words, left)


HELD = records.GateResult("snapshot", "snapshot is up to date", 0)
BROKEN = records.GateResult("citations", "every requirement is cited", 1200)
SKIPPED = records.GateResult("citations", "every requirement is cited", None)


@pytest.mark.parametrize(
    ("problems", "gates", "annotations", "outcome", "lines"),
    [
        ([], (), 1333, "neutral", ("OK: all 1,333 annotations are valid",)),
        ([WARNING], (), 1, "neutral", ("OK: 1 annotation is valid, 1 warning",)),
        ([], (), 0, "neutral", ("OK: no annotations to check",)),
        ([ERROR, WARNING, ERROR], (), 3, "fail", ("2 errors, 1 warning",)),
        ([WARNING], (HELD,), 3, "pass", ("1 warning", "PASS: snapshot is up to date")),
        ([ERROR], (HELD,), 3, "fail", ("1 error", "PASS: snapshot is up to date")),
        (
            [ERROR] * 1200,
            (HELD, BROKEN),
            3,
            "fail",
            ("PASS: snapshot is up to date", "FAIL: citations: 1,200 problems"),
        ),
        ([ERROR], (SKIPPED,), 3, "fail", ("FAIL: citations: not checked because of 1 error",)),
        ([ERROR, WARNING], (SKIPPED,), 3, "fail", ("1 warning", "FAIL: citations: not checked because of 1 error")),
    ],
)
def test_a_run_is_judged(
    problems: list[Problem], gates: tuple[records.GateResult, ...], annotations: int, outcome: str, lines: tuple[str]
) -> None:
    ##= man/spec/gates.md#verdicts
    ##% For each gate, `duvet report` MUST print its name with `PASS` if the gate ran and passed, and with `FAIL`
    ##% otherwise.
    ##= man/spec/gates.md#verdicts
    ##% Without a gate, `duvet report` MUST print `OK` if there are no errors, and the coverage on a separate line.
    verdict = records.judge_run(problems, gates, annotations)
    assert (verdict.outcome, verdict.lines) == (outcome, lines)


@given(st.lists(MADE))
def test_sums_equal_the_sum_of_their_parts(made: list[records.Requirement]) -> None:
    *groups, overall = records.group_totals(records.compute_totals(made))
    for group in (*groups, overall):
        levels = [total.counts for total in group[:-1]]
        assert group[-1].counts == tuple(map(sum, zip(*levels, strict=True))) or not levels
    assert sum(group[-1].requirements for group in groups) == overall[-1].requirements == len(made)
    whole = overall[-1]
    assert sum(whole.counts) == whole.requirements
