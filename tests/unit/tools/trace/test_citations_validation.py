import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec import json
from pytest_snapshot.plugin import Snapshot

from duvet import rules
from duvet.errors import DuvetError
from duvet.project.project import Project
from duvet.project.validation import validate
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import MAX_PAGE_BYTES, ErrorCode, ResultPage, ToolError
from duvet.tools.trace.invalid_citations import describe_citation_error
from tests.cli.sample_project import make
from tests.cli.tea_project import TEA_PROJECT
from tests.unit.tools.tool_calls import TEA, answer, ask, context_in, context_of, refusal, value

VALID: dict[str, object] = {"valid": True}
MISSING = 'could not find text in section "pot" of tea.md'
LEAK = "//# A cup MUST NOT leak."
FOREIGN = "Specification not found: {} is not a specification of this project"
URL = "https://www.rfc-editor.org/rfc/rfc7168"
RFC_OF_URL = {
    **TEA_PROJECT,
    ".duvet/config.toml": TEA_PROJECT[".duvet/config.toml"].replace("rfc7168.txt", URL),
    ".duvet/specifications/www.rfc-editor.org/rfc/rfc7168.txt": TEA_PROJECT["rfc7168.txt"],
}
BY_URL = context_of(RFC_OF_URL)
SHORT, DATATRACKER = "rfc7168", "https://datatracker.ietf.org/doc/rfc7168"


def verdict(citation: str, context: ProjectSnapshot = TEA) -> dict[str, Any]:
    found: dict[str, Any] = value(context, "validate_citation", citation=citation)
    return found


def odd(warning: str) -> dict[str, object]:
    return {"valid": True, "warning": warning}


def list_entries() -> Iterator[str]:
    """Yield entries of requirement files."""
    for kind in ("spec", "exception", "todo", "todos"):
        more = 'reason = "Paper."' if kind == "exception" else ""
        entry = f"  [[{kind}]]\n  {{}}quote = '''\nA cup\nMUST NOT leak.\n'''\n{more}\n"
        yield entry.format('target = "tea.md#cup"\n')
        yield 'target = "tea.md#cup"\n\n# A cup\n#\n' + entry.format("")
        yield "# A comment.\n\n" + entry.format('target = "tea.md#cup"\n')
        yield 'target = "tea.md#pot"\n' + entry.format("")
        yield entry.format('target = "tea.md#cups"\n')
        yield entry.format("")
    yield '[[exception]]\ntarget = "tea.md#cup"\nquote = "A cup MUST NOT leak."'
    yield '[[todo]]\ntarget = "a#b"\nquote = "A cup'
    yield from ('target = "tea.md#cup"', "[[test]]\n", "[spec]\n")


CITATIONS = [
    *("//= tea.md#pot", "tea.md#pot", "rfc7168.txt#section-2", "rfc7168.txt#2"),
    "//= tea.md#pot\n//# The pot MUST be warm.",
    "##= tea.md#pot\n##= type=test\n##% The pot MUST\n##% be warm.",
    "/*= tea.md#pot\n *# It SHOULD be round */",
    f"//= tea.md#cup\n//= type=exception\n//= reason=Paper.\n{LEAK}\n//= tea.md#sugar\n",
    "//= tea.md#tea\n//= type=spec\n//# How tea is made",
    "//= tea.md#tea\n//# How tea is made",
    *("//= ./tea.md#pot", "//= tea.md#pot\n//= type=exception", "//= tea.md#pot\n//# The pot MUST be warm!"),
    *("//= tea.md#pot\n\n//# The pot MUST be warm.", "//= invalid", "//= no/such", "//= spec#part", "", "//# The pot"),
    *("//= https://", "//= tea.md#pot\n//= type=tset", "//= tee.md#pot", "//= https://example.org/a#b"),
    *("//= tea.md#pott", "//= tea.md", "//= tea.md#pot\n//# The pot MUST be cold.", f"//= tea.md#pot\n{LEAK}"),
    f"//= tea.md#cup\n{LEAK}\n//= tea.md#pot\n{LEAK}",
    *list_entries(),
]
TARGETS = [
    *(f"{URL}#section-2", f"{URL}#section-99", f"{URL}.txt#section-2", "https://tools.ietf.org/rfc/rfc7168#section-2"),
    *("https://datatracker.ietf.org/doc/html/rfc7168#section-2", f"{SHORT}#section-2", f"{DATATRACKER}#section-2"),
]
# In a file of the first source.
STYLES = ["tea.md#cup", "target = 'tea.md#cup'\n[[todo]]\nquote = 'A cup MUST NOT leak.'\n"]
STYLES += [f"//= tea.md#cup\n{LEAK}", "##= tea.md#cup\n##% A cup MUST NOT leak."]


def test_a_citation_is_valid_or_gets_one_of_four_errors_and_a_step(problem_files: Snapshot) -> None:
    ##= man/spec/mcp.md#tools
    ##% If a citation is invalid, `validate_citation` MUST return an error that begins with `URL not found`,
    ##% `Specification not found`, `Section not found` or `Requirement not found`.
    path = next(path for _, paths in TEA.project.inputs.sources for path in paths)
    given: list[tuple[ProjectSnapshot, dict[str, Any]]] = [
        *((TEA, {"citation": one}) for one in CITATIONS),
        *((BY_URL, {"citation": f"//= {one}"}) for one in TARGETS),
        *((TEA, {"citation": one, "file": path}) for one in STYLES),
    ]
    lines = []
    for context, arguments in given:
        found, step = answer(context, "validate_citation", **arguments)
        lines += [f"{json.encode(arguments['citation']).decode()}:", f"  {json.encode(found).decode()}"]
        lines += [f"  {step}"] * bool(step)
    problem_files.assert_match("\n".join(lines), "verdicts.txt")
    told = refusal(TEA, "validate_citation", citation="tea.md#cup", file="nowhere.txt")
    assert told[1] == '"nowhere.txt" is not a source file of this project'


