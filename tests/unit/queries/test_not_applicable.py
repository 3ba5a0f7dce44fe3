"""What a configuration says is not owed"""

from __future__ import annotations

from datetime import date

import pytest

from duvet.model import Place, Problem
from duvet.project.project import Project
from duvet.trace.records import NotApplicable, State
from tests.unit.reports.made import project
from tests.unit.reports.made_not_owed import ENTRIES, TODAY, with_entries


def entry(target: str, **more: str) -> str:
    """An entry of the configuration, its values as they stand in the file."""
    lines = {"target": f'"{target}"', "reason": '"no"', **more}
    return "".join(["\n[[not-applicable]]\n", *(f"{key} = {value}\n" for key, value in lines.items())])


def settled(entries: str, today: date | None = TODAY) -> Project:
    return project(with_entries(entries), today)


def freed(entries: str, today: date | None = TODAY) -> list[str]:
    """What is not applicable."""
    return [one.text for one in settled(entries, today).requirements if one.state is State.NOT_APPLICABLE]


def test_whatever_refers_to_them() -> None:
    ##= man/spec/gates.md#not-applicable
    ##% duvet MUST treat the requirements that `[[not-applicable]]` names as not applicable, whatever cites them, and
    ##% count them neither as done nor as applicable.
    before = project(with_entries("")).requirements
    after = settled(entry("tea.md")).requirements
    assert {one.state for one in before} >= {State.COMPLETE, State.EXCEPTION, State.UNCITED}
    assert [(one.text, one.state) for one in after] == [(one.text, State.NOT_APPLICABLE) for one in before]


def test_entries_are_listed_with_how_many_they_mean() -> None:
    found = settled(ENTRIES)
    assert found.not_applicable == (
        NotApplicable(
            target="tea.md#cup",
            reason="We drink from <pots>,\nand always did",
            owner="the & kitchen",
            expiry=TODAY,
            requirements=4,
        ),
        NotApplicable(target="tea.md#pot", quote="It MAY\nbe <b>brown</b>.", reason="We have no brown", requirements=1),
    )
    assert found.trace.problems == ()
    assert found.finished().not_applicable == found.not_applicable


@pytest.mark.parametrize(
    "quote",
    [
        "The pot MUST be warm.",
        "The pot\\n  MUST be warm .",
        "pot MUST be warm",
    ],
)
def test_a_quote_is_one_requirement(quote: str) -> None:
    ##= man/spec/gates.md#not-applicable
    ##% An entry MUST apply to all requirements of its specification, to those of its section with the subsections of
    ##% IETF text, or to the one that it quotes.
    found = settled(entry("tea.md#pot", quote=f'"{quote}"'))
    assert found.trace.problems == ()
    assert [(one.section.id, one.text) for one in found.requirements if one.state is State.NOT_APPLICABLE] == [
        ("pot", "The pot MUST be warm.")
    ]


def test_a_whole_sentence_is_not_one_that_holds_it() -> None:
    more = {"more/c.toml": 'target = "tea.md#pot"\n[[spec]]\nquote = "The pot MUST be warm. It SHOULD be\\nround."\n'}
    files = with_entries(entry("tea.md#pot", quote='"It SHOULD be round."')) | more
    found = project(files, TODAY)
    assert found.trace.problems == ()
    assert [one.text for one in found.requirements if one.state is State.NOT_APPLICABLE] == ["It SHOULD be round."]


def test_entries_may_overlap() -> None:
    found = settled(entry("tea.md#pot") + entry("tea.md") + entry("tea.md#pot", quote='"Pots come first."'))
    assert [one.requirements for one in found.not_applicable] == [5, 10, 1]
    assert len(freed(entry("tea.md#pot") + entry("tea.md"))) == 10


@pytest.mark.parametrize(
    ("entries", "code", "message", "place", "hint"),
    [
        (
            entry("tee.md"),
            "DUV081",
            'there is no specification "tee.md"',
            Place(13, 10, 8),
            "did you mean tea?",
        ),
        (
            entry("tea.md#pott"),
            "DUV081",
            'there is no section "pott" in tea.md',
            Place(13, 10, 13),
            "did you mean pot?",
        ),
        (
            entry("tea.md#tea-biscuits"),
            "DUV082",
            "tea.md#tea-biscuits has no requirement",
            Place(13, 10, 21),
            "did you mean tea.md#cup?",
        ),
        (
            entry("manners.md"),
            "DUV082",
            "manners.md has no requirement",
            Place(13, 10, 12),
            "name a section that has one, or remove the entry",
        ),
        (
            entry("tea.md#pot", quote='"The pot MUST be hot."'),
            "DUV082",
            "no requirement of tea.md#pot says this",
            Place(15, 9, 22),
            'did you mean "The pot MUST be warm." or "The lid MUST NOT be lost."?',
        ),
        (
            entry("tea.md#pot", quote='"xyz"'),
            "DUV082",
            "no requirement of tea.md#pot says this",
            Place(15, 9, 5),
            "quote a sentence of it that is a requirement, or remove the entry",
        ),
        (
            entry("tea.md#pot", quote='"MUST"'),
            "DUV082",
            "2 requirements of tea.md#pot say this",
            Place(15, 9, 6),
            "quote the whole of one sentence",
        ),
    ],
)
def test_what_leads_to_no_requirement(entries: str, code: str, message: str, place: Place, hint: str) -> None:
    ##= man/spec/gates.md#not-applicable
    ##% duvet MUST report an entry that matches no requirement where it is written, and SHOULD suggest what is most
    ##% similar.
    found = settled(entries)
    assert found.trace.problems == (Problem(code, message, ".duvet/config.toml", place, hint=hint),)
    assert [one.requirements for one in found.not_applicable] == [0]
    assert freed(entries) == []


def test_a_specification_that_could_not_be_loaded_is_told_once() -> None:
    config = '\n[[specification]]\nsource = "https://host/gone"\n' + entry("https://host/gone#1")
    assert [one.code for one in settled(config).trace.problems] == ["DUV045"]


UNTIL = entry("tea.md#cup", expiry="2030-01-31")


@pytest.mark.parametrize(
    ("today", "count"), [(date(2030, 1, 30), 4), (TODAY, 4), (date(2030, 2, 1), 0), (date(2031, 1, 1), 0), (None, 4)]
)
def test_a_day_counts_until_its_end(today: date | None, count: int) -> None:
    ##= man/spec/gates.md#not-applicable
    ##% An entry MUST apply until the end of the day on which it expires; after that day, duvet MUST report the entry
    ##% and require its requirements again.
    assert len(freed(UNTIL, today)) == count


def test_what_has_expired() -> None:
    ##= man/spec/gates.md#not-applicable
    ##% An entry MUST apply until the end of the day on which it expires; after that day, duvet MUST report the entry
    ##% and require its requirements again.
    found = settled(UNTIL, date(2030, 2, 1))
    assert found.trace.problems == (
        Problem(
            "DUV080",
            "this expired on 2030-01-31, and the requirements of tea.md#cup are owed again",
            ".duvet/config.toml",
            Place(15, 10, 10),
            hint="give it a later date, or remove it",
        ),
    )
    assert [(one.requirements, one.has_expired) for one in found.not_applicable] == [(4, True)]
    assert found.requirements == project(with_entries("")).requirements


def test_another_entry_may_still_hold() -> None:
    assert len(freed(UNTIL + entry("tea.md#cup"), date(2030, 2, 1))) == 4
