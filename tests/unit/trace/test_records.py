"""Requirements with their states."""

from __future__ import annotations

import pytest
from blake3 import blake3

from duvet.model import Annotation, Kind, Level
from duvet.trace.records import Requirement, State, Status, list_requirements
from tests.unit.trace.made import citing, trace_of

TEXT = "The pot MUST be warm."
# On two lines, so that no blank between the halves is left over.
WRAPPED = "The pot\nMUST be warm."
FRONT, BACK = "The pot", "MUST be warm."
SPEC = citing(TEXT, Kind.SPEC, 9, Level.MUST)


def found(text: str, *annotations: Annotation) -> tuple[Requirement, ...]:
    trace = trace_of(text, *annotations)
    assert [one for one in trace.problems if one.code != "DUV051"] == []
    return list_requirements(trace.coverages[0], annotations)


def done(quote: str) -> tuple[Annotation, ...]:
    return citing(quote), citing(quote, Kind.TEST)


def todo(quote: str) -> Annotation:
    return citing(quote, Kind.TODO)


def implied(quote: str) -> Annotation:
    return citing(quote, Kind.IMPLICATION)


def excepted(quote: str, reason: str = "why") -> Annotation:
    return citing(quote, Kind.EXCEPTION, reason=reason)


@pytest.mark.parametrize(
    ("annotations", "state"),
    [
        ((), State.UNCITED),
        ((todo(TEXT),), State.TO_DO),
        ((todo(FRONT),), State.TO_DO),
        ((citing(TEXT),), State.MISSING_TEST),
        ((citing(TEXT, Kind.TEST),), State.MISSING_IMPLEMENTATION),
        ((citing(FRONT, Kind.TEST),), State.PARTIAL),
        ((citing(FRONT),), State.PARTIAL),
        ((citing(FRONT), todo(BACK)), State.PARTIAL),
        ((citing(FRONT), citing(BACK, Kind.TEST)), State.MISSING_IMPLEMENTATION),
        ((citing(FRONT), citing(BACK)), State.MISSING_TEST),
        (done(TEXT), State.COMPLETE),
        ((citing(TEXT), citing(FRONT, Kind.TEST), citing(BACK, Kind.TEST)), State.COMPLETE),
        ((citing(TEXT), citing(FRONT, Kind.TEST)), State.MISSING_TEST),
        ((*done(FRONT), implied(BACK)), State.IMPLIED),
        ((implied(TEXT),), State.IMPLIED),
        ((implied(FRONT),), State.PARTIAL),
        ((implied(TEXT), *done(TEXT)), State.COMPLETE),
        ((excepted(TEXT),), State.EXCEPTION),
        ((excepted(TEXT, reason=""),), State.MISSING_TEST),
        ((excepted(TEXT, reason=" "),), State.MISSING_TEST),
        ((excepted(FRONT), implied(BACK)), State.EXCEPTION),
        ((excepted(FRONT), citing(BACK)), State.MISSING_TEST),
        ((excepted(FRONT), *done(BACK)), State.EXCEPTION),
        ((excepted(FRONT),), State.PARTIAL),
        ((excepted(TEXT, reason=""), *done(TEXT)), State.COMPLETE),
    ],
)
def test_states(annotations: tuple[Annotation, ...], state: State) -> None:
    (requirement,) = found(WRAPPED, SPEC, *annotations)
    assert (requirement.state, requirement.status) == (state, state.status)


def test_a_blank_between_two_halves_of_a_line_is_a_byte_too() -> None:
    (requirement,) = found(TEXT, SPEC, implied(FRONT), implied(BACK))
    assert requirement.state is State.PARTIAL


def test_statuses_and_words() -> None:
    assert [(state.words, state.status.words) for state in State] == [
        ("uncited", "not started"),
        ("to do", "not started"),
        ("missing implementation", "in progress"),
        ("partial", "in progress"),
        ("missing test", "needs tests"),
        ("exception", "done"),
        ("implied", "done"),
        ("complete", "done"),
        ("not applicable", "done"),
    ]
    assert sorted(Status) == [Status.NOT_STARTED, Status.IN_PROGRESS, Status.NEEDS_TESTS, Status.DONE]


def test_every_field() -> None:
    annotations = citing(FRONT), SPEC, citing(TEXT, Kind.TEST)
    trace = trace_of(WRAPPED, *annotations)
    (requirement,) = list_requirements(trace.coverages[0], annotations)
    specification = trace.coverages[0].specification
    assert requirement == Requirement(
        specification,
        specification.sections[0],
        TEXT,
        Level.MUST,
        State.MISSING_IMPLEMENTATION,
        tuple(match for match in trace.coverages[0].matches if 1 in match.ids),
        (1,),
        (0, 2),
    )


def test_requirements_are_in_the_order_of_the_text() -> None:
    text = "A MUST b1.\nC MAY d1.\nE SHOULD f1."
    quotes = ["E SHOULD f1.", "A MUST b1.", "C MAY d1."]
    assert [one.text for one in found(text, *(citing(quote, Kind.SPEC) for quote in quotes))] == sorted(quotes)


def test_equal_sentences_are_one_requirement() -> None:
    text = "It MUST\tbe.\nIt MUST be."
    first, other = citing("It MUST\tbe.", Kind.SPEC, 1, Level.SHOULD), citing("It MUST be.", Kind.SPEC, 2, Level.MUST)
    (requirement,) = found(text, first, other, citing("It MUST\tbe."), citing("It MUST\tbe.", Kind.TEST))
    assert (requirement.text, requirement.ids, requirement.level) == ("It MUST be.", (0, 1), Level.MUST)
    assert (requirement.state, requirement.related) == (State.UNCITED, (2, 3))


def test_neither_spacing_nor_wrapping_makes_another_requirement() -> None:
    quotes = "It (A) MUST be.", "It ( A ) MUST be."
    (requirement,) = found("\n".join(quotes), *(citing(quote, Kind.SPEC) for quote in quotes))
    assert (requirement.text, requirement.ids) == (quotes[0], (0, 1))
    (one,) = found("It MUST\nbe.", citing("It MUST be.", Kind.SPEC))
    (other,) = found("x\n\nIt\nMUST be.", citing("It MUST be.", Kind.SPEC))
    assert one.id == other.id == blake3(b"It MUST be.").hexdigest()


def test_a_requirement_of_one_byte_covers_nothing() -> None:
    ##= man/spec/trace.md#requirements
    ##% An annotation of type `spec` MUST be a requirement, whatever its text is.
    (requirement,) = found("a b", citing("a", Kind.SPEC), citing("a"))
    assert (requirement.state, requirement.related) == (State.UNCITED, ())


def test_a_requirement_may_be_a_title() -> None:
    (requirement,) = found("ab", citing("", Kind.SPEC), *done(""))
    assert (requirement.text, requirement.state, requirement.related) == ("", State.COMPLETE, (1, 2))
