"""Why a requirement has its rank"""

from __future__ import annotations

from typing import Any

from duvet.queries.gaps import RequirementFilter
from duvet.queries.priority import (
    ExplainedRow,
    PriorityRow,
    make_explained_rows,
    make_priority_rows,
    prioritize_requirements,
)
from tests.unit.queries.made import catalogue_of_files

CATALOGUE = catalogue_of_files()
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


def test_a_row() -> None:
    assert make_priority_rows(CATALOGUE, RANKED, 1) == [PriorityRow(**LEAVES)]


def test_an_explained_row() -> None:
    comparison = "same level and class; more todos (1 against 0)"
    assert make_explained_rows(CATALOGUE, RANKED, 1) == [
        ExplainedRow(**LEAVES, key="MUST, partially implemented, 1 todo", before_next=comparison)
    ]


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
