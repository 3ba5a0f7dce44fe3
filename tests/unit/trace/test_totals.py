"""Counting requirements"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duvet.model import Level, Problem, Severity
from duvet.trace.coverage import RunVerdict, Total, compute_totals, group_totals, judge_run
from duvet.trace.records import Requirement, State, Status
from tests.unit.trace.made import requirement

MADE = st.builds(requirement, st.sampled_from("abc"), st.sampled_from(Level), st.sampled_from(State))
ERROR = Problem("DUV050", "wrong")
WARNING = Problem("DUV051", "odd", severity=Severity.WARNING)


def rows(found: tuple[Total, ...]) -> list[tuple[str, str, tuple[int, ...]]]:
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
        requirement("b", Level.AUTO, State.TO_DO),
        requirement("b", Level.MUST, State.COMPLETE),
        requirement("a", Level.MUST, State.EXCEPTION),
    ]
    assert rows(compute_totals(made)) == [
        ("b", "MUST", (0, 0, 0, 0, 0, 0, 0, 1, 0)),
        ("b", "AUTO", (0, 1, 0, 0, 0, 0, 0, 0, 0)),
        ("b", "all", (0, 1, 0, 0, 0, 0, 0, 1, 0)),
        ("a", "MUST", (0, 0, 0, 0, 0, 1, 0, 0, 0)),
        ("a", "all", (0, 0, 0, 0, 0, 1, 0, 0, 0)),
        ("all", "MUST", (0, 0, 0, 0, 0, 1, 0, 1, 0)),
        ("all", "AUTO", (0, 1, 0, 0, 0, 0, 0, 0, 0)),
        ("all", "all", (0, 1, 0, 0, 0, 1, 0, 1, 0)),
    ]


def test_nothing_adds_up_to_nothing() -> None:
    (total,) = compute_totals([])
    assert rows((total,)) == [("all", "all", (0,) * 9)]
    assert (total.percent, total.words, total.left) == (None, "no requirements", "")


def test_exceptions_are_settled_and_not_done() -> None:
    ##= man/spec/trace.md#coverage
    ##% A requirement MUST be satisfied when each of its bytes is implemented and tested, implied, or excepted with a
    ##% reason, but an exception MUST NOT count towards the percentage done.
    total = Total(None, None, (3, 1, 2, 1, 4, 5, 1, 2, 0))
    assert (total.requirements, total.excepted, total.applicable, total.done, total.percent) == (19, 5, 14, 3, 21)
    assert total.words == "3 of 14 applicable requirements done (21 %), 5 excepted"
    assert total.left == "4 requirements not cited, 3 in progress, 4 without tests"


def test_what_is_not_applicable_is_in_no_number_but_its_own() -> None:
    ##= man/spec/gates.md#not-applicable
    ##% duvet MUST treat the requirements that `[[not-applicable]]` names as not applicable, whatever cites them, and
    ##% count them neither as done nor as applicable.
    total = Total(None, None, (3, 1, 2, 1, 4, 5, 1, 2, 6))
    assert (total.requirements, total.excepted, total.applicable, total.done, total.percent) == (25, 5, 14, 3, 21)
    assert total.words == "3 of 14 applicable requirements done (21 %), 5 excepted, 6 not applicable"
    assert total.left == "4 requirements not cited, 3 in progress, 4 without tests"


def test_where_nothing_is_applicable() -> None:
    total = Total(None, None, (0, 0, 0, 0, 0, 0, 0, 0, 2))
    assert (total.words, total.left) == ("0 of 0 applicable requirements done, 0 excepted, 2 not applicable", "")


def test_where_all_is_excepted_nothing_is_applicable() -> None:
    total = Total(None, None, (0, 0, 0, 0, 0, 2, 0, 0, 0))
    assert (total.words, total.left) == ("0 of 0 applicable requirements done, 2 excepted", "")


def test_one_hundred_percent_is_all_of_them() -> None:
    assert [Total(None, None, (left, 0, 0, 0, 0, 0, 0, 999, 0)).percent for left in (0, 1)] == [100, 99]


def test_errors_fail_and_warnings_do_not() -> None:
    total = Total(None, None, (1, 0, 0, 0, 0, 0, 0, 1, 0))
    done = Total(None, None, (0, 0, 0, 0, 0, 0, 0, 1, 0))
    assert [judge_run(total, [ERROR, WARNING]), judge_run(total, [WARNING]), judge_run(done, [ERROR, ERROR])] == [
        RunVerdict(False, "FAIL: 1 problem, 1 requirement not cited"),
        RunVerdict(True, "PASS: 1 of 2 applicable requirements done (50 %), 0 excepted"),
        RunVerdict(False, "FAIL: 2 problems"),
    ]


@given(st.lists(MADE))
def test_sums_are_sums(made: list[Requirement]) -> None:
    *groups, overall = group_totals(compute_totals(made))
    for group in (*groups, overall):
        levels = [total.counts for total in group[:-1]]
        assert group[-1].counts == tuple(map(sum, zip(*levels, strict=True))) or not levels
    assert sum(group[-1].requirements for group in groups) == overall[-1].requirements == len(made)
    whole = overall[-1]
    assert sum(map(whole.with_status, Status)) == whole.requirements
