"""The order in which to work on requirements, and its reasons."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, strategies as st

from duvet.model import Kind, Level
from duvet.queries import gaps
from duvet.queries.gaps import RequirementFilter
from duvet.trace.catalogue import Catalogue, CitationCard, RequirementCard, SpecificationCard
from duvet.trace.records import State
from tests.unit.queries.query_projects import catalogue_of_files, texts

CATALOGUE = catalogue_of_files()
RANKED = gaps.prioritize_requirements(CATALOGUE, RequirementFilter(), finished=True)
SAME = "same level, progress and todos; occurs earlier in the specifications"
COMPARISONS = [
    ("MUST, needs tests, 1 todo", "same level and progress; more todos (1 instead of 0)"),
    ("MUST, in progress, 0 todos", SAME),
    ("MUST, needs code, 0 todos", "same level; `needs code` comes before `to do`"),
    ("MUST, to do, 2 todos", "same level and progress; more todos (2 instead of 0)"),
    ("MUST, uncited, 0 todos", "same level; `uncited` comes before `done`"),
    ("MUST, done, 0 todos", "MUST comes before SHOULD"),
    ("SHOULD, uncited, 0 todos", "same level; `uncited` comes before `excepted`"),
    ("SHOULD, excepted, 0 todos", SAME),
    ("SHOULD, done, 0 todos", "SHOULD comes before MAY"),
    ("MAY, in progress, 0 todos", "same level; `in progress` comes before `uncited`"),
    ("MAY, uncited, 0 todos", "MAY comes before no level"),
    ("no level, uncited, 0 todos", ""),
]
CLASSES = dict(zip(State, (1, 1, 0, 0, 0, 2, 2, 2), strict=True))
CARDS = st.lists(st.tuples(st.sampled_from(Level), st.sampled_from(State), st.integers(0, 2)))


def test_the_order_of_a_project_and_its_reasons() -> None:
    ##= man/spec/queries.md#priorities
    ##% Unless an option includes them, `duvet prioritize` MUST leave out requirements that are done, excepted or not
    ##% applicable.
    explained = gaps.make_explained_rows(CATALOGUE, RANKED)
    assert [(row.key, row.before_next) for row in explained] == COMPARISONS
    for wanted, expected in (
        (RequirementFilter(states=(State.DONE,)), [row.text for row in explained if row.status == "done"]),
        (RequirementFilter(sections=("serving",), levels=(Level.MAY,)), ["A biscuit MAY be offered."]),
    ):
        assert texts(CATALOGUE, gaps.prioritize_requirements(CATALOGUE, wanted)) == expected


def made(cards: list[tuple[Level, State, int]]) -> Catalogue:
    """Make requirements with these levels, states and numbers of todos."""
    todo = CitationCard("a.py", 1, Kind.TODO, "", "", "", "", "", -1, "", (), (0, 0))
    citation = CitationCard("a.py", 2, Kind.CITATION, "", "", "", "", "", -1, "", (), (0, 0))
    requirements = tuple(
        RequirementCard(0, "s", str(number), level, state, 1, (0, *(1,) * todos))
        for number, (level, state, todos) in enumerate(cards)
    )
    return Catalogue((SpecificationCard("a", "A", "a", "", "a", "a", ()),), requirements, (citation, todo), ())


@given(CARDS)
def test_requirements_are_ranked_by_level_class_todos_and_order(cards: list[tuple[Level, State, int]]) -> None:
    ##= man/spec/queries.md#priorities
    ##% `duvet prioritize` MUST rank requirements by level, then by progress (started, not started, done), then by the
    ##% number of todos, and then by their order in the specifications.
    ranked = gaps.prioritize_requirements(made(cards), RequirementFilter(), finished=True)
    assert sorted(ranked) == [*range(len(cards))]
    for first, second in pairwise(ranked):
        (level, state, todos), (next_level, next_state, next_todos) = cards[first], cards[second]
        place = (3 - level, CLASSES[state], 2 - todos, first)
        assert place < (3 - next_level, CLASSES[next_state], 2 - next_todos, second)


@given(CARDS)
def test_requirements_that_are_done_are_left_out(cards: list[tuple[Level, State, int]]) -> None:
    left = gaps.prioritize_requirements(made(cards), RequirementFilter())
    assert sorted(left) == [index for index, (_, state, _) in enumerate(cards) if state < State.EXCEPTED]
