"""The requirements and lines that fail a gate, compared with the rules line by line."""

from __future__ import annotations

from hypothesis import given
from msgspec.structs import replace

from duvet.model import Annotation, Kind
from duvet.text import quote_text, shorten_text
from duvet.trace.catalogue import State
from duvet.trace.gates import check_gates, find_incomplete, find_not_applicable_annotations
from duvet.trace.records import Requirement, list_requirements
from tests.problems import show_problem
from tests.unit.trace.trace_samples import cited_texts, citing, trace_of

FRONT, BACK = "The pot", "MUST be warm."
TEXT = f"{FRONT}\n{BACK}"
CODE, TEST = "cite t.md#t in the code that implements it", "cite t.md#t in the test that checks it"


def stated(*annotations: Annotation) -> tuple[Requirement, ...]:
    coverages = trace_of(TEXT, *annotations).coverages
    return list_requirements(coverages[0], annotations)


def test_every_offender_has_a_place() -> None:
    trace = trace_of(
        TEXT, citing(f"{FRONT} {BACK}", Kind.SPEC), citing(FRONT), citing("be warm.", Kind.TEST), citing("", Kind.TODO)
    )
    assert list(map(show_problem, check_gates(trace, citations=True, tests=True))) == [
        't.md:3 DUV062 no code cites "The pot MUST be warm."; cite t.md#t in the code that implements it',
        't.md:3 DUV062 no code cites "be warm."; cite t.md#t in the code that implements it',
        't.md:1 DUV062 no code cites "T"; cite t.md#t in the code that implements it',
        't.md:2 DUV063 no test cites "The pot MUST be warm."; cite t.md#t in the test that checks it',
        't.md:2 DUV063 no test cites "The pot"; cite t.md#t in the test that checks it',
    ]
    for citations, tests, codes in ((False, True, ["DUV063"] * 2), (True, False, ["DUV062"] * 3), (False, False, [])):
        assert [one.code for one in check_gates(trace, citations=citations, tests=tests)] == codes


def test_nothing_is_asked_of_what_is_not_applicable() -> None:
    ##= man/spec/gates.md#not-applicable
    ##% duvet MUST NOT count a requirement that `[[not-applicable]]` names, or require code or tests for it, even if
    ##% code cites it.
    annotations = citing(FRONT, Kind.SPEC), citing("be warm.", Kind.SPEC), citing("pot"), citing("warm", Kind.TEST)
    trace = trace_of(TEXT, *annotations)
    front, back = list_requirements(trace.coverages[0], annotations)
    free_front, free_back = (replace(one, state=State.NOT_APPLICABLE) for one in (front, back))
    cited, tested = [("DUV062", 3), ("DUV062", 3)], [("DUV063", 2), ("DUV063", 2)]
    for requirements, expected in (
        ([front, back], cited + tested),
        ([front, free_back], tested),
        ([free_front, back], cited),
        ([free_front, free_back], []),
    ):
        problems = check_gates(trace, citations=True, tests=True, freed=find_not_applicable_annotations(requirements))
        assert [(one.code, one.place.line) for one in problems] == expected


def test_an_annotation_of_two_requirements_is_owed_by_either() -> None:
    front, back = stated(citing(FRONT, Kind.SPEC), citing(BACK, Kind.SPEC), citing(TEXT))
    assert find_not_applicable_annotations([replace(front, state=State.NOT_APPLICABLE), back]) == {0}
    assert find_not_applicable_annotations([replace(one, state=State.NOT_APPLICABLE) for one in (front, back)]) == {
        0,
        1,
        2,
    }


def test_requirements_that_lack_code_or_tests() -> None:
    found = stated(citing(FRONT, Kind.SPEC), citing(BACK, Kind.SPEC), citing("be warm."), citing(FRONT))
    assert [
        show_problem(one) for one in (*find_incomplete(found, tests=False), *find_incomplete(found, tests=True))
    ] == [
        f't.md:3 DUV062 "MUST be warm." is not fully implemented (in progress); {CODE}',
        f't.md:2 DUV063 "The pot" is not fully tested (needs tests); {TEST}',
        f't.md:3 DUV063 "MUST be warm." is not fully tested (in progress); {TEST}',
    ]


def test_a_requirement_passes_by_its_state() -> None:
    ##= man/spec/gates.md#gates-for-targets
    ##% `--require-citations TARGET` MUST list the requirements of the target in the states `uncited`, `to do`, `in
    ##% progress` and `needs code`, and `--require-tests TARGET` those in the states `uncited`, `to do`, `in progress`
    ##% and `needs tests`.
    lacking_code = (State.UNCITED, State.TO_DO, State.IN_PROGRESS, State.NEEDS_CODE)
    lacking_tests = (State.UNCITED, State.TO_DO, State.IN_PROGRESS, State.NEEDS_TESTS)
    (requirement,) = stated(citing(FRONT, Kind.SPEC), citing(FRONT, Kind.TEST))
    for state in State:
        one = [replace(requirement, state=state)]
        found = [*find_incomplete(one, tests=False)], [*find_incomplete(one, tests=True)]
        assert list(map(bool, found)) == [state in lacking_code, state in lacking_tests]


@given(cited_texts())
def test_equals_the_plain_rules(cited: tuple[str, tuple[Annotation, ...]]) -> None:
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
        (code, min(shut.intersection(own)) + 2, f"cites {quote_text(shorten_text(quote))}")
        for code, shut in gates
        for quote, own in lines_of.items()
        if shut.intersection(own)
    ]
    problems = check_gates(trace_of(text, *annotations), citations=True, tests=True)
    assert [(one.code, one.place.line, one.message.partition(" ")[2].partition(" ")[2]) for one in problems] == wanted
