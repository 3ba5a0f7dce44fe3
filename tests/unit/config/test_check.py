"""Configurations with another schema, broken TOML and values of the wrong type."""

from __future__ import annotations

from duvet.model import Place, Problem
from tests.unit.config.faulty import EXTENDED, PATH, UPSTREAM, found, problems, shown

BEGIN = f"begin the file with `'$schema' = \"{UPSTREAM}\"`"
SHORT = UPSTREAM.replace("0.4.0", "0.4")
SCHEMAS = ", ".join(f"`{name}`" for name in (UPSTREAM, f"{UPSTREAM}#", SHORT, f"{SHORT}#", EXTENDED))


def test_an_empty_file_misses_its_schema() -> None:
    assert problems(b"") == (Problem("DUV003", "missing field `$schema`", PATH, Place(1, 1), hint=BEGIN),)


def test_an_unknown_schema() -> None:
    url = "https://awslabs.github.io/duvet/config/v0.9.0.json"
    assert found("", url) == [
        f"1:13+52 DUV005 unknown variant `{url}`, expected one of {SCHEMAS}; did you mean `{UPSTREAM}`?"
    ]


def test_without_a_schema_what_either_schema_takes_is_right() -> None:
    assert [shown(problem) for problem in problems(b"[[source]]\nlanguage = 'go'\npatern = 'x'\n")] == [
        f"1:1+1 DUV003 missing field `$schema`; {BEGIN}",
        (
            "3:1+6 DUV002 unknown field `patern`, expected one of `pattern`, `comment-style`, `type`, `blob-link`, "
            "`exclude`, `gitignore`, `language`; did you mean `pattern`?"
        ),
    ]


def test_a_schema_of_another_type() -> None:
    (problem,) = problems(b"'$schema' = ['x']")
    assert shown(problem) == "1:13+5 DUV004 invalid type: sequence, expected a string"


def test_broken_toml() -> None:
    (problem,) = found("[[source]\n")
    assert problem.startswith("2:9+1 DUV001 TOML parse error at line 2, column 9: ")


def test_a_file_in_another_encoding() -> None:
    assert [shown(problem) for problem in problems(b"a = 'one'\nb = 'x\xff'")] == [
        (
            "2:7+1 DUV011 TOML parse error at line 2, column 7: invalid utf-8 sequence of 1 bytes from index 16; "
            "save the file as UTF-8"
        )
    ]


WRONG_TYPES = """source = 1
requirement = "x"
specification = true
report = [1]
"""


def test_wrong_types_at_the_top() -> None:
    assert found(WRONG_TYPES) == [
        "2:10+1 DUV004 invalid type: integer `1`, expected a sequence",
        '3:15+3 DUV004 invalid type: string "x", expected a sequence',
        "4:17+4 DUV004 invalid type: boolean `true`, expected a sequence",
        "5:10+3 DUV004 invalid type: sequence, expected a table",
    ]


WRONG_VALUES = """source = [
  1,
  { pattern = 1.5 },
  { pattern = "x", comment-style = "//=" },
  { pattern = "x", comment-style = { meta = 1, content = [] } },
  { pattern = "x", type = 3, blob-link = false },
]
requirement = [{ pattern = 1979-05-27 }]
specification = [{ source = {}, format = 07:32:00 }]
report.html = { enabled = "yes", path = 1, blob-link = 2, issue-link = [] }
report.json = { enabled = 1, path = false }
report.snapshot = { enabled = {}, path = nan }
"""


def test_wrong_types_everywhere() -> None:
    ##= man/spec/trace.md#configuration
    ##% duvet MUST report each key that is unknown, missing or of the wrong type with its place, and SHOULD suggest the
    ##% key that was meant.
    assert found(WRONG_VALUES) == [
        "3:3+1 DUV004 invalid type: integer `1`, expected a table",
        "4:15+3 DUV004 invalid type: floating point `1.5`, expected a string",
        '5:36+5 DUV004 invalid type: string "//=", expected a table',
        "6:45+1 DUV004 invalid type: integer `1`, expected a string",
        "6:58+2 DUV004 invalid type: sequence, expected a string",
        "7:27+1 DUV004 invalid type: integer `3`, expected a string",
        "7:42+5 DUV004 invalid type: boolean `false`, expected a string",
        "9:28+10 DUV004 invalid type: datetime, expected a string",
        "10:29+2 DUV004 invalid type: map, expected a string",
        "10:42+8 DUV004 invalid type: datetime, expected a string",
        '11:27+5 DUV004 invalid type: string "yes", expected a boolean',
        "11:41+1 DUV004 invalid type: integer `1`, expected a string",
        "11:56+1 DUV004 invalid type: integer `2`, expected a string",
        "11:72+2 DUV004 invalid type: sequence, expected a string",
        "12:27+1 DUV004 invalid type: integer `1`, expected a boolean",
        "12:37+5 DUV004 invalid type: boolean `false`, expected a string",
        "13:31+2 DUV004 invalid type: map, expected a boolean",
        "13:42+3 DUV004 invalid type: floating point `nan`, expected a string",
    ]


def test_headers_with_the_wrong_brackets() -> None:
    text = "[source]\npattern = 'x'\n[[report.html]]\npath = 'x'\n"
    assert found(text) == [
        "2:1+8 DUV004 invalid type: map, expected a sequence; write `[[source]]`, a table for each",
        "4:1+15 DUV004 invalid type: sequence, expected a table; write `[report.html]`, one table only",
    ]


def test_an_integer_that_can_not_be_written_out() -> None:
    assert found(f"source = 0x{'F' * 5000}") == ["2:10+5002 DUV004 invalid type: integer, expected a sequence"]
