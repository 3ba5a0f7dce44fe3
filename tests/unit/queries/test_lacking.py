"""Requirements that lack a citation or a test, or that a todo waits for"""

from __future__ import annotations

import pytest

from duvet.model import Kind, Level
from duvet.queries.gaps import (
    Gap,
    RequirementFilter,
    RequirementGaps,
    TodoNote,
    TodoRow,
    find_gaps,
    make_todo_row,
    select_at_least_level,
)
from duvet.trace.records import Status
from tests.unit.queries.made import CONFIG, catalogue_of_files

CATALOGUE = catalogue_of_files()
TEA = RequirementFilter(specifications=("tea",))


def test_uncited() -> None:
    ##= man/spec/queries.md#uncited
    ##% duvet MUST count a requirement as uncited while only todos, or nothing, cite it; as untested while it is not
    ##% done and tests are missing; and as to do while a todo cites it.
    assert find_gaps(CATALOGUE, RequirementFilter(), Gap.CITATION) == RequirementGaps((0, 1, 4, 7, 10), 12)


def test_untested() -> None:
    ##= man/spec/queries.md#uncited
    ##% duvet MUST count a requirement as uncited while only todos, or nothing, cite it; as untested while it is not
    ##% done and tests are missing; and as to do while a todo cites it.
    assert find_gaps(CATALOGUE, TEA, Gap.TEST) == RequirementGaps((3, 4, 5, 7, 10, 11), 10)


def test_what_is_half_tested_needs_tests() -> None:
    testing = "//= tea.md#brewing\n//# The leaves MUST\n"
    catalogue = catalogue_of_files(**{"tests/test_brewing.rs": testing})
    kinds = {catalogue.citations[number].kind for number in catalogue.requirements[3].citations}
    assert Kind.TEST in kinds
    assert 3 in find_gaps(catalogue, TEA, Gap.TEST).indexes


def test_to_do() -> None:
    ##= man/spec/queries.md#uncited
    ##% duvet MUST count a requirement as uncited while only todos, or nothing, cite it; as untested while it is not
    ##% done and tests are missing; and as to do while a todo cites it.
    assert find_gaps(CATALOGUE, RequirementFilter(), Gap.TODO) == RequirementGaps((3, 4), 12)


@pytest.mark.parametrize("lack", [*Gap, None])
def test_what_is_not_applicable(lack: Gap | None) -> None:
    ##= man/spec/queries.md#uncited
    ##% `duvet uncited` MUST list requirements by specification and section, with their number, the total, and how many
    ##% are not applicable.
    entry = '[[not-applicable]]\ntarget = "tea.md#brewing"\nreason = "Nobody brews."\n'
    catalogue = catalogue_of_files(**{".duvet/config.toml": CONFIG + entry})
    found = find_gaps(catalogue, TEA, lack)
    assert (found.among, found.not_applicable) == (2, 8)
    assert {catalogue.requirements[index].section for index in found.indexes} <= {"serving"}


@pytest.mark.parametrize(
    ("lack", "statuses", "indexes"),
    [
        (None, (Status.DONE,), (2, 8, 9)),
        (None, (Status.IN_PROGRESS, Status.NOT_STARTED), (4, 5, 6, 7, 10)),
        (Gap.TEST, (Status.IN_PROGRESS,), (5,)),
        (Gap.CITATION, (Status.DONE,), ()),
    ],
)
def test_by_status(lack: Gap | None, statuses: tuple[Status, ...], indexes: tuple[int, ...]) -> None:
    """Among how many they are does not depend on the status: it is no filter, but what is listed."""
    assert find_gaps(CATALOGUE, RequirementFilter(specifications=("tea",), statuses=statuses), lack) == RequirementGaps(
        indexes, 10
    )


@pytest.mark.parametrize(
    ("level", "indexes"),
    [(Level.MUST, (1, 4)), (Level.SHOULD, (1, 4, 10)), (Level.MAY, (1, 4, 7, 10)), (Level.AUTO, (0, 1, 4, 7, 10))],
)
def test_a_level_and_those_above(level: Level, indexes: tuple[int, ...]) -> None:
    assert (
        select_at_least_level(CATALOGUE, find_gaps(CATALOGUE, RequirementFilter(), Gap.CITATION).indexes, level)
        == indexes
    )


def test_a_row_with_todos() -> None:
    assert make_todo_row(CATALOGUE, CATALOGUE.requirements[4]) == TodoRow(
        identifier=CATALOGUE.ids[4][:12],
        full_path=f"/specifications/tea/sections/brewing/requirements/{CATALOGUE.ids[4][:12]}",
        specification="tea",
        section="brewing",
        section_title="Brewing",
        target="tea.md#brewing",
        level="MUST",
        status="not started",
        state="to do",
        text="The leaves MUST NOT be old.",
        file_path="tea.md",
        line_number=9,
        todos=(
            TodoNote(file_path="src/brewing.rs", line_number=19, feature="", tracking_issue=""),
            TodoNote(file_path="src/brewing.rs", line_number=23, feature="", tracking_issue="https://issues.example/7"),
        ),
    )


def test_the_words_of_a_todo() -> None:
    note = TodoNote(file_path="a.py", line_number=1, feature="drying", tracking_issue="12")
    assert note.words == "a.py:1 drying 12"
