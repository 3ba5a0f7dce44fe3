"""Ids of requirements in references, filters, search, lists and differences."""

from __future__ import annotations

import pytest
from msgspec import json
from msgspec.structs import replace

from duvet.errors import NotFoundError
from duvet.queries.difference import compare_catalogues
from duvet.queries.records import RequirementFilter, make_requirement_rows, select_requirements
from duvet.queries.references import RequirementRef, SectionRef, resolve_reference
from duvet.queries.search import SearchQuery, search_requirements
from duvet.reports.diff import group_differences
from duvet.reports.tables import ID_COLUMN, NAME_COLUMN, TEXT_COLUMN, ListFormat, Listing, render_listing
from duvet.trace.catalogue import Catalogue
from duvet.tree.cache import Cache
from tests.unit.queries.query_projects import NO_FILES, make_catalogue

CONFIG = """'$schema' = 'duvet-cli/config/v1'
[[specification]]
source = 'tea.md'
[[specification]]
source = 'cafe.md'
"""
WARM, CLEAN, LOGIN, FAST = "The pot MUST be warm.", "The pot MUST be clean.", "A user MUST log in.", "It MUST be fast."
TEA = f"# Tea\n\n## Pot\n\n{WARM}\n\n{CLEAN}\n\n## FR-005 Login\n\n- {LOGIN}\n- {FAST}\n\n## Cup\n\nA cup MUST be FR-002.\n"
CAFE = "# Cafe\n\n## Door\n\nThe door MUST be open.\n\nThe door MUST be red.\n"
NAMES = {WARM: "FR-001", CLEAN: "FR-002", LOGIN: "FR-005", FAST: "FR-005", "The door MUST be open.": "FR-001"}


def named(names: dict[str, str], tea: str = TEA) -> Catalogue:
    """Return the catalogue of the project with these requirement ids."""
    found = make_catalogue({".duvet/config.toml": CONFIG, "tea.md": tea, "cafe.md": CAFE})
    return replace(found, requirements=tuple(replace(one, name=names.get(one.text, "")) for one in found.requirements))


CATALOGUE = named({**NAMES, "The door MUST be red.": "Dead"})


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("FR-002", CLEAN),
        ("fr-002", CLEAN),
        ("tea.md#FR-001", WARM),
        ("tea#fr-001", WARM),
        ("cafe#FR-001", "The door MUST be open."),
        ("dead", "The door MUST be red."),
        ("/specifications/tea/sections/pot/requirements/FR-001", WARM),
        ("duvet:///specifications/tea/sections/pot/requirements/fr-002", CLEAN),
    ],
)
def test_an_id_is_a_reference(reference: str, expected: str) -> None:
    ##= man/spec/names.md#references
    ##% duvet MUST accept a requirement id in upper or lower case, alone or as `SPEC#ID`, wherever it accepts the id
    ##% that duvet computes for a requirement.
    found = resolve_reference(CATALOGUE, reference, NO_FILES)
    assert isinstance(found, RequirementRef)
    assert [CATALOGUE.requirements[index].text for index in found.indexes] == [expected]
    answer = search_requirements(CATALOGUE, SearchQuery(reference), Cache(), NO_FILES)
    assert answer.rows[0].text == expected


