"""`validate_citation`"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duvet.project import Project
from duvet.tools.context import Context
from duvet.tools.errors import Code, ToolError
from duvet.validation.validate import validate
from tests.commands.made import make
from tests.commands.made_tea import TEA_PROJECT
from tests.tools.made import answer, context_of, value

TEA = context_of(TEA_PROJECT)
VALID = {"valid": True}


def verdict(citation: str, context: Context = TEA) -> object:
    return value(context, "validate_citation", citation=citation)


def invalid(error: str, **more: str) -> object:
    return {"valid": False, "error": error, **more}


@pytest.mark.parametrize(
    "citation",
    [
        "//= tea.md#pot",
        "tea.md#pot",
        "rfc7168.txt#section-2",
        "rfc7168.txt#2",
        "//= tea.md#pot\n//# The pot MUST be warm.",
        "##= tea.md#pot\n##= type=test\n##% The pot MUST\n##% be warm.",
        "/*= tea.md#pot\n *# It SHOULD be round */",
        "//= tea.md#cup\n//= type=exception\n//= reason=Paper.\n//# A cup MUST NOT leak.\n//= tea.md#sugar\n",
        "//= tea.md#tea\n//= type=spec\n//# How tea is made",
    ],
)
def test_what_is_right_is_valid_and_nothing_else_is_said(citation: str) -> None:
    assert answer(TEA, "validate_citation", citation=citation) == (VALID, "")


@pytest.mark.parametrize("kind", ["spec", "exception", "todo", "todos"])
def test_entries_of_requirement_files(kind: str) -> None:
    more = 'reason = "Paper."' if kind == "exception" else ""
    entry = f"  [[{kind}]]\n  {{}}quote = '''\nA cup\nMUST NOT leak.\n'''\n{more}\n"
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% An entry of a requirement file MUST be read as one, with the target above it or its own.
    assert verdict(entry.format('target = "tea.md#cup"\n')) == VALID
    assert verdict('target = "tea.md#cup"\n\n# A cup\n#\n' + entry.format("")) == VALID
    assert verdict("# A comment.\n\n" + entry.format('target = "tea.md#cup"\n')) == VALID
    assert verdict('target = "tea.md#pot"\n' + entry.format("")) == invalid(
        f"Requirement not found: {MISSING}", nearest="tea.md#cup"
    )
    assert verdict(entry.format('target = "tea.md#cups"\n')) == invalid(
        'Section not found: missing section "cups" in tea.md', nearest="tea.md#cup"
    )
    step = 'write `target = "specification#section"` here, or above all tables for the whole file'
    assert answer(TEA, "validate_citation", citation=entry.format("")) == (
        invalid("URL not found: missing target"),
        step,
    )


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ('[[exception]]\ntarget = "tea.md#cup"\nquote = "A cup MUST NOT leak."', "missing field `reason`"),
        (
            '[[todo]]\ntarget = "tea.md#cup"\nquote = "A cup',
            "TOML parse error at line 3, column 15: unterminated string",
        ),
        ('target = "tea.md#cup"', "no target can be read; it is written `spec#section`"),
        ("[[test]]\n", "unknown field `test`"),
        ("[spec]\n", "invalid type: map, expected a sequence"),
    ],
)
def test_entries_that_can_not_be_read(entry: str, error: str) -> None:
    found = verdict(entry)
    assert isinstance(found, dict) and found["error"].startswith(f"URL not found: {error}"), found


def test_an_exception_without_a_reason_has_one_verdict() -> None:
    text = "//= tea.md#cup\n//= type=exception\n//# A cup MUST NOT leak.\n"
    context = context_of({**TEA_PROJECT, "src/pot.rs": text})
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% `list_invalid_citations` MUST list each citation that `duvet report` refuses, and no other.
    assert value(context, "list_invalid_citations") == []
    assert verdict(text, context) == {
        "valid": True,
        "warning": "this exception does not say why: add a line `reason=…`",
    }


def test_entries_that_are_listed_as_invalid_are_so_as_they_are_listed() -> None:
    path = ".duvet/exceptions/coffee.toml"
    text = 'target = "tea.md#cup"\n\n[[exception]]\nquote = "A cup MAY leak."\nreason = "Paper."\n'
    unread = '[[todo]]\ntarget = "tea.md#cup"\nquote = "A cup"\ncolour = "black"\n'
    context = context_of({**TEA_PROJECT, path: f"{text}\n{unread}", "src/pot.rs": ""})
    rows = value(context, "list_invalid_citations")
    assert [(row["file_path"], row["line_number"], row["comment_text"]) for row in rows] == [
        (path, 3, text.replace("\n\n", "\n").strip()),
        (path, 7, unread.strip()),
    ]
    for row in rows:
        assert value(context, "validate_citation", citation=row["comment_text"])["error"] == row["error"]


MISSING = 'could not find text in section "pot" of tea.md'


@pytest.mark.parametrize(
    ("citation", "expected"),
    [
        ("//= invalid", invalid('URL not found: Could not resolve file "invalid"')),
        ("", invalid("URL not found: no target can be read; it is written `spec#section`")),
        ("//# The pot", invalid("URL not found: this text has no target, so it is ignored")),
        ("//= https://", invalid('URL not found: "https://" is not a valid URL')),
        (
            "//= tea.md#pot\n//= type=tset",
            invalid(
                'URL not found: Invalid annotation type "tset", expected one of ["spec", "test", "implementation", '
                '"exception", "todo", "implication"]'
            ),
        ),
        (
            "//= tee.md#pot",
            invalid('Specification not found: Could not resolve file "tee.md"', nearest="tea.md#pot"),
        ),
        (
            "//= https://example.org/a#b",
            invalid("Specification not found: https://example.org/a is no specification of this project"),
        ),
        (
            "//= tea.md#pott",
            invalid('Section not found: missing section "pott" in tea.md', nearest="tea.md#pot"),
        ),
        ("//= tea.md", invalid("Section not found: reference to tea.md is missing a section")),
        (
            "//= tea.md#pot\n//# The pot MUST be cold.",
            invalid(f"Requirement not found: {MISSING}", nearest="The pot MUST be warm."),
        ),
        (
            "//= tea.md#pot\n//# A cup MUST NOT leak.",
            invalid(f"Requirement not found: {MISSING}", nearest="tea.md#cup"),
        ),
        (
            "//= tea.md#cup\n//# A cup MUST NOT leak.\n//= tea.md#pot\n//# A cup MUST NOT leak.",
            invalid(f"Requirement not found: {MISSING} (line 3)", nearest="tea.md#cup"),
        ),
    ],
)
def test_what_is_wrong_is_told_in_four_phrases(citation: str, expected: object) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% The error of a citation that is invalid MUST begin with `URL not found`, `Specification not found`, `Section not
    ##% found` or `Requirement not found`.
    assert verdict(citation) == expected
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% After a citation that is invalid, the second block MUST say what to do.
    assert answer(TEA, "validate_citation", citation=citation)[1] != ""


def test_the_second_block_shows_what_differs() -> None:
    _, step = answer(TEA, "validate_citation", citation="//= tea.md#pot\n//# The pot MUST be cold.")
    assert step == "the nearest text in this section is The pot MUST be [-cold.-]{+warm.+}"


@pytest.mark.parametrize(
    ("citation", "warning"),
    [
        ("//= tea.md#tea\n//# How tea is made", "these words stand in the section, but in no requirement"),
        ("//= tea.md#pot\n//= type=exception", "this exception does not say why: add a line `reason=…`"),
        (
            "//= tea.md#pot\n//# The pot MUST be warn.",
            "this quote differs from the specification by one character; it is accepted",
        ),
        ("//= ./tea.md#pot", "this counts as another specification than tea.md: name that one"),
        (
            "//= tea.md#pot\n\n//# The pot MUST be warm.",
            "this text is cut off from its target on line 1, which now quotes nothing",
        ),
    ],
)
def test_what_is_accepted_but_odd_is_valid_with_a_warning(citation: str, warning: str) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% A quote that stands in its section, but in no requirement, MUST be valid with a warning.
    assert verdict(citation) == {"valid": True, "warning": warning}


def test_every_citation_is_judged_as_in_a_report() -> None:
    trace = TEA.project.trace
    texts = {path: text.splitlines() for path, text in TEA_PROJECT.items()}
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% A citation that `duvet report` refuses MUST be invalid for the same reason, and any other MUST be valid.
    for id, one in enumerate(trace.annotations):
        if not one.from_file:
            text = TEA_PROJECT[one.path]
            last = text.count("\n", 0, one.source.text_end) + 1
            found = verdict("\n".join(texts[one.path][one.line - 1 : last]))
            assert isinstance(found, dict) and found["valid"] == (trace.match_of[id] is not None)
            assert found["valid"] or trace.failures[id].message in found["error"]
    assert {one.message for found in validate(TEA.project).invalid().values() for one in found} == {
        'missing section "milk" in tea.md',
        MISSING,
    }


@pytest.fixture
def elsewhere(tmp_path: Path) -> Context:
    """A project on disk with things around it that are none of a client's business."""
    (tmp_path / "secret.md").write_text("# Secret\n\nThe key MUST be 42.\n")
    folder = make(tmp_path / "tea", {**TEA_PROJECT, ".env.md": "# Secret\n", "other.md": "# Other\n\nIt MUST be.\n"})
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    project = Project(str(folder))
    return Context(project, project.catalogue, 50)


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
def test_nothing_outside_of_the_project_is_read(elsewhere: Context, tmp_path: Path, name: str) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% A path from a client MUST lead to a file of the project, or be refused.
    found = verdict(f"//= {name.format(tmp_path)}#secret\n//# The key MUST be 41.", elsewhere)
    assert isinstance(found, dict) and found["error"].startswith(("Specification not found: ", "URL not found: "))
    assert "be 42" not in str(found) and str(tmp_path) not in str(found).replace(name.format(tmp_path), "")


