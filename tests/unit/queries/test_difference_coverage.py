"""Which requirements have lost or gained coverage from one state of a project to another."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from duvet.model import Level
from duvet.queries.difference import compare_catalogues
from duvet.trace.catalogue import Catalogue
from duvet.trace.records import State
from tests.unit.queries.compared import WARM, catalogue, cites, told


@pytest.mark.parametrize(
    ("was", "now", "status_then", "status_now", "lost"),
    [
        ("citation test", "citation", "done", "needs tests", ("tests",)),
        ("citation test", "test", "done", "in progress", ("implementation",)),
        ("citation test", "", "done", "not started", ("implementation", "tests")),
        ("citation", "todo", "needs tests", "not started", ("implementation",)),
        ("citation test implication", "implication", "done", "done", ("tests",)),
        ("citation test", "exception", "done", "done", ("implementation", "tests")),
        ("exception", "", "done", "not started", ()),
    ],
)
def test_coverage_is_lost(was: str, now: str, status_then: str, status_now: str, lost: tuple[str, ...]) -> None:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list an applicable requirement as lost coverage when its status fell or its code or tests are
    ##% gone, and otherwise as gained coverage when its status rose or it got code or tests.
    difference = compare_catalogues(_with(was), _with(now))
    assert told(difference)["coverage_lost"] == [(status_then, status_now, lost, ())]
    assert difference.losses == "1 requirement lost coverage" and not difference.coverage_gained


@pytest.mark.parametrize(
    ("was", "now", "status_then", "status_now", "gained"),
    [
        ("", "citation", "not started", "needs tests", ("implementation",)),
        ("citation", "citation test", "needs tests", "done", ("tests",)),
        ("todo", "exception", "not started", "done", ()),
        ("implication", "implication test", "done", "done", ("tests",)),
    ],
)
def test_coverage_is_gained(was: str, now: str, status_then: str, status_now: str, gained: tuple[str, ...]) -> None:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list an applicable requirement as lost coverage when its status fell or its code or tests are
    ##% gone, and otherwise as gained coverage when its status rose or it got code or tests.
    difference = compare_catalogues(_with(was), _with(now))
    assert told(difference)["coverage_gained"] == [(status_then, status_now, (), gained)]
    assert difference.losses == "" and not difference.coverage_lost


def _with(kinds: str) -> Catalogue:
    reason = "//= reason=too dear\n"
    comments = [
        cites(WARM, kind).replace("//#", f"{reason}//#") if kind == "exception" else cites(WARM, kind)
        for kind in kinds.split()
    ]
    return catalogue(pot="".join(comments))


def test_what_is_not_applicable_loses_nothing() -> None:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list an applicable requirement as lost coverage when its status fell or its code or tests are
    ##% gone, and otherwise as gained coverage when its status rose or it got code or tests.
    was, now = catalogue(), catalogue(pot="")
    settled = tuple(replace(card, state=State.NOT_APPLICABLE, citations=()) for card in now.requirements)
    now = replace(now, requirements=settled)
    for pair in ((was, now), (now, catalogue(pot=""))):
        difference = compare_catalogues(*pair)
        assert not difference.coverage_lost and not difference.coverage_gained
    assert {card.level for card in now.requirements} == {Level.MUST, Level.SHOULD, Level.MAY}
