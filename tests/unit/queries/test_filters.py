"""Which requirements are meant"""

from __future__ import annotations

import pytest

from duvet.errors import NotFoundError
from duvet.model import Kind, Level
from duvet.queries.gaps import RequirementFilter, select_requirements
from duvet.trace.records import Status
from tests.unit.queries.made import catalogue_of_files, numbered_catalogue, texts

CATALOGUE = catalogue_of_files()
NUMBERED_CATALOGUE = numbered_catalogue()


@pytest.mark.parametrize(
    ("wanted", "indexes"),
    [
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
        (RequirementFilter(statuses=(Status.IN_PROGRESS, Status.NEEDS_TESTS)), [3, 5, 6, 11]),
        (RequirementFilter(kinds=(Kind.TODO, Kind.EXCEPTION)), [3, 4, 8, 11]),
        (RequirementFilter(("tea",), ("brewing",), (Level.MUST,), (Status.NOT_STARTED,), (Kind.TODO,)), [4]),
    ],
)
def test_what_is_let_through(wanted: RequirementFilter, indexes: list[int]) -> None:
    assert select_requirements(CATALOGUE, wanted) == indexes


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        (("section-1",), "One Two Three"),
        (("1.1",), "Two Three"),
        (("#1.1.1", "rfc7#A"), "Three Five Six"),
        (("Cup",), "Four"),
    ],
)
def test_a_numbered_section_is_those_below_it_too(sections: tuple[str, ...], words: str) -> None:
    ##= man/spec/queries.md#filters
    ##% A filter for a numbered section MUST include the sections below it.
    found = select_requirements(NUMBERED_CATALOGUE, RequirementFilter(sections=sections))
    assert texts(NUMBERED_CATALOGUE, found) == [f"{word} MUST be." for word in words.split()]


@pytest.mark.parametrize(
    ("wanted", "message", "hint"),
    [
        (RequirementFilter(specifications=("tee",)), 'there is no specification "tee"', "did you mean tea?"),
        (
            RequirementFilter(specifications=("kettle",)),
            'there is no specification "kettle"',
            "there are pot, tea, spoon",
        ),
        (RequirementFilter(sections=("brew",)), 'there is no section "brew"', "did you mean brewing?"),
        (
            RequirementFilter(sections=("tea#lid",)),
            'there is no section "lid" in tea.md',
            "`duvet show tea` lists the sections",
        ),
        (RequirementFilter(sections=("xyz",)), 'there is no section "xyz"', "`duvet show SPEC` lists the sections"),
        (
            RequirementFilter(specifications=("pot",), sections=("lids",)),
            'there is no section "lids" in pot.md',
            "did you mean lid?",
        ),
        (RequirementFilter(sections=("tee#lid",)), 'there is no specification "tee"', "did you mean tea?"),
    ],
)
def test_unknown_names(wanted: RequirementFilter, message: str, hint: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        select_requirements(CATALOGUE, wanted)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_an_unknown_specification_among_many() -> None:
    many = "".join(f"[[specification]]\nsource = 's{number}.md'\n" for number in range(10, 33))
    texts = {f"s{number}.md": f"# {number}\n" for number in range(10, 33)}
    catalogue = catalogue_of_files(**texts, **{".duvet/config.toml": f"'$schema' = 'duvet-cli/config/v1'\n{many}"})
    with pytest.raises(NotFoundError) as caught:
        select_requirements(catalogue, RequirementFilter(specifications=("kettle",)))
    assert caught.value.hint == f"there are {', '.join(f's{number}' for number in range(10, 30))} and 3 more"