def test_an_error_is_short_and_does_not_reveal_folders_above_the_project() -> None:
    problem = rules.TARGET_UNKNOWN_SECTION.problem('missing section "x" in /home/me/my work/specs/tea.md')
    found = describe_citation_error(problem, "specs/tea.md#x")
    assert found == 'Section not found: missing section "x" in specs/tea.md'
    assert len(verdict("//= " + "a" * 9_000)["error"]) < 600
    unclear = rules.TARGET_AMBIGUOUS.problem('"notes" names 2 sections of tea.md: #tea/notes and #cup/notes')
    assert describe_citation_error(unclear, "tea.md#notes") == f"Section not found: {unclear.message}"


@pytest.mark.parametrize("name", [SHORT, "RFC 7168", "urn:ietf:rfc:7168", "/specifications/rfc7168", DATATRACKER])
def test_another_name_of_a_specification_is_answered_with_its_url(name: str) -> None:
    other = "Change the specification to the value of `nearest`, and add one of its sections: spec#section."
    for section, nearest, step in (
        ("section-2", f"{URL}#section-2", "Change the target to the value of `nearest`."),
        ("section-99", URL, other),
    ):
        found, told = answer(BY_URL, "validate_citation", citation=f"//= {name}#{section}")
        assert (found["error"].partition(":")[0], found["nearest"], told) == ("Specification not found", nearest, step)
    # Also where it is cited already.
    context = context_of({**RFC_OF_URL, "src/pot.rs": f"//= {URL}#section-2\n\n//= {URL}.txt#section-2\n"})
    separate = f"this target counts as a separate specification; write {URL}#section-2"
    assert verdict(f"//= {URL}.txt#section-2", context) == odd(separate)
    assert verdict(f"//= {URL}#section-2", context) == VALID


def find_disagreements(project: Project) -> list[str]:
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
    assert find_disagreements(TEA.project) == []
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
        assert find_disagreements(project) == [], case.name
    assert looked


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
        expected = {"valid": False, "error": f'{missing} "{section}" of tea.md', **near}
        assert verdict(f"//= tea.md#{section}\n//# {quote}.", context) == expected


@given(st.text(alphabet=st.sampled_from("/*#%= \r\n\0\x1b\u202e\ud800at.emdpo:"), max_size=80))
def test_any_text_gets_a_verdict(text: str) -> None:
    try:
        assert isinstance(verdict(text)["valid"], bool)
    except ToolError as error:
        assert error.code is ErrorCode.INVALID_REQUEST


def test_nothing_outside_the_project_is_read_or_downloaded(tmp_path: Path) -> None:
    hidden = [
        *("../secret.md", "{}/secret.md", "{}/none.md", "../tea/../secret.md", "tea.md/../../secret.md", "link.md"),
        *(".env.md", "%2e%2e/secret.md", "..\\secret.md", "secret.md\0.md", "file:///etc/passwd"),
        "https://example.org/../../secret.md",
    ]
    (tmp_path / "secret.md").write_text("# Secret\n\nThe key MUST be 42.\n")
    folder = make(tmp_path / "tea", {**TEA_PROJECT, ".env.md": "# Secret\n", "other.md": "# Other\n\nIt MUST be.\n"})
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    elsewhere = context_in(folder)
    for name in [one.format(tmp_path) for one in hidden]:
        found = verdict(f"//= {name}#secret\n//# The key MUST be 41.", elsewhere)
        assert found["error"].startswith(("Specification not found: ", "URL not found: "))
        assert "be 42" not in str(found) and str(tmp_path) not in str(found).replace(name, "")
    secret = f"{tmp_path}/secret.md"
    assert verdict(f"//= {secret}#secret", elsewhere) == {"valid": False, "error": FOREIGN.format(secret)}
    # Any file of the project can be cited.
    assert verdict("//= other.md#other", elsewhere) == VALID
    missing = {"error": 'Section not found: missing section "others" in other.md', "nearest": "other.md#other"}
    assert verdict("//= other.md#others", elsewhere) == {"valid": False, **missing}
    before = sorted(tmp_path.rglob("*"))
    for url in ("http://127.0.0.1:9/a", "https://www.rfc-editor.org/rfc/rfc1"):
        ##= man/spec/mcp.md#tools
        ##% Tools MUST NOT download specifications.
        assert verdict(f"//= {url}#section-1", elsewhere) == {"valid": False, "error": FOREIGN.format(url)}
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
        ([GOOD, BAD, "//= invalid", "tea.md#sugar"], f"2 of 4 are invalid: numbers 2, 3. {USE_NEAREST}"),
        (MANY, f"50 of 50 are invalid: numbers 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 40 more. {CALL_EACH}"),
    ],
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
    text = f"//= tea.md#cup\n//= type=exception\n{LEAK}\n"
    context = context_of({**TEA_PROJECT, "src/pot.rs": text})
    no_reason = odd("this exception has no reason; add a line `reason=…`")
    assert (value(context, "list_invalid_citations"), verdict(text, context)) == ([], no_reason)
