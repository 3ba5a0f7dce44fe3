"""Requirements and their states."""

from __future__ import annotations

import pytest
from blake3 import blake3

from duvet.model import Annotation, Kind, Level
from duvet.trace.records import Requirement, State, list_requirements
from tests.unit.trace.trace_samples import citing, trace_of

TEXT = "The pot MUST be warm."
# On two lines, so that no blank between the halves is left over.
WRAPPED = "The pot\nMUST be warm."
FRONT, BACK = "The pot", "MUST be warm."
SPEC = citing(TEXT, Kind.SPEC, 9, Level.MUST)


def find_requirements(text: str, *annotations: Annotation) -> tuple[Requirement, ...]:
    trace = trace_of(text, *annotations)
    assert [one for one in trace.problems if one.code != "DUV051"] == []
    return list_requirements(trace.coverages[0], annotations)


def cited(whole: str, front: str = "", back: str = "") -> list[Annotation]:
    """Annotate the requirement and its halves: c citation, t test, i implication, e exception, d todo.

    An exception with `x` has no reason, and one with `y` a blank one.
    """
    kinds = {"c": Kind.CITATION, "t": Kind.TEST, "i": Kind.IMPLICATION, "d": Kind.TODO}
    reasons = {"e": "why", "y": " "}
    parts = ((TEXT, whole), (FRONT, front), (BACK, back))
    return [
        citing(text, kinds.get(sign, Kind.EXCEPTION), reason=reasons.get(sign, ""))
        for text, signs in parts
        for sign in signs
    ]


STATES: dict[State, list[tuple[str, str, str]]] = {
    State.UNCITED: [("", "", "")],
    State.TO_DO: [("d", "", ""), ("", "d", "")],
    State.IN_PROGRESS: [
        *(("", "t", ""), ("", "c", ""), ("", "c", "d"), ("", "i", ""), ("", "e", ""), ("", "c", "t")),
        *(("x", "", ""), ("y", "", ""), ("", "x", "ct"), ("", "x", "t")),
    ],
    State.NEEDS_CODE: [("t", "", ""), ("t", "c", ""), ("t", "x", ""), ("", "e", "t"), ("", "i", "t")],
    State.NEEDS_TESTS: [("c", "", ""), ("", "c", "c"), ("c", "t", ""), ("cx", "", ""), ("", "e", "c")],
    State.EXCEPTED: [("e", "", ""), ("", "e", "i"), ("", "e", "ct"), ("et", "", "")],
    State.DONE: [("ct", "", ""), ("c", "t", "t"), ("ict", "", ""), ("xct", "", ""), ("", "ct", "i"), ("i", "", "")],
}


@pytest.mark.parametrize("state", STATES)
def test_each_tally_has_a_state(state: State) -> None:
    for signs in STATES[state]:
        (requirement,) = find_requirements(WRAPPED, SPEC, *cited(*signs))
        assert requirement.state is state, signs
    # A blank between two halves of a line is a byte, too.
    (requirement,) = find_requirements(TEXT, SPEC, *cited("", "i", "i"))
    assert requirement.state is State.IN_PROGRESS


def test_states_have_an_order_and_words() -> None:
    assert [state.words for state in sorted(State)] == [
        *("uncited", "to do", "in progress", "needs code", "needs tests", "excepted", "done", "not applicable")
    ]


def test_every_field_of_a_requirement_is_set() -> None:
    annotations = citing(FRONT), SPEC, citing(TEXT, Kind.TEST)
    trace = trace_of(WRAPPED, *annotations)
    (requirement,) = list_requirements(trace.coverages[0], annotations)
    specification = trace.coverages[0].specification
    assert requirement == Requirement(
        specification,
        specification.sections[0],
        TEXT,
        Level.MUST,
        State.NEEDS_CODE,
        tuple(match for match in trace.coverages[0].matches if 1 in match.ids),
        (1,),
        (0, 2),
    )


def test_requirements_are_in_the_order_of_the_text() -> None:
    text = "A MUST b1.\nC MAY d1.\nE SHOULD f1."
    quotes = ["E SHOULD f1.", "A MUST b1.", "C MAY d1."]
    assert [one.text for one in find_requirements(text, *(citing(quote, Kind.SPEC) for quote in quotes))] == sorted(
        quotes
    )


def test_equal_sentences_are_one_requirement() -> None:
    text = "It MUST\tbe.\nIt MUST be."
    first, other = citing("It MUST\tbe.", Kind.SPEC, 1, Level.SHOULD), citing("It MUST be.", Kind.SPEC, 2, Level.MUST)
    (requirement,) = find_requirements(text, first, other, citing("It MUST\tbe."), citing("It MUST\tbe.", Kind.TEST))
    assert (requirement.text, requirement.ids, requirement.level) == ("It MUST be.", (0, 1), Level.MUST)
    assert (requirement.state, requirement.related) == (State.UNCITED, (2, 3))


def test_neither_spacing_nor_wrapping_makes_another_requirement() -> None:
    ##= man/spec/trace.md#requirements
    ##% Line breaks MUST NOT change the id of a requirement.
    quotes = "It (A) MUST be.", "It ( A ) MUST be."
    (requirement,) = find_requirements("\n".join(quotes), *(citing(quote, Kind.SPEC) for quote in quotes))
    assert (requirement.text, requirement.ids) == (quotes[0], (0, 1))
    (one,) = find_requirements("It MUST\nbe.", citing("It MUST be.", Kind.SPEC))
    (other,) = find_requirements("x\n\nIt\nMUST be.", citing("It MUST be.", Kind.SPEC))
    assert one.id == other.id == blake3(b"It MUST be.").hexdigest()


def test_a_requirement_of_one_byte_or_without_text() -> None:
    ##= man/spec/trace.md#requirements
    ##% Each annotation of type `spec` MUST be a requirement.
    (requirement,) = find_requirements("a b", citing("a", Kind.SPEC), citing("a"))
    assert (requirement.state, requirement.related) == (State.UNCITED, ())
    (requirement,) = find_requirements("ab", citing("", Kind.SPEC), citing(""), citing("", Kind.TEST))
    assert (requirement.text, requirement.state, requirement.related) == ("", State.DONE, (1, 2))
