from itertools import pairwise

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.errors import NotFoundError
from duvet.model import Kind, Level
from duvet.queries import gaps, records
from duvet.queries.records import RequirementFilter
from duvet.trace.catalogue import Catalogue, CitationCard, RequirementCard, SpecificationCard, State
from tests.unit.queries.query_projects import NUMBERED_FILES, catalogue_of_files, make_catalogue, texts

CATALOGUE = catalogue_of_files()
ALL = RequirementFilter()
TEA = RequirementFilter(specifications=("tea",))


def test_filters_select_gaps() -> None:
    for wanted, indexes in [
        (RequirementFilter(), [*range(12)]),
        (RequirementFilter(specifications=("pot",)), [0, 1]),
        (RequirementFilter(specifications=("./POT.md", "Spoon")), [0, 1]),
        (RequirementFilter(specifications=("pot", "tea")), [*range(12)]),
        (RequirementFilter(specifications=("spoon",)), []),
        (RequirementFilter(sections=("serving",)), [10, 11]),
        (RequirementFilter(sections=("#serving", "pot.md#lid")), [0, 1, 10, 11]),
        (RequirementFilter(specifications=("tea",), sections=("pot#lid",)), []),
        (RequirementFilter(sections=("spoon",)), []),
        (RequirementFilter(levels=(Level.MAY, Level.AUTO)), [0, 7, 11]),
        (RequirementFilter(states=(State.IN_PROGRESS, State.NEEDS_CODE, State.NEEDS_TESTS)), [3, 5, 6, 11]),
        (RequirementFilter(kinds=(Kind.TODO, Kind.EXCEPTION)), [3, 4, 8, 11]),
        (RequirementFilter(("tea",), ("brewing",), (Level.MUST,), (State.TO_DO,), (Kind.TODO,)), [4]),
    ]:
        assert records.select_requirements(CATALOGUE, wanted) == indexes
    ##= man/spec/queries.md#filters
    ##% A filter for a section of an IETF document MUST include its subsections.
    numbered = make_catalogue(NUMBERED_FILES)
    for sections, words in (
        (("section-1",), "One Two Three"),
        (("1.1",), "Two Three"),
        (("#1.1.1", "rfc7#A"), "Three Five Six"),
        (("Cup",), "Four"),
    ):
        found = records.select_requirements(numbered, RequirementFilter(sections=sections))
        assert texts(numbered, found) == [f"{word} MUST be." for word in words.split()]


def test_an_unknown_name_is_refused_with_names_that_exist() -> None:
    for specifications, sections, message, hint in [
        (("tee",), (), 'unknown specification "tee"', "did you mean tea?"),
        (("kettle",), (), 'unknown specification "kettle"', "available: pot, tea, spoon"),
        ((), ("brew",), 'unknown section "brew"', "did you mean brewing?"),
        ((), ("tea#lid",), 'unknown section "lid" of tea.md', "run `duvet show tea` to list the sections"),
        ((), ("xyz",), 'unknown section "xyz"', "run `duvet show SPEC` to list the sections"),
    ]:
        with pytest.raises(NotFoundError) as caught:
            records.select_requirements(CATALOGUE, RequirementFilter(specifications, sections))
        assert (caught.value.message, caught.value.hint) == (message, hint)
    names = [f"s{number}" for number in range(10, 33)]
    tables = "".join(f"[[specification]]\nsource = '{name}.md'\n" for name in names)
    texts = {f"{name}.md": f"# {name}\n" for name in names}
    catalogue = make_catalogue({".duvet/config.toml": f"'$schema' = 'duvet-cli/config/v1'\n{tables}", **texts})
    with pytest.raises(NotFoundError) as caught:
        records.select_requirements(catalogue, RequirementFilter(specifications=("kettle",)))
    assert caught.value.hint == f"available: {', '.join(names[:20])} and 3 more"


def test_gaps_of_each_kind_are_listed() -> None:
    ##= man/spec/queries.md#uncited
    ##% By default, `duvet uncited` MUST list the requirements that are uncited or `to do`; with `--untested`, the
    ##% unfinished ones that no test cites and those in the state `needs tests`; and with `--todo`, those that a
    ##% todo cites.
    for wanted, gap, indexes, among in [
        (ALL, gaps.Gap.CITATION, (0, 1, 4, 7, 10), 12),
        (TEA, gaps.Gap.TEST, (3, 4, 5, 7, 10, 11), 10),
        (ALL, gaps.Gap.TODO, (3, 4), 12),
        # The status selects what is listed, not what it is compared with.
        (replace(TEA, states=(State.DONE,)), None, (2, 9), 10),
        (replace(TEA, states=(State.IN_PROGRESS, State.TO_DO, State.UNCITED)), None, (4, 5, 7, 10, 11), 10),
        (replace(TEA, states=(State.IN_PROGRESS,)), gaps.Gap.TEST, (5, 11), 10),
        (replace(TEA, states=(State.DONE,)), gaps.Gap.CITATION, (), 10),
    ]:
        assert gaps.find_gaps(CATALOGUE, wanted, gap) == gaps.RequirementGaps(indexes, among)
    catalogue = catalogue_of_files(**{"tests/test_brewing.rs": "//= tea.md#brewing\n//# The leaves MUST\n"})
    assert Kind.TEST in {catalogue.citations[number].kind for number in catalogue.requirements[3].citations}
    assert 3 in gaps.find_gaps(catalogue, TEA, gaps.Gap.TEST).indexes


RANKED = gaps.prioritize_requirements(CATALOGUE, RequirementFilter(), finished=True)
CLASSES = dict(zip(State, (1, 1, 0, 0, 0, 2, 2, 2), strict=True))
CARDS = st.lists(st.tuples(st.sampled_from(Level), st.sampled_from(State), st.integers(0, 2)))


def test_the_order_of_a_project_and_its_reasons(snapshot: Snapshot) -> None:
    ##= man/spec/queries.md#priorities
    ##% `duvet prioritize` MUST leave out requirements that are done, excepted or not applicable, unless an option
    ##% includes them.
    explained = gaps.make_explained_rows(CATALOGUE, RANKED)
    lines = "".join(f"{row.key}: {row.before_next or '-'}\n" for row in explained)
    snapshot.assert_match(lines, "prioritize/reasons.txt")
    for wanted, expected in (
        (RequirementFilter(states=(State.DONE,)), [row.text for row in explained if row.status == "done"]),
        (RequirementFilter(sections=("serving",), levels=(Level.MAY,)), ["A biscuit MAY be offered."]),
    ):
        assert texts(CATALOGUE, gaps.prioritize_requirements(CATALOGUE, wanted)) == expected


def made(cards: list[tuple[Level, State, int]]) -> Catalogue:
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
    left = gaps.prioritize_requirements(made(cards), RequirementFilter())
    assert sorted(left) == [index for index, (_, state, _) in enumerate(cards) if state < State.EXCEPTED]
