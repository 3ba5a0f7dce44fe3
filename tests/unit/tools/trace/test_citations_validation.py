"""`validate_citation` and `validate_citations`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec import json

from duvet import rules
from duvet.errors import DuvetError
from duvet.project.project import Project
from duvet.project.validation import validate
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import MAX_PAGE_BYTES, ErrorCode, ResultPage, ToolError
from duvet.tools.trace.invalid_citations import describe_citation_error
from tests.cli.sample_project import make
from tests.cli.tea_project import TEA_PROJECT
from tests.slow.test_conformance import copy_with_links
from tests.unit.tools.tool_calls import TEA, answer, ask, context_in, context_of, value

VALID: dict[str, object] = {"valid": True}
MISSING = 'could not find text in section "pot" of tea.md'
LEAK = "//# A cup MUST NOT leak."
LOST = f"Requirement not found: {MISSING}"
UNRESOLVED = "Specification not found: Could not resolve file"
FOREIGN = "Specification not found: {} is not a specification of this project"
ONE_OFF = "this quote differs from the specification by one character"
NOT_REQUIRED = "the section contains this quote, but none of its requirements does"
NO_REASON = "this exception has no reason; add a line `reason=…`"
CUT_OFF = "this quote is separated from its target on line 1"
KINDS = 'expected one of ["spec", "test", "implementation", "exception", "todo", "implication"]'
PUT = "add a line with the target, such as `spec.md#section`, above it, or use another comment prefix"
ELSEWHERE = "the quote is in #cup"
WRITE = "Write the target as spec#section, or paste the comment from suggest_citation."
NAME = "Change the target to `nearest`."
FIND = "Find its id with resolve_spec_id, or the text with search_requirements."
SEARCH = "Find the text with search_requirements, or read a section with get_section."


def verdict(citation: str, context: ProjectSnapshot = TEA) -> dict[str, Any]:
    found: dict[str, Any] = value(context, "validate_citation", citation=citation)
    return found


def make_odd_answer(warning: str) -> dict[str, object]:
    return {"valid": True, "warning": warning}


def invalid(error: str, **more: str) -> dict[str, object]:
    return {"valid": False, "error": error, **more}


@pytest.mark.parametrize(
    ("citation", "expected", "step"),
    [
        ("//= tea.md#pot", VALID, ""),
        ("tea.md#pot", VALID, ""),
        ("rfc7168.txt#section-2", VALID, ""),
        ("rfc7168.txt#2", VALID, ""),
        ("//= tea.md#pot\n//# The pot MUST be warm.", VALID, ""),
        ("##= tea.md#pot\n##= type=test\n##% The pot MUST\n##% be warm.", VALID, ""),
        ("/*= tea.md#pot\n *# It SHOULD be round */", VALID, ""),
        (f"//= tea.md#cup\n//= type=exception\n//= reason=Paper.\n{LEAK}\n//= tea.md#sugar\n", VALID, ""),
        ("//= tea.md#tea\n//= type=spec\n//# How tea is made", VALID, ""),
        ("//= tea.md#tea\n//# How tea is made", make_odd_answer(NOT_REQUIRED), ""),
        ("//= ./tea.md#pot", make_odd_answer("this spelling counts as a separate specification; write tea.md"), ""),
        ("//= tea.md#pot\n//= type=exception", make_odd_answer(NO_REASON), ""),
        ("//= tea.md#pot\n//# The pot MUST be warm!", make_odd_answer(ONE_OFF), ""),
        ("//= tea.md#pot\n\n//# The pot MUST be warm.", make_odd_answer(CUT_OFF), ""),
        ("//= invalid", invalid('URL not found: Could not resolve file "invalid"'), WRITE),
        ("//= no/such", invalid(f'{UNRESOLVED} "no/such"'), FIND),
        ("//= spec#part", invalid(f'{UNRESOLVED} "spec"'), FIND),
        ("", invalid("URL not found: no target found; write it as `spec#section`"), WRITE),
        ("//# The pot", invalid("URL not found: this quote has no target and is ignored"), PUT),
        ("//= https://", invalid('URL not found: "https://" is not a valid URL'), WRITE),
        ("//= tea.md#pot\n//= type=tset", invalid(f'URL not found: Invalid annotation type "tset", {KINDS}'), WRITE),
        ("//= tee.md#pot", invalid(f'{UNRESOLVED} "tee.md"', nearest="tea.md#pot"), NAME),
        ("//= https://example.org/a#b", invalid(FOREIGN.format("https://example.org/a")), FIND),
        ("//= tea.md#pott", invalid('Section not found: missing section "pott" in tea.md', nearest="tea.md#pot"), NAME),
        ("//= tea.md", invalid("Section not found: reference to tea.md is missing a section"), SEARCH),
        (
            "//= tea.md#pot\n//# The pot MUST be cold.",
            invalid(LOST, nearest="The pot MUST be warm."),
            "the nearest text in this section is: The pot MUST be [-cold.-]{+warm.+}",
        ),
        (f"//= tea.md#pot\n{LEAK}", invalid(LOST, nearest="tea.md#cup"), ELSEWHERE),
        (
            f"//= tea.md#cup\n{LEAK}\n//= tea.md#pot\n{LEAK}",
            invalid(f"{LOST} (line 3)", nearest="tea.md#cup"),
            ELSEWHERE,
        ),
    ],
)
def test_a_citation_is_valid_or_gets_one_of_four_errors_and_a_step(citation: str, expected: object, step: str) -> None:
    ##= man/spec/mcp.md#tools
    ##% If a citation is invalid, `validate_citation` MUST return an error that begins with `URL not found`,
    ##% `Specification not found`, `Section not found` or `Requirement not found`.
    assert answer(TEA, "validate_citation", citation=citation) == (expected, step)


def test_an_error_is_short_and_does_not_reveal_folders_above_the_project() -> None:
    problem = rules.TARGET_UNKNOWN_SECTION.problem('missing section "x" in /home/me/my work/specs/tea.md')
    found = describe_citation_error(problem, "specs/tea.md#x")
    assert found == 'Section not found: missing section "x" in specs/tea.md'
    assert len(verdict("//= " + "a" * 9_000)["error"]) < 600


URL = "https://www.rfc-editor.org/rfc/rfc7168"
RFC_OF_URL = {
    **TEA_PROJECT,
    ".duvet/config.toml": TEA_PROJECT[".duvet/config.toml"].replace("rfc7168.txt", URL),
    ".duvet/specifications/www.rfc-editor.org/rfc/rfc7168.txt": TEA_PROJECT["rfc7168.txt"],
}
BY_URL = context_of(RFC_OF_URL)
OTHER_SPELLING = make_odd_answer(f"this spelling counts as a separate specification; write {URL}")
SHORT, DATATRACKER = "rfc7168", "https://datatracker.ietf.org/doc/rfc7168"


@pytest.mark.parametrize(
    ("target", "expected", "step"),
    [
        (f"{URL}#section-2", VALID, ""),
        (f"{URL}#section-99", invalid(f'Section not found: missing section "section-99" in {URL}'), SEARCH),
        (f"{URL}.txt#section-2", OTHER_SPELLING, ""),
        ("https://tools.ietf.org/rfc/rfc7168#section-2", OTHER_SPELLING, ""),
        ("https://datatracker.ietf.org/doc/html/rfc7168#section-2", OTHER_SPELLING, ""),
        (f"{SHORT}#section-2", invalid(f'{UNRESOLVED} "{SHORT}"', nearest=f"{URL}#section-2"), NAME),
        (f"{DATATRACKER}#section-2", invalid(FOREIGN.format(DATATRACKER), nearest=f"{URL}#section-2"), NAME),
    ],
)
def test_a_url_is_judged_in_each_spelling(target: str, expected: object, step: str) -> None:
    assert answer(BY_URL, "validate_citation", citation=f"//= {target}") == (expected, step)


@pytest.mark.parametrize("name", [SHORT, "RFC 7168", "urn:ietf:rfc:7168", "/specifications/rfc7168", DATATRACKER])
def test_another_name_of_a_specification_is_answered_with_its_url(name: str) -> None:
    for section, nearest, step in (
        ("section-2", f"{URL}#section-2", NAME),
        ("section-99", URL, "Change the specification to `nearest`, and add one of its sections: spec#section."),
    ):
        found, told = answer(BY_URL, "validate_citation", citation=f"//= {name}#{section}")
        assert (found["error"].partition(":")[0], found["nearest"], told) == ("Specification not found", nearest, step)
    # Also where it is cited already.
    context = context_of({**RFC_OF_URL, "src/pot.rs": f"//= {URL}#section-2\n\n//= {URL}.txt#section-2\n"})
    assert verdict(f"//= {URL}.txt#section-2", context) == OTHER_SPELLING
    assert verdict(f"//= {URL}#section-2", context) == VALID


@pytest.mark.parametrize("kind", ["spec", "exception", "todo", "todos"])
def test_an_entry_of_a_requirement_file_is_judged(kind: str) -> None:
    more = 'reason = "Paper."' if kind == "exception" else ""
    entry = f"  [[{kind}]]\n  {{}}quote = '''\nA cup\nMUST NOT leak.\n'''\n{more}\n"
    no_target = 'add `target = "specification#section"` here, or at the top of the file for all its tables'
    for text, expected, step in (
        (entry.format('target = "tea.md#cup"\n'), VALID, ""),
        ('target = "tea.md#cup"\n\n# A cup\n#\n' + entry.format(""), VALID, ""),
        ("# A comment.\n\n" + entry.format('target = "tea.md#cup"\n'), VALID, ""),
        ('target = "tea.md#pot"\n' + entry.format(""), invalid(LOST, nearest="tea.md#cup"), ELSEWHERE),
        (
            entry.format('target = "tea.md#cups"\n'),
            invalid('Section not found: missing section "cups" in tea.md', nearest="tea.md#cup"),
            f"{NAME} {ELSEWHERE}",
        ),
        (entry.format(""), invalid("URL not found: missing target"), no_target),
    ):
        assert answer(TEA, "validate_citation", citation=text) == (expected, step)


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ('[[exception]]\ntarget = "tea.md#cup"\nquote = "A cup MUST NOT leak."', "missing field `reason`"),
        ('[[todo]]\ntarget = "a#b"\nquote = "A cup', "TOML parse error at line 3, column 15: unterminated string"),
        ('target = "tea.md#cup"', "no target found; write it as `spec#section`"),
        ("[[test]]\n", "unknown field `test`"),
        ("[spec]\n", "invalid type: map, expected a sequence"),
    ],
)
def test_an_unreadable_entry_is_invalid(entry: str, error: str) -> None:
    assert verdict(entry)["error"].startswith(f"URL not found: {error}")


def disagreements(project: Project) -> list[str]:
    """Return the citations about which the tool and the report disagree."""
    trace, context = project.trace, ProjectSnapshot(project, project.catalogue, 50)
    found = []
    for id, one in enumerate(trace.annotations):
        if one.from_file:
            continue
        text = project.tree.read(one.path).decode()
        lines = text.split("\n")[one.line - 1 : text.count("\n", 0, one.source.text_end) + 1]
        told = verdict("\n".join(lines), context)
        is_valid = trace.match_of[id] is not None
        if told["valid"] != is_valid or not (is_valid or trace.failures[id].message in told["error"]):
            found.append(f"{one.path}:{one.line}: {told}")
    return found


def test_every_citation_of_a_project_is_judged_as_in_its_report() -> None:
    assert disagreements(TEA.project) == []
    messages = {one.message for found in validate(TEA.project).invalid().values() for one in found}
    assert messages == {'missing section "milk" in tea.md', MISSING}


@pytest.mark.parametrize("area", ["comments", "markdown", "ietf", "matching", "targets", "legacy"])
def test_the_cases_of_an_area_are_judged_as_in_their_reports(area: str, shared: Path, tmp_path: Path) -> None:
    looked = 0
    for case in sorted((shared / "probes" / "open" / area).iterdir()):
        folder = shutil.copytree(case / "project", tmp_path / case.name, symlinks=True)
        try:
            project = Project(str(folder))
            looked += len(project.trace.annotations)
        except DuvetError:
            continue
        assert disagreements(project) == [], case.name
    assert looked


@pytest.mark.parametrize("name", ["h3-704b37a", "s2n-tls-132053b"])
def test_a_real_project_is_judged_as_in_its_report(name: str, shared: Path, tmp_path: Path) -> None:
    project = Project(str(copy_with_links(shared / "golden" / name / "project", tmp_path / name)))
    assert project.trace.annotations and disagreements(project) == []


def test_a_long_quote_is_searched_in_its_own_section_first() -> None:
    long = " ".join(["Sugar MUST be counted by hand", *(f"and grain {number}" for number in range(40))])
    context = context_of({**TEA_PROJECT, "tea.md": f"{TEA_PROJECT['tea.md']}\n{long}.\n"})
    other = long.replace("hand", "foot")
    missing = "Requirement not found: could not find text in section"
    for section, quote, near in (
        ("sugar", other, {"nearest": f"{long}."}),
        ("cup", other, {}),
        ("cup", long, {"nearest": "tea.md#sugar"}),
    ):
        expected = invalid(f'{missing} "{section}" of tea.md', **near)
        assert verdict(f"//= tea.md#{section}\n//# {quote}.", context) == expected


@given(st.text(alphabet=st.sampled_from("/*#%= \r\n\0\x1b\u202e\ud800at.emdpo:"), max_size=80))
def test_any_text_gets_a_verdict(text: str) -> None:
    try:
        assert isinstance(verdict(text)["valid"], bool)
    except ToolError as error:
        assert error.code is ErrorCode.INVALID_REQUEST


@pytest.fixture
def elsewhere(tmp_path: Path) -> ProjectSnapshot:
    """Make a project on disk, with files around it that clients must not read."""
    (tmp_path / "secret.md").write_text("# Secret\n\nThe key MUST be 42.\n")
    folder = make(tmp_path / "tea", {**TEA_PROJECT, ".env.md": "# Secret\n", "other.md": "# Other\n\nIt MUST be.\n"})
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    return context_in(folder)


HIDDEN = [
    *("../secret.md", "{}/secret.md", "{}/none.md", "../tea/../secret.md", "tea.md/../../secret.md", "link.md"),
    *(".env.md", "%2e%2e/secret.md", "..\\secret.md", "secret.md\0.md", "file:///etc/passwd"),
    "https://example.org/../../secret.md",
]


def test_nothing_outside_the_project_is_read(elsewhere: ProjectSnapshot, tmp_path: Path) -> None:
    for name in [one.format(tmp_path) for one in HIDDEN]:
        found = verdict(f"//= {name}#secret\n//# The key MUST be 41.", elsewhere)
        assert found["error"].startswith(("Specification not found: ", "URL not found: "))
        assert "be 42" not in str(found) and str(tmp_path) not in str(found).replace(name, "")


def test_any_file_of_the_project_can_be_cited_and_nothing_is_downloaded(
    elsewhere: ProjectSnapshot, tmp_path: Path
) -> None:
    assert verdict("//= other.md#other", elsewhere) == VALID
    missing = 'Section not found: missing section "others" in other.md'
    assert verdict("//= other.md#others", elsewhere) == invalid(missing, nearest="other.md#other")
    before = sorted(tmp_path.rglob("*"))
    for url in ("http://127.0.0.1:9/a", "https://www.rfc-editor.org/rfc/rfc1"):
        ##= man/spec/mcp.md#tools
        ##% Tools MUST NOT download specifications.
        assert verdict(f"//= {url}#section-1", elsewhere) == invalid(FOREIGN.format(url))
    assert sorted(tmp_path.rglob("*")) == before


GOOD, BAD = "//= tea.md#pot\n//# The pot MUST be warm.", "//= tea.md#pot\n//# The pot MUST be cold."
USE_NEAREST = "Use the target or the quote in `nearest`, and validate again."
CALL_EACH = "Call validate_citation on each to see how to fix it."
MANY = [f"//= tea.md#{'a' * 900}{number}" for number in range(50)]


@pytest.mark.parametrize(
    ("given", "step"),
    [
        ([GOOD], "The citation is valid."),
        ([GOOD, "tea.md#cup"], "All 2 citations are valid."),
        ([GOOD, BAD, "//= invalid", "tea.md#sugar"], f"2 of 4 invalid: numbers 2, 3. {USE_NEAREST}"),
        (MANY, f"50 of 50 invalid: numbers 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 40 more. {CALL_EACH}"),
    ],
    ids=["one", "two", "some invalid", "many invalid"],
)
def test_each_of_several_citations_is_judged_in_order(given: list[str], step: str) -> None:
    found, told = answer(TEA, "validate_citations", citations=given)
    assert (found, told) == ([verdict(one) for one in given], step)
    assert ask(TEA, "validate_citations", {"citations": given}).page == ResultPage(len(given))
    assert len(json.encode(found)) < MAX_PAGE_BYTES


def test_entries_that_are_listed_as_invalid_are_invalid_as_they_are_listed() -> None:
    path = ".duvet/exceptions/coffee.toml"
    text = 'target = "tea.md#cup"\n\n[[exception]]\nquote = "A cup MAY leak."\nreason = "Paper."\n'
    unread = '[[todo]]\ntarget = "tea.md#cup"\nquote = "A cup"\ncolour = "black"\n'
    context = context_of({**TEA_PROJECT, path: f"{text}\n{unread}", "src/pot.rs": ""})
    rows = value(context, "list_invalid_citations")
    assert [(row["file_path"], row["line_number"], row["comment_text"]) for row in rows] == [
        (path, 3, text.replace("\n\n", "\n").strip()),
        (path, 7, unread.strip()),
    ]
    assert [verdict(row["comment_text"])["error"] for row in rows] == [row["error"] for row in rows]
    # An exception without a reason is only odd.
    odd = f"//= tea.md#cup\n//= type=exception\n{LEAK}\n"
    context = context_of({**TEA_PROJECT, "src/pot.rs": odd})
    assert (value(context, "list_invalid_citations"), verdict(odd, context)) == ([], make_odd_answer(NO_REASON))


@pytest.mark.parametrize(
    ("citation", "warning"),
    [
        (f"//= tea.md#cup\n{LEAK}", ""),
        ("tea.md#cup", ""),
        ("target = 'tea.md#cup'\n[[todo]]\nquote = 'A cup MUST NOT leak.'\n", ""),
        ("##= tea.md#cup\n##% A cup MUST NOT leak.", "duvet does not read this comment style in src/{}"),
    ],
)
def test_the_comment_style_of_a_file(citation: str, warning: str) -> None:
    path = next(path for _, paths in TEA.project.inputs.sources for path in paths)
    name = path.removeprefix("src/")
    step = "Rewrite it with `//=` and `//#`, or paste the comment from suggest_citation."
    wanted = (make_odd_answer(warning.format(name)), step) if warning else (VALID, "")
    assert answer(TEA, "validate_citation", citation=citation, file=path) == wanted
    with pytest.raises(ToolError) as raised:
        answer(TEA, "validate_citation", citation=citation, file="nowhere.txt")
    assert raised.value.message == '"nowhere.txt" is not a source file of this project'
