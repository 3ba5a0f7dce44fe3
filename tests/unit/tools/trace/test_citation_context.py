"""`get_citation_context`"""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.tools.context import ProjectSnapshot
from tests.cli.made import make
from tests.unit.tools.made import FILES, MAIN, answer, context_in, context_of, refusal, value

TOOL = "get_citation_context"
LINES = tuple(MAIN.splitlines())


def test_lines_before_and_after(context: ProjectSnapshot) -> None:
    for around, expected in [(0, LINES[14:15]), (1, LINES[13:16]), (5, LINES[9:20]), (1000, LINES)]:
        found = value(context, TOOL, citation_id="src/main.rs:15", context_lines=around)
        assert found == {"file_path": "src/main.rs", "line_number": 15, "context": expected}
    assert value(context, TOOL, citation_id="src/main.rs:15")["context"] == LINES[9:21]
    assert value(context, TOOL, citation_id="src/main.rs:3", context_lines=4)["context"] == LINES[:7]


def test_other_names_of_a_citation(tmp_path: Path) -> None:
    context = context_in(make(tmp_path, FILES))
    path = "/specifications/rfc2324/sections/section-2.1/requirements/fe96266417b9/citations"
    expected = {"file_path": "src/main.rs", "line_number": 9, "context": LINES[8:9]}
    for id in [
        "src/main.rs:9",
        "src/main.rs:10",
        "src/main.rs:11",
        "./src/main.rs:9",
        "src%2Fmain.rs:9",
        "src\\main.rs:9:1",
        f"{tmp_path.as_posix()}/src/main.rs:9",
        f"{path}/src/main.rs:9",
        f"duvet://{path}/src%2Fmain.rs%3A9",
    ]:
        assert value(context, TOOL, citation_id=id, context_lines=0) == expected


def test_the_code_below_a_long_comment_is_shown() -> None:
    quoted = "".join(f"//# word {number}\n" for number in range(30))
    text = "a\n" * 9 + f"//= docs/pot.md#lid\n{quoted}" + "b\n" * 9
    found = value(context_of({**FILES, "src/long.rs": text}), TOOL, citation_id="src/long.rs:12")
    assert (found["line_number"], found["context"]) == (10, tuple(text.splitlines()[4:45]))


@pytest.mark.parametrize("line", [2, 3, 4])
@pytest.mark.parametrize("more", ["", "//= docs/pot.md#lid\n"])
def test_a_comment_that_can_not_be_read(line: int, more: str) -> None:
    text = f"a\n//= docs/pot.md#lid\n//= colour=black\n//# The lid\nb\n\nc\n{more}"
    context = context_of({**FILES, "src/main.rs": text})
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% `list_invalid_citations` MUST list exactly the citations that `duvet report` refuses, including comments that
    ##% cannot be read.
    (row,) = value(context, "list_invalid_citations")
    assert (row["line_number"], row["comment_text"]) == (2, "//= docs/pot.md#lid\n//= colour=black\n//# The lid")
    found = value(context, TOOL, citation_id=f"src/main.rs:{line}", context_lines=1)
    assert found == {"file_path": "src/main.rs", "line_number": 2, "context": tuple(text.splitlines()[:3])}
    near = ", ".join(["src/main.rs:2", *(["src/main.rs:8"] if more else [])])
    told = refusal(context, TOOL, citation_id="src/main.rs:7")
    assert told == ("not_found", "there is no citation at src/main.rs:7", f"near are {near}")


def test_a_line_without_a_citation(context: ProjectSnapshot) -> None:
    ##= man/spec/show.md#references
    ##= type=test
    ##% For a line without an annotation, duvet MUST name the nearest annotations in its file.
    assert refusal(context, TOOL, citation_id="src/main.rs:6") == (
        "not_found",
        "there is no citation at src/main.rs:6",
        "near are src/main.rs:3, src/main.rs:9, src/main.rs:15",
    )


@pytest.mark.parametrize("path", ["secret.txt", "docs/pot.md", "../secret.txt", "/etc/passwd", "%2e%2e/secret.txt", ""])
def test_files_without_citations_are_not_shown(tmp_path: Path, path: str) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% `get_citation_context` MUST NOT show lines of a file without citations.
    folder = make(tmp_path / "project", {**FILES, "secret.txt": "secret\n"})
    make(tmp_path, {"secret.txt": "secret\n"})
    code, message, _ = refusal(context_in(folder), TOOL, citation_id=f"{path}:1")
    assert (code, message) in [
        ("not_found", f'there is no citation in "{path}"'),
        ("invalid_request", '":1" is not file:line'),
    ]


def test_what_is_no_citation(context: ProjectSnapshot) -> None:
    assert refusal(context, TOOL, citation_id="src/main.rs") == (
        "invalid_request",
        '"src/main.rs" is not file:line',
        "give it as src/main.rs:42",
    )
    assert refusal(context, TOOL, citation_id="src/mian.rs:3") == (
        "not_found",
        'there is no citation in "src/mian.rs"',
        "did you mean src/main.rs?",
    )
    assert refusal(context, TOOL, citation_id="/specifications/rfc2324/sections/section-2.1") == (
        "not_found",
        '"/specifications/rfc2324/sections/section-2.1" is no citation',
        "get_requirement lists the citations of one",
    )


def test_long_lines_are_cut() -> None:
    context = context_of({**FILES, "src/main.rs": "//= docs/pot.md#lid\n" + "x" * 501})
    assert answer(context, TOOL, citation_id="src/main.rs:1") == (
        {"file_path": "src/main.rs", "line_number": 1, "context": ("//= docs/pot.md#lid", "x" * 500)},
        "Lines are cut after 500 characters.",
    )
