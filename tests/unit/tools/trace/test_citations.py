from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.config.languages import Language
from duvet.tools.context import ProjectSnapshot
from tests.cli.sample_project import make
from tests.cli.tea_project import TEA_PROJECT
from tests.unit.tools.tool_calls import FILES, TEA, answer, ask, context_in, context_of, describe_calls, refusal, value

CONTEXT, SUGGEST = "get_citation_context", "suggest_citation"
LINES = tuple(FILES["src/main.rs"].splitlines())
CUP = "2c79658776d2"


def test_the_context_has_as_many_lines_as_asked_before_and_after(context: ProjectSnapshot) -> None:
    for around, expected in [(0, LINES[14:15]), (1, LINES[13:16]), (5, LINES[9:20]), (1000, LINES)]:
        found = value(context, CONTEXT, citation_id="src/main.rs:15", context_lines=around)
        assert found == {"file_path": "src/main.rs", "line_number": 15, "context": expected}
    assert value(context, CONTEXT, citation_id="src/main.rs:15")["context"] == LINES[9:21]
    assert value(context, CONTEXT, citation_id="src/main.rs:3", context_lines=4)["context"] == LINES[:7]


def test_a_citation_is_found_by_each_of_its_names(tmp_path: Path) -> None:
    context = context_in(make(tmp_path, FILES))
    path = "/specifications/rfc2324/sections/section-2.1/requirements/fe96266417b9/citations"
    expected = {"file_path": "src/main.rs", "line_number": 9, "context": LINES[8:9]}
    for id in [
        *(f"src/main.rs:{line}" for line in (9, 10, 11)),
        *("./src/main.rs:9", "src%2Fmain.rs:9", "src\\main.rs:9:1", f"{tmp_path.as_posix()}/src/main.rs:9"),
        *(f"{path}/src/main.rs:9", f"duvet://{path}/src%2Fmain.rs%3A9"),
    ]:
        assert value(context, CONTEXT, citation_id=id, context_lines=0) == expected


def test_the_code_below_a_long_comment_is_shown_and_long_lines_are_cut() -> None:
    quoted = "".join(f"//# word {number}\n" for number in range(30))
    text = "a\n" * 9 + f"//= docs/pot.md#lid\n{quoted}" + "b\n" * 9
    context = context_of({**FILES, "src/long.rs": text, "src/main.rs": "//= docs/pot.md#lid\n" + "x" * 501})
    found = value(context, CONTEXT, citation_id="src/long.rs:12")
    assert (found["line_number"], found["context"]) == (10, tuple(text.splitlines()[4:45]))
    cut = {"file_path": "src/main.rs", "line_number": 1, "context": ("//= docs/pot.md#lid", "x" * 500)}
    told = answer(context, CONTEXT, citation_id="src/main.rs:1")
    assert told == (cut, "Lines are cut at 500 characters.")


@pytest.mark.parametrize("line", [2, 3, 4])
@pytest.mark.parametrize("more", ["", "//= docs/pot.md#lid\n"])
def test_an_unreadable_comment_has_a_context(line: int, more: str) -> None:
    text = f"a\n//= docs/pot.md#lid\n//= colour=black\n//# The lid\nb\n\nc\n{more}"
    context = context_of({**FILES, "src/main.rs": text})
    (row,) = value(context, "list_invalid_citations")
    assert (row["line_number"], row["comment_text"]) == (2, "//= docs/pot.md#lid\n//= colour=black\n//# The lid")
    found = value(context, CONTEXT, citation_id=f"src/main.rs:{line}", context_lines=1)
    assert found == {"file_path": "src/main.rs", "line_number": 2, "context": tuple(text.splitlines()[:3])}
    near = ", ".join(["src/main.rs:2", *(["src/main.rs:8"] if more else [])])
    told = refusal(context, CONTEXT, citation_id="src/main.rs:7")
    assert told == ("not_found", "no citation at src/main.rs:7", f"nearest: {near}")


