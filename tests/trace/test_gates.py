"""What keeps the gates shut, compared with the rules line by line."""

from __future__ import annotations

import pytest
from hypothesis import given

from duvet.model import Annotation, Kind, Place, Problem
from duvet.trace.gates import check
from tests.trace.sections import citing, trace_of
from tests.trace.test_coverage import cited_texts

FRONT, BACK = "The pot", "MUST be warm."
TEXT = f"{FRONT}\n{BACK}"
NOT_CITED, NOT_TESTED = "Specification requirements missing citation.", "Citation missing test."


def told(*annotations: Annotation, citations: bool = True, tests: bool = True) -> list[tuple[str, int]]:
    problems = check(trace_of(TEXT, *annotations), citations=citations, tests=tests)
    return [(one.code, one.place.line) for one in problems]


def test_every_offender_has_a_place() -> None:
    trace = trace_of(
        TEXT, citing(f"{FRONT} {BACK}", Kind.SPEC), citing(FRONT), citing("be warm.", Kind.TEST), citing("", Kind.TODO)
    )
    assert check(trace, citations=True, tests=True) == (
        Problem("DUV062", NOT_CITED, "t.md", Place(3), hint="t.md#t: The pot MUST be warm."),
        Problem("DUV062", NOT_CITED, "t.md", Place(3), hint="t.md#t: be warm."),
        Problem("DUV062", NOT_CITED, "t.md", Place(1), hint="t.md#t: T"),
        Problem("DUV063", NOT_TESTED, "t.md", Place(2), hint="t.md#t: The pot MUST be warm."),
        Problem("DUV063", NOT_TESTED, "t.md", Place(2), hint="t.md#t: The pot"),
    )


def test_a_gate_that_is_not_asked_for_is_open() -> None:
    ##= man/spec/trace.md#gates
    ##% With `--require-citations false` or `--require-tests false`, what lacks code or tests MUST NOT be named.
    annotations = citing(FRONT, Kind.SPEC), citing(BACK)
    assert told(*annotations) == [("DUV062", 2), ("DUV063", 3)]
    assert told(*annotations, citations=False) == [("DUV063", 3)]
    assert told(*annotations, tests=False) == [("DUV062", 2)]
    assert told(*annotations, citations=False, tests=False) == []


@pytest.mark.parametrize("kind", [Kind.EXCEPTION, Kind.IMPLICATION])
def test_what_needs_neither_code_nor_test(kind: Kind) -> None:
    assert told(citing(FRONT, Kind.SPEC), citing(FRONT, kind)) == []


def test_any_part_of_a_line_covers_it() -> None:
    assert told(citing(f"{FRONT} {BACK}", Kind.SPEC), citing("pot MUST"), citing("pot MUST", Kind.TEST)) == []


def test_a_test_alone_asks_for_code_and_not_for_tests() -> None:
    assert told(citing(FRONT, Kind.TEST)) == [("DUV062", 2)]


def test_nothing_is_asked_of_what_nobody_refers_to() -> None:
    assert told() == []


@given(cited_texts())
def test_equals_the_plain_rules(cited: tuple[str, tuple[Annotation, ...]]) -> None:
    ##= man/spec/trace.md#gates
    ##% With `--ci` and no snapshot, what is quoted on a line that has no code, or code and no test, MUST be named.
    text, annotations = cited
    flat = text.replace("\n", " ")
    starts = {one.quote: flat.find(one.quote) for one in annotations}
    lines_of = {
        quote: [text.count("\n", 0, at) for at in range(start, start + len(quote)) if text[at] != "\n"]
        for quote, start in starts.items()
    }

    def lines(*kinds: Kind) -> set[int]:
        return {line for one in annotations if one.kind in kinds for line in lines_of[one.quote]}

    working = lines(Kind.CITATION, Kind.EXCEPTION, Kind.IMPLICATION)
    gates = [
        ("DUV062", lines(*Kind) - working),
        ("DUV063", working - lines(Kind.TEST, Kind.EXCEPTION, Kind.IMPLICATION)),
    ]
    wanted = [
        (code, min(shut.intersection(own)) + 2, f"t.md#t: {quote}")
        for code, shut in gates
        for quote, own in lines_of.items()
        if shut.intersection(own)
    ]
    problems = check(trace_of(text, *annotations), citations=True, tests=True)
    assert [(one.code, one.place.line, one.hint) for one in problems] == wanted
