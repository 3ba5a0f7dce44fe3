"""`validate_citation`: which specification is meant by a name, and that nothing else is read"""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.project.project import Project
from duvet.tools.context import ProjectSnapshot
from tests.cli.made import make
from tests.cli.made_tea import TEA_PROJECT
from tests.unit.tools.made import answer, context_of
from tests.unit.tools.trace.judging import VALID, invalid, verdict


@pytest.fixture
def elsewhere(tmp_path: Path) -> ProjectSnapshot:
    """A project on disk with things around it that are none of a client's business."""
    (tmp_path / "secret.md").write_text("# Secret\n\nThe key MUST be 42.\n")
    folder = make(tmp_path / "tea", {**TEA_PROJECT, ".env.md": "# Secret\n", "other.md": "# Other\n\nIt MUST be.\n"})
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    project = Project(str(folder))
    return ProjectSnapshot(project, project.catalogue, 50)


@pytest.mark.parametrize(
    "name",
    [
        "../secret.md",
        "{}/secret.md",
        "{}/none.md",
        "../tea/../secret.md",
        "tea.md/../../secret.md",
        "link.md",
        ".env.md",
        "%2e%2e/secret.md",
        "..\\secret.md",
        "secret.md\0.md",
        "file:///etc/passwd",
        "https://example.org/../../secret.md",
    ],
)
def test_nothing_outside_of_the_project_is_read(elsewhere: ProjectSnapshot, tmp_path: Path, name: str) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% The server MUST resolve a path from a client inside the project or refuse it, without revealing whether a file
    ##% outside exists.
    found = verdict(f"//= {name.format(tmp_path)}#secret\n//# The key MUST be 41.", elsewhere)
    assert isinstance(found, dict) and found["error"].startswith(("Specification not found: ", "URL not found: "))
    assert "be 42" not in str(found) and str(tmp_path) not in str(found).replace(name.format(tmp_path), "")


def test_a_file_of_the_project_may_be_cited_before_anything_else_cites_it(elsewhere: ProjectSnapshot) -> None:
    assert verdict("//= other.md#other", elsewhere) == VALID
    assert verdict("//= other.md#others", elsewhere) == invalid(
        'Section not found: missing section "others" in other.md', nearest="other.md#other"
    )


def test_nothing_is_downloaded(elsewhere: ProjectSnapshot, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% Tools MUST NOT download anything in order to read.
    for url in ("http://127.0.0.1:9/a#b", "https://www.rfc-editor.org/rfc/rfc1#section-1"):
        name = url.partition("#")[0]
        assert verdict(f"//= {url}", elsewhere) == invalid(
            f"Specification not found: {name} is no specification of this project"
        )
    assert sorted(tmp_path.rglob("*")) == before


COFFEE = """\
Request for Comments: 2324

2. HTCPCP Protocol

   The protocol.

2.1.1 The BREW method

   Commands to control a coffee pot MUST be sent.
"""


def test_the_examples_of_the_specification_of_the_server() -> None:
    url = "https://www.rfc-editor.org/rfc/rfc2324"
    text = ".duvet/specifications/www.rfc-editor.org/rfc/rfc2324.txt"
    config = TEA_PROJECT[".duvet/config.toml"].replace("rfc7168.txt", url)
    context = context_of({**TEA_PROJECT, ".duvet/config.toml": config, text: COFFEE})
    assert verdict(f"//= {url}#section-2.1.1", context) == {"valid": True}
    wrong = verdict(f"//= {url}#section-9.1", context)
    assert wrong == invalid(f'Section not found: missing section "section-9.1" in {url}')
    assert verdict("//= rfc2324#section-2.1.1", context) == invalid(
        'Specification not found: Could not resolve file "rfc2324"', nearest=f"{url}#section-2.1.1"
    )


URL = "https://www.rfc-editor.org/rfc/rfc7168"
BY_URL = {
    **TEA_PROJECT,
    ".duvet/config.toml": TEA_PROJECT[".duvet/config.toml"].replace("rfc7168.txt", URL),
    ".duvet/specifications/www.rfc-editor.org/rfc/rfc7168.txt": TEA_PROJECT["rfc7168.txt"],
}


@pytest.mark.parametrize(
    "name",
    ["rfc7168", "RFC 7168", "urn:ietf:rfc:7168", "/specifications/rfc7168", "https://datatracker.ietf.org/doc/rfc7168"],
)
def test_what_is_meant_by_another_name_is_told_in_full(name: str) -> None:
    context = context_of(BY_URL)
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% The error of an invalid citation MUST begin with `URL not found`, `Specification not found`, `Section not found`
    ##% or `Requirement not found`, and the second block MUST say what to do.
    for section, nearest, step in (
        ("section-2", f"{URL}#section-2", "Name the target as `nearest` says."),
        ("section-99", URL, "Name the specification as `nearest` says, and one of its sections: spec#section."),
    ):
        found, told = answer(context, "validate_citation", citation=f"//= {name}#{section}")
        assert (found["error"].partition(":")[0], found["nearest"], told) == ("Specification not found", nearest, step)


def test_a_second_spelling_is_told_though_it_is_cited_already() -> None:
    text = f"//= {URL}#section-2\n\n//= {URL}.txt#section-2\n"
    context = context_of({**BY_URL, "src/pot.rs": text})
    warning = f"this counts as another specification than {URL}: name that one"
    ##= man/spec/trace.md#targets-and-quotes
    ##= type=test
    ##% duvet SHOULD warn about two spellings of one specification.
    assert verdict(f"//= {URL}.txt#section-2", context) == {"valid": True, "warning": warning}
    assert verdict(f"//= {URL}#section-2", context) == VALID


def test_each_spelling_of_a_url_is_taken_as_in_a_report() -> None:
    url = "https://www.rfc-editor.org/rfc/rfc7168"
    config = TEA_PROJECT[".duvet/config.toml"].replace("rfc7168.txt", url)
    text = ".duvet/specifications/www.rfc-editor.org/rfc/rfc7168.txt"
    context = context_of({**TEA_PROJECT, ".duvet/config.toml": config, text: TEA_PROJECT["rfc7168.txt"]})
    assert verdict(f"//= {url}#section-2", context) == VALID
    other = "this counts as another specification than https://www.rfc-editor.org/rfc/rfc7168: name that one"
    for spelling in (
        f"{url}.txt",
        "https://tools.ietf.org/rfc/rfc7168",
        "https://datatracker.ietf.org/doc/html/rfc7168",
    ):
        assert verdict(f"//= {spelling}#section-2", context) == {"valid": True, "warning": other}
    assert verdict("//= https://datatracker.ietf.org/doc/rfc7168#section-2", context) == invalid(
        "Specification not found: https://datatracker.ietf.org/doc/rfc7168 is no specification of this project",
        nearest=f"{url}#section-2",
    )
