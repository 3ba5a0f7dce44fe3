"""Configuration files that can't be read: every problem, its place, and what to do about it."""

from __future__ import annotations

import pytest

from duvet.config.read import read_config
from duvet.model import Place, Problem, ProblemsError

UPSTREAM = "https://awslabs.github.io/duvet/config/v0.4.0.json"
EXTENDED = "duvet-cli/config/v1"
PATH = ".duvet/config.toml"
BEGIN = f"begin the file with `'$schema' = \"{UPSTREAM}\"`"
EXTEND = f"this needs `'$schema' = \"{EXTENDED}\"`"
SHORT = UPSTREAM.replace("0.4.0", "0.4")
SCHEMAS = ", ".join(f"`{name}`" for name in (UPSTREAM, f"{UPSTREAM}#", SHORT, f"{SHORT}#", EXTENDED))
TYPES = "`implementation`, `spec`, `test`, `exception`, `todo`, `implication`"


def problems(data: bytes) -> tuple[Problem, ...]:
    with pytest.raises(ProblemsError) as error:
        read_config(data, PATH, {})
    return error.value.problems


def found(text: str, schema: str = UPSTREAM) -> list[str]:
    """The problems of a file that begins with a schema, a line each: `place code message; hint`."""
    return [shown(problem) for problem in problems(f"'$schema' = \"{schema}\"\n{text}".encode())]


def shown(problem: Problem) -> str:
    place = f"{problem.place.line}:{problem.place.column}+{problem.place.width}"
    return f"{place} {problem.code} {problem.message}" + (f"; {problem.hint}" if problem.hint else "")


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
    ##% Every key that is unknown, missing or of the wrong type MUST be reported with its place in the file.
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


TYPOS = """sources = []
[[source]]
patern = "x"
[[source]]
pattern = "x"
comment_style = {}
comment-style.meat = "x"
[[requirement]]
patterns = "x"
[[specification]]
src = "x"
[report]
pdf = 1
html.pth = 1
json.blob-link = "x"
[report.snapshot]
enable = true
"""


def test_unknown_and_missing_keys_at_every_level() -> None:
    ##= man/spec/trace.md#configuration
    ##% Every key that is unknown, missing or of the wrong type MUST be reported with its place in the file.
    ##= man/spec/trace.md#configuration
    ##% A problem with a misspelt key SHOULD name the key that was meant.
    keys = "`pattern`, `comment-style`, `type`, `blob-link`"
    top = "`source`, `requirement`, `report`, `specification`, `$schema`"
    assert found(TYPOS) == [
        f"2:1+7 DUV002 unknown field `sources`, expected one of {top}; did you mean `source`?",
        "3:1+10 DUV003 missing field `pattern`",
        f"4:1+6 DUV002 unknown field `patern`, expected one of {keys}; did you mean `pattern`?",
        f"7:1+13 DUV002 unknown field `comment_style`, expected one of {keys}; did you mean `comment-style`?",
        "8:15+4 DUV002 unknown field `meat`, expected `meta` or `content`; did you mean `meta`?",
        "9:1+15 DUV003 missing field `pattern`",
        "10:1+8 DUV002 unknown field `patterns`, expected `pattern`; did you mean `pattern`?",
        "12:1+3 DUV002 unknown field `src`, expected `source` or `format`; did you mean `source`?",
        "14:1+3 DUV002 unknown field `pdf`, expected one of `html`, `json`, `snapshot`",
        (
            "15:6+3 DUV002 unknown field `pth`, expected one of `enabled`, `path`, `blob-link`, `issue-link`; "
            "did you mean `path`?"
        ),
        "16:6+9 DUV002 unknown field `blob-link`, expected `enabled` or `path`",
        "18:1+6 DUV002 unknown field `enable`, expected `enabled` or `path`; did you mean `enabled`?",
    ]


def test_bad_names() -> None:
    text = """source = [{ pattern = "x", type = "citation" }, { pattern = "x", type = "TEST" }]
specification = [{ format = "auto" }, { format = "Markdown" }]"""
    formats = "`IETF`, `ietf`, `markdown`, `md`"
    assert found(text) == [
        f"2:35+10 DUV005 unknown variant `citation`, expected one of {TYPES}; did you mean `implementation`?",
        f"2:73+6 DUV005 unknown variant `TEST`, expected one of {TYPES}; did you mean `test`?",
        f"3:29+6 DUV005 unknown variant `auto`, expected one of {formats}",
        f"3:50+10 DUV005 unknown variant `Markdown`, expected one of {formats}; did you mean `markdown`?",
    ]


