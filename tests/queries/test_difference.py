"""What has changed from one state of a project to another."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from duvet.model import Level
from duvet.queries.catalogue import Catalogue
from duvet.queries.citing import CitationChange, StaleCitation
from duvet.queries.difference import Change, CoverageChange, Difference, compare
from duvet.queries.rows import RequirementRow
from duvet.trace.states import State
from tests.queries.compared import FILES, SOURCE, SPECIFICATION, WARM, catalogue, catalogue_of, changed, cites

PARTS = [name for name in Difference.__struct_fields__ if name not in ("then", "now")]


def told(difference: Difference) -> dict[str, list[object]]:
    """The parts in which there is anything, in short."""
    parts = {name: [_short(one) for one in getattr(difference, name)] for name in PARTS}
    return {name: found for name, found in parts.items() if found}


def _short(one: object) -> object:
    match one:
        case RequirementRow():
            return f"{one.target}: {one.text}"
        case CoverageChange():
            return (one.then.status, one.now.status, one.lost, one.gained)
        case CitationChange():
            return (one.kind, one.text, one.places)
        case StaleCitation():
            return (f"{one.file_path}:{one.line_number}", one.kind, one.quote, one.message)
    assert isinstance(one, Change)
    return (_short(one.then), _short(one.now))


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
    ##= man/spec/diff.md#citations
    ##% A file that has another name, and a citation that stands on another line, MUST NOT be told as a change.
    assert told(changed(**now)) == {}


def test_requirements_added_and_removed() -> None:
    ##= man/spec/diff.md#requirements
    ##% A requirement that was not there MUST be told as added, and one that is not there any more as removed.
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
    ##= man/spec/diff.md#requirements
    ##% A sentence that stands in another section than before MUST be told as moved.
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
    assert told(compare(catalogue_of(then), catalogue_of(now))) == {
        "requirements_removed": ["tea.md#one: It MUST be."],
        "requirements_moved": [("water.md#one: It MUST be.", "water.md#two: It MUST be.")],
    }


def test_a_section_has_another_name() -> None:
    assert told(changed(tea=SPECIFICATION.replace("## Cup", "## Mug"))) == {
        "requirements_moved": [("tea.md#cup: The cup MAY be chipped.", "tea.md#mug: The cup MAY be chipped.")]
    }


def test_a_sentence_is_reworded() -> None:
    ##= man/spec/diff.md#requirements
    ##% A sentence that resembles an earlier one of its section MUST be told as changed, also where the section or the
    ##% specification has another name now.
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
    assert told(compare(catalogue(), catalogue_of(now))) == {
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
    assert told(compare(catalogue(pot=""), catalogue_of(now))) == {
        "requirements_added": ["mug.md#cup: The cup MAY be a little chipped."],
        "requirements_removed": ["tea.md#cup: The cup MAY be chipped."],
        "requirements_moved": [("tea.md#pot: The pot SHOULD be blue.", "mug.md#pot: The pot SHOULD be blue.")],
    }


def test_the_most_alike_are_the_same() -> None:
    was = "# Tea\n\n" + "".join(f"Part {n} of the pot MUST be number {n}.\n" for n in (1, 2, 3))
    now = "# Tea\n\n" + "".join(f"Part {n} of the pot MUST be at number {n}.\n" for n in (3, 1, 2))
    difference = compare(catalogue(tea=was, pot=""), catalogue(tea=now, pot=""))
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
    difference = compare(catalogue(more=was), catalogue(more=now))
    assert [(one.then.level, one.now.level) for one in difference.requirements_changed] == [("SHOULD", "MUST")]
    assert list(told(difference)) == ["requirements_changed"]


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
    ##= man/spec/diff.md#coverage
    ##% A requirement whose status is lower than it was, or that has lost its implementation or its tests, MUST be told as
    ##% having lost coverage.
    difference = compare(_with(was), _with(now))
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
    ##= man/spec/diff.md#coverage
    ##% A requirement whose status is higher than it was, or that has got an implementation or tests, MUST be told as
    ##% having gained coverage, unless it has lost some.
    difference = compare(_with(was), _with(now))
    assert told(difference)["coverage_gained"] == [(status_then, status_now, (), gained)]
    assert difference.losses == "" and not difference.coverage_lost


def _with(kinds: str) -> Catalogue:
    reason = "//= reason=too dear\n"
    comments = [
        cites(WARM, kind).replace("//#", f"{reason}//#") if kind == "exception" else cites(WARM, kind)
        for kind in kinds.split()
    ]
    return catalogue(pot="".join(comments))


def test_one_citation_of_several() -> None:
    ##= man/spec/diff.md#citations
    ##% Citations that have come or gone MUST be told with their places.
    difference = compare(catalogue(a=SOURCE, b=SOURCE), catalogue(b=SOURCE, c=cites(WARM, "todo")))
    assert told(difference) == {
        "citations_removed": [("citation", WARM, ("a.rs:1",)), ("test", WARM, ("a.rs:4",))],
        "citations_added": [("todo", WARM, ("c.rs:1",))],
    }


def test_citations_of_what_is_no_requirement() -> None:
    specification = SPECIFICATION.replace("The cup MAY", "Cups break. The cup MAY")
    was, now = "//= tea.md#cup\n\n", cites("Cups break.", section="cup")
    difference = compare(catalogue(tea=specification, a=was), catalogue(tea=specification, a=now))
    assert told(difference) == {
        "citations_removed": [("citation", "Cup", ("a.rs:1",))],
        "citations_added": [("citation", "Cups break.", ("a.rs:1",))],
    }


def test_a_citation_goes_stale() -> None:
    ##= man/spec/diff.md#citations
    ##% A citation that was right and is wrong now, though it says the same, MUST be told as stale, with its place.
    known = cites("The pot MUST sing.")
    was = catalogue(old=known)
    difference = compare(was, catalogue(tea=SPECIFICATION.replace("be warm", "be hot"), old=f"\n{known}", new=known))
    message = 'could not find text in section "pot" of tea.md'
    assert told(difference) == {
        "coverage_lost": [("done", "not started", ("implementation", "tests"), ())],
        "citations_stale": [("pot.rs:1", "citation", WARM, message), ("pot.rs:4", "test", WARM, message)],
        "requirements_changed": [(f"tea.md#pot: {WARM}", "tea.md#pot: The pot MUST be hot.")],
    }
    assert difference.losses == "1 requirement lost coverage, 2 citations went stale"


def test_what_is_cited_is_no_requirement_any_more() -> None:
    """The citation is what it was."""
    config = FILES[".duvet/config.toml"]
    files = {**FILES, ".duvet/config.toml": config[: config.index("[[specification]]")]}
    without = catalogue_of(files)
    texts = [WARM, "The pot SHOULD be blue.", "The cup MAY be chipped."]
    rows = [f"tea.md#{section}: {text}" for section, text in zip(("pot", "pot", "cup"), texts, strict=True)]
    assert told(compare(catalogue(), without)) == {"requirements_removed": rows}
    assert told(compare(without, catalogue())) == {"requirements_added": rows}


def test_why_each_citation_went_stale() -> None:
    now = SPECIFICATION.replace("be warm", "be hot").replace("## Cup", "## Mug")
    both = cites(WARM) + cites("The cup MAY be chipped.", section="cup")
    assert told(compare(catalogue(pot=both), catalogue(tea=now, pot=both)))["citations_stale"] == [
        ("pot.rs:1", "citation", WARM, 'could not find text in section "pot" of tea.md'),
        ("pot.rs:5", "citation", "The cup MAY be chipped.", 'missing section "cup" in tea.md'),
    ]


def test_the_last_of_equal_citations_is_the_new_one() -> None:
    for one, two in ((1, 2), (1, 3), (2, 3)):
        was, now = (catalogue(pot="", more=cites(WARM) * count) for count in (one, two))
        places = tuple(f"more.rs:{1 + 4 * number}" for number in range(one, two))
        assert told(compare(was, now)) == {"citations_added": [("citation", WARM, places)]}
        assert told(compare(now, was)) == {"citations_removed": [("citation", WARM, places)]}


def test_what_is_not_applicable_loses_nothing() -> None:
    ##= man/spec/diff.md#coverage
    ##% What is or was not applicable MUST NOT be told as a change of coverage.
    was, now = catalogue(), catalogue(pot="")
    settled = tuple(replace(card, state=State.NOT_APPLICABLE, citations=()) for card in now.requirements)
    now = replace(now, requirements=settled)
    for pair in ((was, now), (now, catalogue(pot=""))):
        difference = compare(*pair)
        assert not difference.coverage_lost and not difference.coverage_gained
    assert {card.level for card in now.requirements} == {Level.MUST, Level.SHOULD, Level.MAY}


def test_a_large_section_is_reworded_throughout() -> None:
    was = "# Tea\n\n" + "".join(f"The part {n} of every pot MUST be warm at {n}.\n" for n in range(2000))
    difference = compare(catalogue(tea=was, pot=""), catalogue(tea=was.replace("warm", "very hot"), pot=""))
    assert len(difference.requirements_changed) == 2000