def test_a_file_of_the_project_may_be_cited_before_anything_else_cites_it(elsewhere: Context) -> None:
    assert verdict("//= other.md#other", elsewhere) == VALID
    assert verdict("//= other.md#others", elsewhere) == invalid(
        'Section not found: missing section "others" in other.md', nearest="other.md#other"
    )


def test_nothing_is_downloaded(elsewhere: Context, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% A tool that only reads MUST NOT download anything.
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
    ##% Where `nearest` is a target, the second block MUST say to name that.
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
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% A second spelling of a specification MUST be told as a warning, though it may be cited by that already.
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


def test_a_long_quote_is_looked_for_where_it_should_stand() -> None:
    long = " ".join(["Sugar MUST be counted by hand", *(f"and grain {number}" for number in range(40))])
    context = context_of({**TEA_PROJECT, "tea.md": f"{TEA_PROJECT['tea.md']}\n{long}.\n"})
    near = {"nearest": f"{long}."}
    other = long.replace("hand", "foot")
    missing = "Requirement not found: could not find text in section"
    assert verdict(f"//= tea.md#sugar\n//# {other}.", context) == invalid(f'{missing} "sugar" of tea.md', **near)
    assert verdict(f"//= tea.md#cup\n//# {other}.", context) == invalid(f'{missing} "cup" of tea.md')
    moved = invalid(f'{missing} "cup" of tea.md', nearest="tea.md#sugar")
    assert verdict(f"//= tea.md#cup\n//# {long}.", context) == moved


def test_a_citation_that_is_too_long_is_refused() -> None:
    with pytest.raises(ToolError) as caught:
        answer(TEA, "validate_citation", citation="a" * 10_001)
    assert caught.value.code is Code.INVALID_REQUEST and "10000" in caught.value.message


def test_a_long_quote_is_told_briefly() -> None:
    found = verdict("//= " + "a" * 9_000)
    assert isinstance(found, dict) and len(found["error"]) < 600


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from("/*#%= \r\n\0\x1b\u202e\ud800at.emdpo:"), max_size=80))
def test_any_text_gets_a_verdict(text: str) -> None:
    try:
        found = verdict(text)
    except ToolError as error:
        assert error.code is Code.INVALID_REQUEST
    else:
        assert isinstance(found, dict) and isinstance(found["valid"], bool)
