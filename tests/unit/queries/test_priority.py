"""The order in which to work on requirements, and the reasons for it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.model import Kind, Level
from duvet.queries.gaps import RequirementFilter
from duvet.queries.priority import (
    ExplainedRow,
    Priority,
    PriorityClass,
    PriorityRow,
    compute_priority,
    make_explained_rows,
    make_priority_rows,
    prioritize_requirements,
)
from duvet.trace.catalogue import Catalogue, CitationCard, RequirementCard, SpecificationCard
from duvet.trace.records import State, Status
from tests.unit.queries.made import catalogue_of_files, texts

CATALOGUE = catalogue_of_files()
ORDER = [
    "The leaves MUST be dry.",
    "The cup MUST be warm and clean.",
    "The host MUST smile.",
    "The leaves MUST NOT be old.",
    "The lid MUST fit.",
    "Everybody SHOULD wait.",
    "A biscuit MAY be offered.",
    "Milk MAY be added.",
    "The lid is round.",
]
CLASSES = {
    Status.IN_PROGRESS: 0,
    Status.NEEDS_TESTS: 0,
    Status.NOT_STARTED: 1,
    Status.DONE: 2,
}


def test_the_order_of_a_project() -> None:
    ##= man/spec/queries.md#priorities
    ##% `duvet prioritize` MUST leave out requirements that are done, excepted with a reason or not applicable, unless
    ##% it is asked for them.
    assert texts(CATALOGUE, prioritize_requirements(CATALOGUE, RequirementFilter())) == ORDER


DONE = ["The water MUST boil.", "Sugar SHOULD be brown.", "A lemon SHOULD be at hand."]


def test_what_is_done_when_it_is_asked_for() -> None:
    ##= man/spec/queries.md#priorities
    ##% `duvet prioritize` MUST leave out requirements that are done, excepted with a reason or not applicable, unless
    ##% it is asked for them.
    assert texts(CATALOGUE, prioritize_requirements(CATALOGUE, RequirementFilter(), finished=True)) == [
        *ORDER[:5], DONE[0], ORDER[5], *DONE[1:], *ORDER[6:]
    ]  # fmt: skip
    assert texts(CATALOGUE, prioritize_requirements(CATALOGUE, RequirementFilter(statuses=(Status.DONE,)))) == DONE


def test_a_filter() -> None:
    wanted = RequirementFilter(sections=("serving",), levels=(Level.MAY,))
    assert texts(CATALOGUE, prioritize_requirements(CATALOGUE, wanted)) == ["A biscuit MAY be offered."]


@pytest.mark.parametrize(
    ("index", "priority"),
    [
        (0, Priority(Level.AUTO, PriorityClass.NOT_STARTED, 0)),
        (2, Priority(Level.MUST, PriorityClass.FULLY_IMPLEMENTED, 0)),
        (3, Priority(Level.MUST, PriorityClass.PARTIALLY_IMPLEMENTED, 1)),
        (4, Priority(Level.MUST, PriorityClass.NOT_STARTED, 2)),
        (5, Priority(Level.MUST, PriorityClass.PARTIALLY_IMPLEMENTED, 0)),
    ],
)
def test_what_decides(index: int, priority: Priority) -> None:
    assert compute_priority(CATALOGUE, CATALOGUE.requirements[index]) == priority


def made(cards: list[tuple[Level, State, int]]) -> Catalogue:
    """Requirements of these levels and states, with so many todos."""
    todo = CitationCard("a.py", 1, Kind.TODO, "", "", "", "", "", -1, "", (), (0, 0))
    citation = CitationCard("a.py", 2, Kind.CITATION, "", "", "", "", "", -1, "", (), (0, 0))
    requirements = tuple(
        RequirementCard(0, "s", str(number), level, state, 1, (0, *(1,) * todos))
        for number, (level, state, todos) in enumerate(cards)
    )
    return Catalogue((SpecificationCard("a", "A", "a", "", "a", "a", ()),), requirements, (citation, todo), ())


CARDS = st.lists(st.tuples(st.sampled_from(Level), st.sampled_from(State), st.integers(0, 2)))


@given(CARDS)
def test_the_order_of_anything(cards: list[tuple[Level, State, int]]) -> None:
    ##= man/spec/queries.md#priorities
    ##% `duvet prioritize` MUST rank requirements by level, then partially implemented before not started before fully
    ##% implemented ones, then by the number of todos, then by their order in the specifications.
    ranked = prioritize_requirements(made(cards), RequirementFilter(), finished=True)
    assert sorted(ranked) == [*range(len(cards))]
    for first, second in pairwise(ranked):
        (level, state, todos), (next_level, next_state, next_todos) = cards[first], cards[second]
        place = (3 - level, CLASSES[state.status], 2 - todos, first)
        assert place < (3 - next_level, CLASSES[next_state.status], 2 - next_todos, second)


@given(CARDS)
def test_what_is_done_is_left_out_of_anything(cards: list[tuple[Level, State, int]]) -> None:
    left = prioritize_requirements(made(cards), RequirementFilter())
    assert sorted(left) == [index for index, (_, state, _) in enumerate(cards) if state.status is not Status.DONE]


RANKED = prioritize_requirements(CATALOGUE, RequirementFilter(), finished=True)
ID = CATALOGUE.ids[3][:12]
LEAVES: dict[str, Any] = {
    "identifier": ID,
    "full_path": f"/specifications/tea/sections/brewing/requirements/{ID}",
    "specification": "tea",
    "section": "brewing",
    "section_title": "Brewing",
    "target": "tea.md#brewing",
    "level": "MUST",
    "status": "needs tests",
    "state": "missing test",
    "text": "The leaves MUST be dry.",
    "file_path": "tea.md",
    "line_number": 8,
    "rank": 1,
    "priority_class": "partially_implemented",
    "todo_count": 1,
    "reason": "MUST, needs tests: implemented but not tested, 1 todo",
}


def test_a_row_says_why_it_has_its_rank() -> None:
    comparison = "same level and class; more todos (1 against 0)"
    explained = ExplainedRow(**LEAVES, key="MUST, partially implemented, 1 todo", before_next=comparison)
    assert make_priority_rows(CATALOGUE, RANKED, 1) == [PriorityRow(**LEAVES)]
    assert make_explained_rows(CATALOGUE, RANKED, 1) == [explained]


def test_reasons() -> None:
    ##= man/spec/queries.md#priorities
    ##% `duvet prioritize` MUST give the reason for each rank in words.
    assert [(row.rank, row.reason) for row in make_priority_rows(CATALOGUE, RANKED)] == [
        (1, "MUST, needs tests: implemented but not tested, 1 todo"),
        (2, "MUST, in progress: only a part of it is cited"),
        (3, "MUST, in progress: tested but not implemented"),
        (4, "MUST, not started: only todos refer to it, 2 todos"),
        (5, "MUST, not started: nothing refers to it"),
        (6, "MUST, done: implemented and tested"),
        (7, "SHOULD, not started: nothing refers to it"),
        (8, "SHOULD, done: excepted with a reason"),
        (9, "SHOULD, done: implied"),
        (10, "MAY, needs tests: excepted without a reason"),
        (11, "MAY, not started: nothing refers to it"),
        (12, "no level, not started: nothing refers to it"),
    ]


def test_comparisons() -> None:
    order = "same level, class and todos; stands first in the specifications"
    assert [row.before_next for row in make_explained_rows(CATALOGUE, RANKED)] == [
        "same level and class; more todos (1 against 0)",
        order,
        "same level; partially implemented comes before not started",
        "same level and class; more todos (2 against 0)",
        "same level; not started comes before fully implemented",
        "MUST comes before SHOULD",
        "same level; not started comes before fully implemented",
        order,
        "SHOULD comes before MAY",
        "same level; partially implemented comes before not started",
        "MAY comes before no level",
        "",
    ]
