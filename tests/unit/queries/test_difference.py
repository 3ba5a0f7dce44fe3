"""Which requirements have come, gone, moved or changed from one state of a project to another."""

from __future__ import annotations

import pytest

from duvet.queries.difference import compare_catalogues
from tests.unit.queries.compared import (
    FILES,
    SOURCE,
    SPECIFICATION,
    WARM,
    catalogue,
    catalogue_of,
    changed,
    cites,
    told,
)


def test_nothing() -> None:
    assert told(changed()) == {}


@pytest.mark.parametrize(
    "now",
    [
        {"pot": "", "other": SOURCE},
        {"pot": "# more\n\n\n" + SOURCE},
        {"pot": SOURCE.partition("\n\n")[2], "other": SOURCE.partition("\n\n")[0]},
        {"pot": SOURCE.replace("MUST be", "MUST\n//# be")},
        {"tea": SPECIFICATION.replace("\n", "\n\n").replace("MUST be", "MUST\nbe")},
    ],
    ids=["renamed", "shifted", "split", "quote wrapped", "specification wrapped"],
)
def test_what_is_no_change(now: dict[str, str]) -> None:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST NOT list a renamed file or a citation on another line as a change.
    assert told(changed(**now)) == {}


def test_requirements_added_and_removed() -> None:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list the requirements that were added, removed, moved to another section or reworded, even
    ##% when their section or specification was renamed.
    now = SPECIFICATION.replace("The cup MAY be chipped.", "Every saucer SHALL match.\nIt MUST NOT leak tea.")
    difference = changed(tea=now)
    assert told(difference) == {
        "requirements_added": ["tea.md#cup: Every saucer SHALL match.", "tea.md#cup: It MUST NOT leak tea."],
        "requirements_removed": ["tea.md#cup: The cup MAY be chipped."],
    }
    assert (difference.then.requirements, difference.now.requirements) == (3, 4)
    assert [row.text for row in difference.uncited] == ["Every saucer SHALL match.", "It MUST NOT leak tea."]


def test_new_requirements_are_cited_by_anything_but_todos() -> None:
    now = SPECIFICATION + "\nSugar MUST be there.\n\nMilk MUST be there as well.\n"
    sources = cites("Sugar MUST be there.", section="cup") + cites("Milk MUST be there as well.", "todo", "cup")
    difference = changed(tea=now, more=sources)
    assert [row.text for row in difference.uncited] == ["Milk MUST be there as well."]


def test_a_sentence_moves() -> None:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list the requirements that were added, removed, moved to another section or reworded, even
    ##% when their section or specification was renamed.
    blue = "The pot SHOULD be blue.\n"
    difference = changed(tea=SPECIFICATION.replace(blue, "") + blue)
    assert told(difference) == {
        "requirements_moved": [("tea.md#pot: The pot SHOULD be blue.", "tea.md#cup: The pot SHOULD be blue.")]
    }


def test_a_cited_sentence_moves() -> None:
    warm = WARM + "\n"
    assert told(changed(tea=SPECIFICATION.replace(warm, "") + warm)) == {
        "coverage_lost": [("done", "not started", ("implementation", "tests"), ())],
        "citations_stale": [
            ("pot.rs:1", "citation", WARM, 'could not find text in section "pot" of tea.md'),
            ("pot.rs:4", "test", WARM, 'could not find text in section "pot" of tea.md'),
        ],
        "requirements_moved": [(f"tea.md#pot: {WARM}", f"tea.md#cup: {WARM}")],
    }


def test_a_sentence_moves_within_its_specification() -> None:
    sentence = "# A\n\n## One\n\nIt MUST be.\n"
    config = FILES[".duvet/config.toml"] + '[[specification]]\nsource = "water.md"\n'
    then = {".duvet/config.toml": config, "tea.md": sentence, "water.md": sentence}
    now = {**then, "tea.md": "# A\n", "water.md": sentence.replace("One", "Two")}
    assert told(compare_catalogues(catalogue_of(then), catalogue_of(now))) == {
        "requirements_removed": ["tea.md#one: It MUST be."],
        "requirements_moved": [("water.md#one: It MUST be.", "water.md#two: It MUST be.")],
    }


def test_a_section_has_another_name() -> None:
    assert told(changed(tea=SPECIFICATION.replace("## Cup", "## Mug"))) == {
        "requirements_moved": [("tea.md#cup: The cup MAY be chipped.", "tea.md#mug: The cup MAY be chipped.")]
    }


def test_a_sentence_is_reworded() -> None:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list the requirements that were added, removed, moved to another section or reworded, even
    ##% when their section or specification was renamed.
    assert told(changed(tea=SPECIFICATION.replace("SHOULD be blue", "MUST be blue or green"))) == {
        "requirements_changed": [("tea.md#pot: The pot SHOULD be blue.", "tea.md#pot: The pot MUST be blue or green.")]
    }


