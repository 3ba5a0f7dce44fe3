"""The requirements that targets mean"""

from __future__ import annotations

import pytest

from duvet.errors import NotFoundError
from duvet.project.project import Project
from duvet.trace.gates import RequirementsByTarget
from duvet.tree.files import MemoryTree
from tests.unit.queries.made import NUMBERED, RFC, RFC_FILE

CONFIG = f"""\
'$schema' = "duvet-cli/config/v1"
specification = [
  {{ source = "tea.md" }},
  {{ source = "{RFC}" }},
  {{ source = "empty.md" }},
  {{ source = "https://host/gone" }},
]
"""
TEA = "# Tea\n\nIt MUST be hot.\n\n## Pot\n\nIt MUST be warm. It MAY be blue.\n\n### Lid\n\nIt MUST close.\n"
FILES = {
    ".duvet/config.toml": CONFIG,
    "tea.md": TEA,
    RFC_FILE: NUMBERED,
    "empty.md": "# Empty\n",
}


@pytest.fixture(scope="module")
def scopes() -> RequirementsByTarget:
    """Those of a project with Markdown, an RFC, a text without requirements, and one that is not there."""
    return Project("/w/inner", tree=MemoryTree({path: text.encode() for path, text in FILES.items()})).scopes


def texts(scopes: RequirementsByTarget, target: str, *, below: bool = True) -> list[str]:
    return [scopes.requirements[index].text for index in scopes.of(target, below=below)]


@pytest.mark.parametrize("target", ["tea.md", "./tea.md", "tea", "Tea"])
def test_a_specification_is_all_of_its_requirements(target: str, scopes: RequirementsByTarget) -> None:
    ##= man/spec/gates.md#not-applicable
    ##% An entry MUST apply to all requirements of its specification, to those of its section with the subsections of
    ##% IETF text, or to the one that it quotes.
    assert texts(scopes, target) == ["It MUST be hot.", "It MUST be warm.", "It MAY be blue.", "It MUST close."]


def test_a_section_of_markdown_is_its_own_requirements(scopes: RequirementsByTarget) -> None:
    assert texts(scopes, "tea.md#pot") == ["It MUST be warm.", "It MAY be blue."]
    assert texts(scopes, "tea.md#tea") == ["It MUST be hot."]


@pytest.mark.parametrize(
    ("section", "found"),
    [
        ("section-1", "One Two Three"),
        ("1", "One Two Three"),
        ("1.1", "Two Three"),
        ("section-1.1.1", "Three"),
        ("10", "Four"),
        ("A", "Five Six"),
        ("appendix-A.1", "Six"),
        ("Saucer", "Five Six"),
    ],
)
def test_a_numbered_section_is_those_below_it_too(section: str, found: str, scopes: RequirementsByTarget) -> None:
    ##= man/spec/gates.md#not-applicable
    ##% An entry MUST apply to all requirements of its specification, to those of its section with the subsections of
    ##% IETF text, or to the one that it quotes.
    assert texts(scopes, f"{RFC}#{section}") == [f"{word} MUST be." for word in found.split()]
    assert texts(scopes, f"rfc7#{section}", below=False) == [f"{found.split()[0]} MUST be."]


@pytest.mark.parametrize("name", [f"{RFC}.txt", f"{RFC}.html", "HTTPS://WWW.RFC-EDITOR.ORG/rfc/rfc7", "RFC 7"])
def test_every_spelling_of_an_rfc(name: str, scopes: RequirementsByTarget) -> None:
    assert texts(scopes, f"{name}#10") == ["Four MUST be."]


def test_a_specification_without_requirements(scopes: RequirementsByTarget) -> None:
    assert scopes.of("empty.md") == scopes.of("empty.md#empty") == []


@pytest.mark.parametrize(
    ("target", "message", "hint"),
    [
        ("tee.md", 'there is no specification "tee.md"', "did you mean tea?"),
        ("../tea.md", 'there is no specification "../tea.md"', "did you mean tea?"),
        ("", 'there is no specification ""', "there are rfc7, tea, empty"),
        ("http://", 'there is no specification "http://"', "there are rfc7, tea, empty"),
        ("tea.md#poot", 'there is no section "poot" in tea.md', "did you mean pot?"),
        ("tea.md#", 'there is no section "" in tea.md', "`duvet show tea` lists the sections"),
        (f"{RFC}#1.2", f'there is no section "1.2" in {RFC}', "`duvet show rfc7` lists the sections"),
    ],
)
def test_what_is_not_there(target: str, message: str, hint: str, scopes: RequirementsByTarget) -> None:
    with pytest.raises(NotFoundError) as error:
        scopes.of(target)
    assert (error.value.message, error.value.hint) == (message, hint)


def test_what_could_not_be_loaded(scopes: RequirementsByTarget) -> None:
    targets = ("https://host/gone", "https://host/gone#1", "https://HOST/gone", "https://host/other", "tea.md")
    assert [scopes.is_unavailable(target) for target in targets] == [True, True, True, False, False]


def test_a_path_that_leads_to_a_folder_above() -> None:
    files = {"/w/tea.md": TEA, "a.rs": "//= tea.md#pot\n//= type=spec\n//# It MAY be blue.\n"}
    config = "'$schema' = 'duvet-cli/config/v1'\nsource = [{ pattern = 'a.rs' }]\n"
    tree = MemoryTree({path: text.encode() for path, text in {**files, ".duvet/config.toml": config}.items()})
    assert texts(Project("/w/inner", tree=tree).scopes, "tea.md#pot") == ["It MAY be blue."]
