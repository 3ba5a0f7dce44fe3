"""What keeps the gates shut, compared with the rules line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from msgspec.structs import replace

from duvet.model import Annotation, Kind, Place, Problem
from duvet.trace.gates import check_gates, find_freed_annotations, find_unimplemented, find_untested
from duvet.trace.records import State, list_requirements
from tests.unit.trace.sections import citing, trace_of
from tests.unit.trace.test_coverage import cited_texts

FRONT, BACK = "The pot", "MUST be warm."
TEXT = f"{FRONT}\n{BACK}"
NOT_CITED, NOT_TESTED = "Specification requirements missing citation.", "Citation missing test."


def told(*annotations: Annotation, citations: bool = True, tests: bool = True) -> list[tuple[str, int]]:
    problems = check_gates(trace_of(TEXT, *annotations), citations=citations, tests=tests)
    return [(one.code, one.place.line) for one in problems]


def test_every_offender_has_a_place() -> None:
    trace = trace_of(
        TEXT, citing(f"{FRONT} {BACK}", Kind.SPEC), citing(FRONT), citing("be warm.", Kind.TEST), citing("", Kind.TODO)
    )
    assert check_gates(trace, citations=True, tests=True) == (
        Problem("DUV062", NOT_CITED, "t.md", Place(3), hint="t.md#t: The pot MUST be warm."),
        Problem("DUV062", NOT_CITED, "t.md", Place(3), hint="t.md#t: be warm."),
        Problem("DUV062", NOT_CITED, "t.md", Place(1), hint="t.md#t: T"),
        Problem("DUV063", NOT_TESTED, "t.md", Place(2), hint="t.md#t: The pot MUST be warm."),
        Problem("DUV063", NOT_TESTED, "t.md", Place(2), hint="t.md#t: The pot"),
    )


def test_a_gate_that_is_not_asked_for_is_open() -> None:
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci` and no snapshot, `duvet report` MUST list the lines of specifications that lack code, or have code
    ##% but no test, except for what `--require-citations false` or `--require-tests false` waives.
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


def test_nothing_is_asked_of_what_is_not_applicable() -> None:
    ##= man/spec/gates.md#not-applicable
    ##% duvet MUST NOT require code or tests for a requirement that is not applicable.
    annotations = citing(FRONT, Kind.SPEC), citing("be warm.", Kind.SPEC), citing("pot"), citing("warm", Kind.TEST)
    trace = trace_of(TEXT, *annotations)
    front, back = list_requirements(trace.coverages[0], annotations)
    not_owed = [replace(one, state=State.NOT_APPLICABLE) for one in (front, back)]
    asked = [
        [
            (one.code, one.place.line)
            for one in check_gates(trace, citations=True, tests=True, freed=find_freed_annotations(requirements))
        ]
        for requirements in ([front, back], [front, not_owed[1]], [not_owed[0], back], not_owed)
    ]
    cited, tested = [("DUV062", 3), ("DUV062", 3)], [("DUV063", 2), ("DUV063", 2)]
    assert asked == [cited + tested, tested, cited, []]


def test_an_annotation_of_two_requirements_is_owed_by_either() -> None:
    annotations = citing(FRONT, Kind.SPEC), citing(BACK, Kind.SPEC), citing(TEXT)
    trace = trace_of(TEXT, *annotations)
    front, back = list_requirements(trace.coverages[0], annotations)
    assert find_freed_annotations([replace(front, state=State.NOT_APPLICABLE), back]) == {0}
    assert find_freed_annotations([replace(one, state=State.NOT_APPLICABLE) for one in (front, back)]) == {0, 1, 2}


def test_requirements_that_lack_code() -> None:
    ##= man/spec/gates.md#gates-for-targets
    ##% duvet MUST list each offender with its target and its place in the specification.
    annotations = citing(FRONT, Kind.SPEC), citing(BACK, Kind.SPEC), citing("be warm."), citing(FRONT)
    coverages = trace_of(TEXT, *annotations).coverages
    found = list_requirements(coverages[0], annotations)
    assert list(find_unimplemented(found)) == [
        Problem(
            "DUV062", "this requirement is not implemented: partial", "t.md", Place(3), hint="t.md#t: MUST be warm."
        )
    ]
    assert list(find_untested(found, coverages)) == [
        Problem(
            "DUV063",
            "this requirement is not tested: missing test",
            "t.md",
            Place(2),
            hint="t.md#t: The pot",
        ),
        Problem(
            "DUV063",
            "this requirement is not tested: partial",
            "t.md",
            Place(3),
            hint="t.md#t: MUST be warm.",
        ),
    ]


@pytest.mark.parametrize("state", State)
def test_a_requirement_passes_by_its_state(state: State) -> None:
    ##= man/spec/gates.md#gates-for-targets
    ##% With a target, even without `--ci`, `--require-citations` MUST list each of its requirements that is not fully
    ##% implemented, and `--require-tests` each one that is neither done nor fully tested.
    lacking_code = (State.UNCITED, State.TO_DO, State.MISSING_IMPLEMENTATION, State.PARTIAL)
    lacking_tests = (State.UNCITED, State.TO_DO, State.PARTIAL, State.MISSING_TEST)
    annotations = citing(FRONT, Kind.SPEC), citing(FRONT, Kind.TEST)
    coverages = trace_of(TEXT, *annotations).coverages
    (stated,) = list_requirements(coverages[0], annotations)
    one = replace(stated, state=state)
    found = [*find_unimplemented([one])], [*find_untested([one], coverages)]
    assert list(map(bool, found)) == [state in lacking_code, state in lacking_tests]


@pytest.mark.parametrize(
    ("others", "codes"),
    [
        ([citing(FRONT), citing(BACK, Kind.TEST)], ["DUV062", "DUV063"]),
        ([citing(FRONT), citing(TEXT, Kind.TEST)], ["DUV062"]),
        ([citing(FRONT, Kind.IMPLICATION), citing(BACK, Kind.TEST)], ["DUV062"]),
        ([citing(FRONT, Kind.EXCEPTION), citing(BACK, Kind.TEST)], ["DUV062", "DUV063"]),
        ([citing(FRONT), citing(FRONT, Kind.TEST)], ["DUV062", "DUV063"]),
    ],
)
def test_a_requirement_of_two_parts(others: list[Annotation], codes: list[str]) -> None:
    ##= man/spec/gates.md#gates-for-targets
    ##% With a target, even without `--ci`, `--require-citations` MUST list each of its requirements that is not fully
    ##% implemented, and `--require-tests` each one that is neither done nor fully tested.
    annotations = (citing(TEXT, Kind.SPEC), *others)
    coverages = trace_of(TEXT, *annotations).coverages
    found = list_requirements(coverages[0], annotations)
    assert [one.code for one in (*find_unimplemented(found), *find_untested(found, coverages))] == codes


def test_the_words_for_what_is_tested_in_part() -> None:
    annotations = citing(TEXT, Kind.SPEC), citing(FRONT), citing(BACK, Kind.TEST)
    coverages = trace_of(TEXT, *annotations).coverages
    (problem,) = find_untested(list_requirements(coverages[0], annotations), coverages)
    assert problem.message == "a part of this requirement is not tested"


@given(cited_texts())
def test_equals_the_plain_rules(cited: tuple[str, tuple[Annotation, ...]]) -> None:
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci` and no snapshot, `duvet report` MUST list the lines of specifications that lack code, or have code
    ##% but no test, except for what `--require-citations false` or `--require-tests false` waives.
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
    problems = check_gates(trace_of(text, *annotations), citations=True, tests=True)
    assert [(one.code, one.place.line, one.hint) for one in problems] == wanted
