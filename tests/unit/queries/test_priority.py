"""The order in which to work on requirements, and the reasons for it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from duvet.model import Kind, Level
from duvet.queries import priority
from duvet.queries.gaps import RequirementFilter
from duvet.trace.catalogue import Catalogue, CitationCard, RequirementCard, SpecificationCard
from duvet.trace.records import State, Status
from tests.unit.queries.made import catalogue_of_files, texts

CATALOGUE = catalogue_of_files()
RANKED = priority.prioritize_requirements(CATALOGUE, RequirementFilter(), finished=True)
ROWS = [
    ("The leaves MUST be dry.", "MUST, needs tests: implemented but not tested, 1 todo"),
    ("The cup MUST be warm and clean.", "MUST, in progress: only a part of it is cited"),
    ("The host MUST smile.", "MUST, in progress: tested but not implemented"),
    ("The leaves MUST NOT be old.", "MUST, not started: only todos refer to it, 2 todos"),
    ("The lid MUST fit.", "MUST, not started: nothing refers to it"),
    ("The water MUST boil.", "MUST, done: implemented and tested"),
    ("Everybody SHOULD wait.", "SHOULD, not started: nothing refers to it"),
    ("Sugar SHOULD be brown.", "SHOULD, done: excepted with a reason"),
    ("A lemon SHOULD be at hand.", "SHOULD, done: implied"),
    ("A biscuit MAY be offered.", "MAY, needs tests: excepted without a reason"),
    ("Milk MAY be added.", "MAY, not started: nothing refers to it"),
    ("The lid is round.", "no level, not started: nothing refers to it"),
]
SAME = "same level, class and todos; stands first in the specifications"
COMPARISONS = [
    ("MUST, partially implemented, 1 todo", "same level and class; more todos (1 against 0)"),
    ("MUST, partially implemented, 0 todos", SAME),
    ("MUST, partially implemented, 0 todos", "same level; partially implemented comes before not started"),
    ("MUST, not started, 2 todos", "same level and class; more todos (2 against 0)"),
    ("MUST, not started, 0 todos", "same level; not started comes before fully implemented"),
    ("MUST, fully implemented, 0 todos", "MUST comes before SHOULD"),
    ("SHOULD, not started, 0 todos", "same level; not started comes before fully implemented"),
    ("SHOULD, fully implemented, 0 todos", SAME),
    ("SHOULD, fully implemented, 0 todos", "SHOULD comes before MAY"),
    ("MAY, partially implemented, 0 todos", "same level; partially implemented comes before not started"),
    ("MAY, not started, 0 todos", "MAY comes before no level"),
    ("no level, not started, 0 todos", ""),
]


def test_the_order_of_a_project_and_its_reasons() -> None:
    ##= man/spec/queries.md#priorities
    ##% `duvet prioritize` MUST leave out requirements that are done, excepted with a reason or not applicable, unless
    ##% it is asked for them.
    ##= man/spec/queries.md#priorities
    ##% `duvet prioritize` MUST give the reason for each rank in words.
    assert [(row.text, row.reason) for row in priority.make_priority_rows(CATALOGUE, RANKED)] == ROWS
    assert [(row.key, row.before_next) for row in priority.make_explained_rows(CATALOGUE, RANKED)] == COMPARISONS
    done = [text for text, reason in ROWS if ", done:" in reason]
    for wanted, expected in (
        (RequirementFilter(), [text for text, _ in ROWS if text not in done]),
        (RequirementFilter(statuses=(Status.DONE,)), done),
        (RequirementFilter(sections=("serving",), levels=(Level.MAY,)), ["A biscuit MAY be offered."]),
    ):
        assert texts(CATALOGUE, priority.prioritize_requirements(CATALOGUE, wanted)) == expected


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


def test_a_whole_row() -> None:
    key, comparison = COMPARISONS[0]
    assert priority.make_priority_rows(CATALOGUE, RANKED, 1) == [priority.PriorityRow(**LEAVES)]
    assert priority.make_explained_rows(CATALOGUE, RANKED, 1) == [
        priority.ExplainedRow(**LEAVES, key=key, before_next=comparison)
    ]


CLASSES = {Status.IN_PROGRESS: 0, Status.NEEDS_TESTS: 0, Status.NOT_STARTED: 1, Status.DONE: 2}


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
def test_requirements_are_ranked_by_level_class_todos_and_order(cards: list[tuple[Level, State, int]]) -> None:
    ##= man/spec/queries.md#priorities
    ##% `duvet prioritize` MUST rank requirements by level, then partially implemented before not started before fully
    ##% implemented ones, then by the number of todos, then by their order in the specifications.
    ranked = priority.prioritize_requirements(made(cards), RequirementFilter(), finished=True)
    assert sorted(ranked) == [*range(len(cards))]
    for first, second in pairwise(ranked):
        (level, state, todos), (next_level, next_state, next_todos) = cards[first], cards[second]
        place = (3 - level, CLASSES[state.status], 2 - todos, first)
        assert place < (3 - next_level, CLASSES[next_state.status], 2 - next_todos, second)


@given(CARDS)
def test_requirements_that_are_done_are_left_out(cards: list[tuple[Level, State, int]]) -> None:
    left = priority.prioritize_requirements(made(cards), RequirementFilter())
    assert sorted(left) == [index for index, (_, state, _) in enumerate(cards) if state.status is not Status.DONE]
