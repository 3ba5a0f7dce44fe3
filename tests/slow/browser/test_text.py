"""The text of specifications, byte for byte, with what is cited marked in it."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.slow.browser.reading import RUNS, Line, go, lines_of, locators, text_of
from tests.slow.browser.reports import Report, Reports
from tests.slow.browser.visits import Visits

LETTERS = """\
# Letters

## Wide

The größte Tür MUST be\tzu and the
e\N{COMBINING ACUTE ACCENT}tude MUST be played. 試験は MUST pass 試験 well.
\tA tab MUST stand, and <b>&amp;</b> MUST stay.

## Twice

A cup MUST be clean.
A cup MUST be clean.

## Around

Nobody MUST shout, and nobody MUST run.
Neither matters.
"""
TWO = """\
target = "letters.md#around"

[[spec]]
level = "MUST"
quote = "shout, and nobody MUST run."

[[spec]]
level = "MUST"
quote = "Nobody MUST shout, and nobody"
"""
CODE = """\
//= letters.md#wide
//# The größte Tür MUST be zu

//= letters.md#wide
//# 試験は MUST pass 試験 well.

//= letters.md#twice
//# A cup MUST be clean.

//= letters.md#around
//# Neither matters.
"""
FILES = {
    ".duvet/config.toml": """\
'$schema' = "duvet-cli/config/v1"
source = [{ language = "rust" }]
specification = [{ source = "letters.md" }]
requirement = [{ pattern = "more/*.toml" }]
""",
    "letters.md": LETTERS,
    "more/two.toml": TWO,
    "src/a.rs": CODE,
}


def shown(page: Page, specification: str) -> dict[str, list[Line]]:
    """The text of each section that is in the page, by its anchor."""
    go(page, f"#{specification}")
    parts = page.locator(f'[id="{specification}"] section.part')
    found: list[tuple[str, list[tuple[bool, str]]]] = parts.evaluate_all(
        f"parts => parts.map(part => [part.dataset.id ?? part.id, [...part.querySelectorAll('pre:not(li pre)')]"
        f".flatMap({RUNS})])"
    )
    return {id.removeprefix(f"{specification}/"): lines_of(runs) for id, runs in found}


def test_the_text_of_a_real_project_is_that_of_its_sources(visit: Visits, s2n: Report) -> None:
    page = visit(s2n.url)
    held = 0
    for specification, locator in locators(page).items():
        sections = {one["id"]: text_of(one) for one in s2n.json["specifications"][locator]["sections"]}
        parts = shown(page, specification)
        assert parts == {id: sections[id] for id in parts}
        held += len(parts)
        cited = {id for id, lines in sections.items() if any(marked for line in lines for marked, _ in line)}
        assert cited <= parts.keys()
    assert held > 100


def test_letters_of_all_kinds_keep_their_places(visit: Visits, reports: Reports) -> None:
    report = reports.of("letters", FILES)
    page = visit(report.url)
    sections = {one["id"]: text_of(one) for one in report.json["specifications"]["letters.md"]["sections"]}
    (specification,) = locators(page)
    parts = shown(page, specification)
    assert parts == {id: sections[id] for id in parts}
    assert ["".join(text for _, text in line) for line in parts["wide"]] == LETTERS.splitlines()[4:7]


def signs(page: Page, section: str) -> list[list[str]]:
    """What is marked in a section: the class of each, and its text."""
    found: list[list[str]] = page.locator(f'section.part[id$="/{section}"] > pre :is(a, mark)').evaluate_all(
        "marks => marks.map(mark => [mark.className.replace(' g', ''), mark.textContent])"
    )
    return found


def test_a_quote_that_stands_twice_in_its_section_is_one_requirement(visit: Visits, reports: Reports) -> None:
    page = visit(reports.of("letters", FILES).url + "#letters")
    assert [text for _, text in signs(page, "twice")] == ["A cup MUST be clean."]


def test_a_quote_that_stands_in_two_sections_is_two_requirements(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    items = page.locator("ul.requirements > li", has_text="The pot MUST be warm.")
    ids = items.evaluate_all("all => all.map(one => one.id.split('/'))")
    assert [section for _, section, _ in ids] == ["pot", "milk"] and len({tuple(id) for id in ids}) == 2


def test_text_of_two_requirements_names_both(visit: Visits, reports: Reports) -> None:
    page = visit(reports.of("letters", FILES).url + "#letters")
    part = page.locator('section.part[id$="/around"]')
    ids = part.locator("ul.requirements > li").evaluate_all("items => items.map(item => item.id.split('/').pop())")
    assert len(ids) == 3
    shared = part.locator("pre [data-r]").evaluate_all("marks => marks.map(mark => mark.dataset.r.split(' ').length)")
    assert max(shared) > 1
    named = part.locator("pre [data-r]").evaluate_all("marks => marks.flatMap(mark => mark.dataset.r.split(' '))")
    assert set(named) <= set(ids)


def test_what_lacks_of_a_partial_requirement_looks_uncited(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    assert signs(page, "cup")[:3] == [
        ["s3", "A cup MUST be clean"],
        ["s0", " and"],
        ["s0", "MUST be dry."],
    ]


def test_cited_text_that_is_no_requirement_is_marked_as_such(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#manners")
    assert signs(page, "guests") == [["s8", "Guests say thank you."]]
    assert "no requirement" in page.locator('[id="manners/guests/cited"]').inner_text()


def test_each_specification_with_text_has_its_own_view(visit: Visits, s2n: Report) -> None:
    page = visit(s2n.url)
    for specification in locators(page):
        go(page, f"#{specification}")
        views = page.locator("main > .view").filter(visible=True)
        assert views.evaluate_all("views => views.map(view => view.id)") == [specification]