def test_a_sentence_is_reworded_in_a_section_with_another_name() -> None:
    """What it has lost is lost all the same."""
    now = SPECIFICATION.replace("## Pot", "## Can").replace("MUST be warm", "MUST be as warm")
    assert told(changed(tea=now, pot="")) == {
        "coverage_lost": [("done", "not started", ("implementation", "tests"), ())],
        "requirements_changed": [(f"tea.md#pot: {WARM}", "tea.md#can: The pot MUST be as warm.")],
        "requirements_moved": [("tea.md#pot: The pot SHOULD be blue.", "tea.md#can: The pot SHOULD be blue.")],
        "citations_removed": [("citation", WARM, ("pot.rs:1",)), ("test", WARM, ("pot.rs:4",))],
    }


def test_a_sentence_is_reworded_in_a_specification_with_another_name() -> None:
    """A draft has become a standard: sections that nothing else has moved to are known by their names."""
    now = {
        ".duvet/config.toml": FILES[".duvet/config.toml"].replace("tea.md", "mug.md"),
        "mug.md": SPECIFICATION.replace("MAY be chipped", "MAY be a little chipped"),
        "pot.rs": SOURCE.replace("tea.md", "mug.md"),
    }
    assert told(compare_catalogues(catalogue(), catalogue_of(now))) == {
        "requirements_changed": [
            ("tea.md#cup: The cup MAY be chipped.", "mug.md#cup: The cup MAY be a little chipped.")
        ],
        "requirements_moved": [
            (f"tea.md#pot: {WARM}", f"mug.md#pot: {WARM}"),
            ("tea.md#pot: The pot SHOULD be blue.", "mug.md#pot: The pot SHOULD be blue."),
        ],
    }


def test_a_specification_that_is_still_there_has_no_successor() -> None:
    config = FILES[".duvet/config.toml"]
    now = {
        ".duvet/config.toml": config + config[config.index("[[specification]]") :].replace("tea.md", "mug.md"),
        "tea.md": "# Tea\n\n## Pot\n\nThe pot MUST be warm.\n",
        "mug.md": "# Mug\n\n## Pot\n\nThe pot SHOULD be blue.\n\n## Cup\n\nThe cup MAY be a little chipped.\n",
    }
    assert told(compare_catalogues(catalogue(pot=""), catalogue_of(now))) == {
        "requirements_added": ["mug.md#cup: The cup MAY be a little chipped."],
        "requirements_removed": ["tea.md#cup: The cup MAY be chipped."],
        "requirements_moved": [("tea.md#pot: The pot SHOULD be blue.", "mug.md#pot: The pot SHOULD be blue.")],
    }


def test_the_most_alike_are_the_same() -> None:
    was = "# Tea\n\n" + "".join(f"Part {n} of the pot MUST be number {n}.\n" for n in (1, 2, 3))
    now = "# Tea\n\n" + "".join(f"Part {n} of the pot MUST be at number {n}.\n" for n in (3, 1, 2))
    difference = compare_catalogues(catalogue(tea=was, pot=""), catalogue(tea=now, pot=""))
    assert [(one.then.text[5], one.now.text[5]) for one in difference.requirements_changed] == [
        ("3", "3"),
        ("1", "1"),
        ("2", "2"),
    ]


def test_a_cited_sentence_is_reworded_and_its_citations_with_it() -> None:
    now = changed(tea=SPECIFICATION.replace("be warm", "be hot"), pot=SOURCE.replace("be warm", "be hot"))
    assert told(now) == {"requirements_changed": [(f"tea.md#pot: {WARM}", "tea.md#pot: The pot MUST be hot.")]}


def test_a_sentence_that_is_stated_binds_more() -> None:
    stated = cites("The cup MAY be chipped.", "spec", "cup")
    was, now = (stated.replace("//#", f"//= level={level}\n//#") for level in ("SHOULD", "MUST"))
    difference = compare_catalogues(catalogue(more=was), catalogue(more=now))
    assert [(one.then.level, one.now.level) for one in difference.requirements_changed] == [("SHOULD", "MUST")]
    assert list(told(difference)) == ["requirements_changed"]


def test_a_large_section_is_reworded_throughout() -> None:
    was = "# Tea\n\n" + "".join(f"The part {n} of every pot MUST be warm at {n}.\n" for n in range(2000))
    difference = compare_catalogues(catalogue(tea=was, pot=""), catalogue(tea=was.replace("warm", "very hot"), pot=""))
    assert len(difference.requirements_changed) == 2000
