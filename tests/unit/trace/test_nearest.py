"""Where in a specification the text is that a quote should be."""

from __future__ import annotations

from duvet.project.project import Project
from duvet.specs.locator import locate_specification
from duvet.trace.nearest import Neighbourhood
from duvet.tree.files import MemoryTree

TEXT = """\
# Tea

## Brewing

The water MUST boil before the leaves are put into the pot.

## Serving

Everybody SHOULD wait until the host has poured
the last cup of tea.

## Washing

The pot MUST be rinsed with water,   and MUST NOT be washed with soap.
The water MUST boil before the pot is rinsed.

## Again

Everybody SHOULD wait until the host has poured the last cup of tea.
"""


def near(text: str = TEXT) -> Neighbourhood:
    project = Project(tree=MemoryTree({"tea.md": text.encode()}))
    return Neighbourhood(project.library.load(locate_specification("tea.md")))


def holding(quote: str) -> list[str]:
    one = near()
    return [one.section_id(index) for index in one.holding(quote)]


def test_sections_that_hold_a_quote() -> None:
    """However it is wrapped, but to the letter."""
    assert holding("The leaves") == []
    assert holding("Everybody SHOULD wait until the host has  poured the last cup") == ["serving", "again"]
    assert holding("rinsed with water , and MUST NOT") == ["washing"]
    assert holding("rinsed with waters, and MUST NOT") == []
    assert holding("") == []


def test_whether_a_section_holds_a_quote() -> None:
    one = near()
    assert [one.holds(index, "The water MUST boil") for index in range(5)] == [False, True, False, True, False]
    assert one.holds(2, "")
    # What is accepted with one edit is not what stands there.
    assert not one.holds(1, "The waters MUST boil")


def test_the_best_section() -> None:
    one = near()
    found = one.anywhere("The water MUST boil before the leaves get put into the pot.")
    assert found is not None and one.section_id(found[0]) == "brewing"
    assert found[1].text == "The water MUST boil before the leaves are put into the pot."
    assert found[1].is_clear
    assert one.anywhere("Nobody has ever seen anything of that kind.") is None
    assert near("").anywhere("The water MUST boil.") is None


def test_one_text_in_two_sections_is_one_answer() -> None:
    found = near().anywhere("Everybody SHOULD wait until the guest has poured the last cup of tea.")
    assert found is not None and found[1].is_clear


def test_two_texts_are_two_answers() -> None:
    frames = "".join(f"## {name}\n\nA frame of type {name} MUST be ignored by servers.\n\n" for name in "AB")
    found = near(f"# Frames\n\n{frames}").anywhere("A frame of type F MUST be ignored by servers.")
    assert found is not None and not found[1].is_clear


def test_rare_words_tell_where_to_look() -> None:
    one = near()
    assert [one.section_id(index) for _, index in one.likely("The pot MUST be filled with soap")][:1] == ["washing"]
    assert one.likely("nothing known") == []