def test_bad_templates_are_listed_with_everything_else() -> None:
    text = """source = [{ pattern = "x", blob-link = "${{ NONE }}" }, { type = "test", blob-link = "${{" }]
report.html = { issue-link = "${{}}", blob-link = "${{ 'fine' }}" }"""
    assert found(text) == [
        (
            '2:40+13 DUV007 failed to evaluate expression: " NONE "; '
            "set the environment variable `NONE`, or end with a text in quotes: `|| 'text'`"
        ),
        "2:57+36 DUV003 missing field `pattern`",
        '2:86+5 DUV007 expected "}}"; close the expression: `${{ NAME }}`',
        (
            '3:30+7 DUV007 failed to evaluate expression: ""; '
            "name an environment variable or a text: `${{ NAME || 'text' }}`"
        ),
    ]


def test_keys_of_our_schema_are_unknown_in_upstreams() -> None:
    ##= man/spec/trace.md#configuration
    ##% A configuration with the schema of awslabs duvet MUST be read as awslabs duvet reads it.
    text = "[[source]]\npattern = ['x']\nlanguage = 'go'\ngitignore = 1\n"
    keys = "`pattern`, `comment-style`, `type`, `blob-link`"
    assert found(text) == [
        f"3:11+5 DUV004 invalid type: sequence, expected a string; {EXTEND}",
        f"4:1+8 DUV002 unknown field `language`, expected one of {keys}; {EXTEND}",
        f"5:1+9 DUV002 unknown field `gitignore`, expected one of {keys}",
    ]


def test_what_our_schema_refuses() -> None:
    text = """source = [
  {},
  { pattern = [] },
  { pattern = ["x", 1], exclude = 1, gitignore = "no" },
  { language = "lua", exclude = [1] },
]"""
    assert found(text, EXTENDED) == [
        "3:3+2 DUV003 missing field `pattern`; name the files, or a `language` that has some",
        "4:15+2 DUV005 invalid length 0, expected at least 1",
        "5:21+1 DUV004 invalid type: integer `1`, expected a string",
        "5:35+1 DUV004 invalid type: integer `1`, expected a string or a sequence",
        '5:50+4 DUV004 invalid type: string "no", expected a boolean',
        "6:34+1 DUV004 invalid type: integer `1`, expected a string",
    ]


ENTRIES = """[[not-applicable]]
target = ""
reason = " "
[[not-applicable]]
target = "spec.md"
reason = "no"
expiry = "2030-02-31"
[[not-applicable]]
target = "spec.md"
reason = "no"
expiry = 2030-01-31T00:00:00Z
[[not-applicable]]
target = "spec.md"
quote = "x"
reason = "no"
[[not-applicable]]
target = "spec.md#x"
ovner = "me"
"""


def test_what_is_refused_of_what_is_not_applicable() -> None:
    keys = "`target`, `quote`, `reason`, `owner`, `expiry`"
    day = "write a day as in `2027-12-31`"
    assert found(ENTRIES, EXTENDED) == [
        "3:10+2 DUV005 this is blank",
        "4:10+3 DUV005 this is blank",
        f'8:10+12 DUV005 "2030-02-31" is no day; {day}',
        f"12:10+20 DUV004 invalid type: datetime, expected a date; {day}",
        "13:1+18 DUV005 a quote needs a section; write the target as SPEC#SECTION",
        "17:1+18 DUV003 missing field `reason`",
        f"19:1+5 DUV002 unknown field `ovner`, expected one of {keys}; did you mean `owner`?",
    ]


def test_what_is_not_applicable_is_unknown_in_upstreams_schema() -> None:
    ##= man/spec/trace.md#configuration
    ##% A configuration with the schema of awslabs duvet MUST be read as awslabs duvet reads it.
    top = "`source`, `requirement`, `report`, `specification`, `$schema`"
    assert found("[[not-applicable]]\ntarget = 'a'\nreason = 'b'\n") == [
        f"2:3+14 DUV002 unknown field `not-applicable`, expected one of {top}; {EXTEND}"
    ]


def test_an_unknown_language() -> None:
    (problem,) = found("source = [{ language = 'pyton' }]", EXTENDED)
    assert problem.startswith("2:24+7 DUV005 unknown variant `pyton`, ") and problem.endswith("did you mean `python`?")
