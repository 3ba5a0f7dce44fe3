"""Which citations have come, gone or gone stale from one state of a project to another."""

from __future__ import annotations

from duvet.queries.difference import compare_catalogues
from tests.unit.queries.compared import FILES, SOURCE, SPECIFICATION, WARM, catalogue, catalogue_of, cites, told


def test_one_citation_of_several() -> None:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list citations with their places when they were added, were removed, or became invalid without
    ##% being edited.
    difference = compare_catalogues(catalogue(a=SOURCE, b=SOURCE), catalogue(b=SOURCE, c=cites(WARM, "todo")))
    assert told(difference) == {
        "citations_removed": [("citation", WARM, ("a.rs:1",)), ("test", WARM, ("a.rs:4",))],
        "citations_added": [("todo", WARM, ("c.rs:1",))],
    }


def test_citations_of_what_is_no_requirement() -> None:
    specification = SPECIFICATION.replace("The cup MAY", "Cups break. The cup MAY")
    was, now = "//= tea.md#cup\n\n", cites("Cups break.", section="cup")
    difference = compare_catalogues(catalogue(tea=specification, a=was), catalogue(tea=specification, a=now))
    assert told(difference) == {
        "citations_removed": [("citation", "Cup", ("a.rs:1",))],
        "citations_added": [("citation", "Cups break.", ("a.rs:1",))],
    }


def test_a_citation_goes_stale() -> None:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list citations with their places when they were added, were removed, or became invalid without
    ##% being edited.
    known = cites("The pot MUST sing.")
    was = catalogue(old=known)
    difference = compare_catalogues(
        was, catalogue(tea=SPECIFICATION.replace("be warm", "be hot"), old=f"\n{known}", new=known)
    )
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
    assert told(compare_catalogues(catalogue(), without)) == {"requirements_removed": rows}
    assert told(compare_catalogues(without, catalogue())) == {"requirements_added": rows}


def test_why_each_citation_went_stale() -> None:
    now = SPECIFICATION.replace("be warm", "be hot").replace("## Cup", "## Mug")
    both = cites(WARM) + cites("The cup MAY be chipped.", section="cup")
    assert told(compare_catalogues(catalogue(pot=both), catalogue(tea=now, pot=both)))["citations_stale"] == [
        ("pot.rs:1", "citation", WARM, 'could not find text in section "pot" of tea.md'),
        ("pot.rs:5", "citation", "The cup MAY be chipped.", 'missing section "cup" in tea.md'),
    ]


def test_the_last_of_equal_citations_is_the_new_one() -> None:
    for one, two in ((1, 2), (1, 3), (2, 3)):
        was, now = (catalogue(pot="", more=cites(WARM) * count) for count in (one, two))
        places = tuple(f"more.rs:{1 + 4 * number}" for number in range(one, two))
        assert told(compare_catalogues(was, now)) == {"citations_added": [("citation", WARM, places)]}
        assert told(compare_catalogues(now, was)) == {"citations_removed": [("citation", WARM, places)]}