def test_lines_of_a_file_without_citations_are_not_shown(tmp_path: Path) -> None:
    ##= man/spec/mcp.md#tools
    ##% `get_citation_context` MUST NOT show lines of a file that has no citations.
    folder = make(tmp_path / "project", {**FILES, "secret.txt": "secret\n"})
    make(tmp_path, {"secret.txt": "secret\n"})
    context, hint = context_in(folder), "find citations with get_requirement or list_invalid_citations"
    for path in ("secret.txt", "docs/pot.md", "../secret.txt", "/etc/passwd", "%2e%2e/secret.txt"):
        told = ("not_found", f'no citations in "{path}"', hint)
        assert refusal(context, CONTEXT, citation_id=f"{path}:1") == told


PYTHON = {"file": "tests/test_pot.py"}
SUGGESTED: list[dict[str, Any]] = [
    *({}, {"line": 7}, {"file": "./src/pot.rs", "type": "test"}, {"requirement": "tea#sugar"}),
    *({**PYTHON, "type": "test"}, {**PYTHON, "type": "implementation", "line": 4}),
    {"file": "src/not/yet.rs", "type": "exception", "reason": " We have\nmugs. "},
]


def test_a_suggestion_is_written_as_its_file_writes_comments(answers: Snapshot) -> None:
    ##= man/spec/mcp.md#tools
    ##% `suggest_citation` MUST return a valid comment in the style of the file, without changing the file.
    calls = [{"requirement": CUP, "file": "src/pot.rs", **given} for given in SUGGESTED]
    answers.assert_match(describe_calls(partial(ask, TEA), [(SUGGEST, one) for one in calls]), "suggestions.txt")
    for one in calls:
        comment = value(TEA, SUGGEST, **one)["comment"]
        assert value(TEA, "validate_citation", citation=comment) == {"valid": True}


@pytest.mark.parametrize("language", Language)
def test_each_language_has_its_comment(language: Language) -> None:
    name = language.patterns[0].removeprefix("**/").replace("*", "a")
    config = f"'$schema' = 'duvet-cli/config/v1'\nsource = [{{ language = '{language}' }}]\n"
    context = context_of({**TEA_PROJECT, ".duvet/config.toml": config + "specification = [{ source = 'tea.md' }]\n"})
    found = value(context, SUGGEST, requirement=CUP, file=name)["comment"]
    assert language.style.meta in found and language.style.content in found
    assert value(context, "validate_citation", citation=found) == {"valid": True}


NO_SOURCES = ["tea.md", "src", "", ".", "none.c", "src/pot.rs\0", "src/a\0.rs", "file:///etc/passwd", "/etc/passwd"]
NO_SOURCES += ["../secret.rs", "src/../../secret.rs", "{}/secret.rs", "src/link.rs", "..\\secret.rs"]


def test_a_file_that_is_no_source_gets_no_suggestion(tmp_path: Path) -> None:
    (tmp_path / "secret.rs").write_text("fn secret() {}\n")
    folder = make(tmp_path / "tea", TEA_PROJECT)
    (folder / "src" / "link.rs").symlink_to(tmp_path / "secret.rs")
    on_disk = context_in(folder)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for name in NO_SOURCES:
        code, message, hint = refusal(on_disk, SUGGEST, requirement=CUP, file=name.format(tmp_path), line=1)
        assert (code, hint) == ("not_found", "use a file that matches src/**/*.rs, tests/**/*.py")
        assert message.endswith(" is not a source file of this project")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    # Percent signs in a path are literal, and absolute paths are known.
    encoded = "src/%2e%2e/%2e%2e/secret.rs"
    for name, path in ((encoded, encoded), (f"{folder}/src/pot.rs", "src/pot.rs")):
        assert value(on_disk, SUGGEST, requirement=CUP, file=name)["file_path"] == path
    message = f"{encoded} does not exist, so it has no line 1"
    told = ("invalid_request", message, "omit line, or create the file first")
    assert refusal(on_disk, SUGGEST, requirement=CUP, file=encoded, line=1) == told