def test_the_id_at_the_head_of_a_title_is_its_section() -> None:
    catalogue = named({})
    for reference in ("FR-005", "fr-005", "tea.md#FR-005"):
        # Several requirements of CATALOGUE have the id of the heading.
        for one in (catalogue, CATALOGUE):
            assert resolve_reference(one, reference, NO_FILES) == SectionRef(1, "fr-005-login")
    found = select_requirements(catalogue, RequirementFilter((), ("tea#FR-005",)))
    assert [catalogue.requirements[index].text for index in found] == [LOGIN, FAST]
    source = "##= tea.md#FR-005\n##% It MUST be fast.\n"
    entry = "[[not-applicable]]\ntarget = 'tea.md#FR-005'\nreason = 'no users'\n"
    files = {
        ".duvet/config.toml": f"{CONFIG}{entry}[[source]]\nlanguage = 'python'\n",
        "tea.md": TEA.replace("FR-002", "hot"),
        "cafe.md": CAFE,
    }
    cited = make_catalogue({**files, "a.py": source})
    assert cited.problems == ()
    assert [
        (one.text, one.state.words, len(one.citations)) for one in cited.requirements if one.section[:2] == "fr"
    ] == [(LOGIN, "not applicable", 0), (FAST, "not applicable", 1)]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (
            "FR-001",
            '"FR-001" is the id of requirements in 2 specifications: use one of these:\ncafe.md#FR-001\ntea.md#FR-001',
        ),
        ("FR-003", 'nothing matches "FR-003": did you mean FR-001 or FR-002 or FR-005?'),
        ("tea.md#FR-003", 'unknown section "FR-003" of tea.md: did you mean FR-001 or FR-002 or FR-005?'),
        ("cafe.md#FR-002", 'unknown section "FR-002" of cafe.md: did you mean FR-001?'),
    ],
)
def test_an_ambiguous_or_unknown_id(reference: str, message: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        resolve_reference(CATALOGUE, reference, NO_FILES)
    assert f"{caught.value.message}: {caught.value.hint}" == message


def test_an_id_of_two_requirements_lists_both() -> None:
    catalogue = named({WARM: "FR-001", CLEAN: "FR-001"})
    with pytest.raises(NotFoundError) as caught:
        resolve_reference(catalogue, "FR-001", NO_FILES)
    lines = [f"{one.id[:12]}  {one.text}" for one in catalogue.requirements if one.text in (WARM, CLEAN)]
    assert caught.value.hint.splitlines() == ["use one of these ids:", *lines]


@pytest.mark.parametrize(
    ("section", "specifications", "expected"),
    [
        ("FR-002", (), [CLEAN]),
        ("fr-001", (), ["The door MUST be open.", WARM]),
        ("tea.md#FR-001", (), [WARM]),
        ("FR-001", ("cafe",), ["The door MUST be open."]),
        ("FR-005", (), [LOGIN, FAST]),
    ],
)
def test_an_id_is_a_filter(section: str, specifications: tuple[str, ...], expected: list[str]) -> None:
    found = select_requirements(CATALOGUE, RequirementFilter(specifications, (section,)))
    assert [CATALOGUE.requirements[index].text for index in found] == expected


def test_lists_show_ids_if_there_are_any() -> None:
    rows = make_requirement_rows(CATALOGUE, range(2, 4))
    columns = (ID_COLUMN, NAME_COLUMN, TEXT_COLUMN)
    ids = [id[:12] for id in CATALOGUE.ids[2:4]]
    assert render_listing(Listing(columns, rows), ListFormat.CSV).decode() == (
        f"id,name,text\n{ids[0]},FR-001,{WARM}\n{ids[1]},FR-002,{CLEAN}\n"
    )
    assert render_listing(Listing(columns, rows), ListFormat.PLAIN).decode() == (
        f"{ids[0]}\tFR-001\t{WARM}\n{ids[1]}\tFR-002\t{CLEAN}\n"
    )
    assert json.decode(json.encode(rows[0]))["name"] == "FR-001"
    without = make_requirement_rows(named({}), range(2, 3))
    assert render_listing(Listing(columns, without), ListFormat.CSV).decode() == f"id,text\n{ids[0]},{WARM}\n"
    assert "name" not in json.decode(json.encode(without[0]))


def test_a_reworded_requirement_with_an_id_has_changed() -> None:
    new = "Nobody MAY ever drop a kettle, whatever it holds."
    then, now = (
        named(NAMES),
        named({**NAMES, new: "FR-001"}, TEA.replace(f"{WARM}\n\n", "").replace(CLEAN, f"{new}\n\n{CLEAN}")),
    )
    found = compare_catalogues(then, now)
    assert [(one.then.text, one.now.text) for one in found.requirements_changed] == [(WARM, new)]
    assert (found.requirements_added, found.requirements_removed) == ((), ())
    assert [(group.title, group.items) for group in group_differences(found)] == [
        (
            "Requirements changed",
            (
                (
                    "tea.md#pot",
                    "FR-001; was MUST, now MAY; uncited",
                    (("", "[-The pot MUST be warm.-]{+Nobody MAY ever drop a kettle, whatever it holds.+}"),),
                ),
            ),
        )
    ]


def test_the_text_decides_where_ids_were_exchanged() -> None:
    then, now = named(NAMES), named({**NAMES, WARM: "FR-002", CLEAN: "FR-001"})
    found = compare_catalogues(then, now)
    assert [(one.then.name, one.now.name, one.now.text) for one in found.requirements_changed] == [
        ("FR-001", "FR-002", WARM),
        ("FR-002", "FR-001", CLEAN),
    ]
    assert [item.words for group in group_differences(found) for item in group.items] == [
        "was FR-001, now FR-002; MUST; uncited",
        "was FR-002, now FR-001; MUST; uncited",
    ]
