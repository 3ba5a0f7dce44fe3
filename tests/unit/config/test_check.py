"""Project configurations with unknown and missing keys, values of the wrong type, and broken TOML."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from duvet.config import fields
from duvet.model import Place, Problem
from tests.unit.config.made import EXTEND, EXTENDED, PATH, UPSTREAM, project_problems, show

BEGIN = f"begin the file with `'$schema' = \"{UPSTREAM}\"`"
SHORT = UPSTREAM.replace("0.4.0", "0.4")
SCHEMAS = ", ".join(f"`{name}`" for name in (UPSTREAM, f"{UPSTREAM}#", SHORT, f"{SHORT}#", EXTENDED))
UNKNOWN = UPSTREAM.replace("0.4", "0.9")
KEYS = "`pattern`, `comment-style`, `type`, `blob-link`"
TOP = "`source`, `requirement`, `report`, `specification`, `$schema`"
HTML = "`enabled`, `path`, `blob-link`, `issue-link`"
TYPES = "`implementation`, `spec`, `test`, `exception`, `todo`, `implication`"
FORMATS = "`IETF`, `ietf`, `markdown`, `md`"


def test_an_empty_file_misses_its_schema() -> None:
    assert project_problems(b"") == (Problem("DUV003", "missing field `$schema`", PATH, Place(1, 1), hint=BEGIN),)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            f"'$schema' = '{UNKNOWN}'".encode(),
            [f"1:13+52 DUV005 unknown variant `{UNKNOWN}`, expected one of {SCHEMAS}; did you mean `{UPSTREAM}`?"],
        ),
        # Without a schema, the keys of either schema are known.
        (
            b"[[source]]\nlanguage = 'go'\npatern = 'x'\n",
            [
                f"1:1+1 DUV003 missing field `$schema`; {BEGIN}",
                (
                    f"3:1+6 DUV002 unknown field `patern`, expected one of {KEYS}, `exclude`, `gitignore`, `language`; "
                    "did you mean `pattern`?"
                ),
            ],
        ),
        (b"'$schema' = ['x']", ["1:13+5 DUV004 invalid type: sequence, expected a string"]),
        (
            b"a = 'one'\nb = 'x\xff'",
            [
                (
                    "2:7+1 DUV011 TOML parse error at line 2, column 7: invalid utf-8 sequence of 1 bytes from index 16; "
                    "save the file as UTF-8"
                )
            ],
        ),
        (b"[[source]\n", ["1:9+1 DUV001 TOML parse error at line 1, column 9: unclosed array table, expected `]`"]),
    ],
)
def test_files_without_a_known_schema(data: bytes, expected: list[str]) -> None:
    assert [show(problem) for problem in project_problems(data)] == expected


WRONG_TYPES = """\
source = [
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
UNKNOWN_KEYS = """\
sources = []
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
NOT_APPLICABLE = """\
[[not-applicable]]
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
PAGE = "[report.html]\ntitle = 3\nlogoo = 'x'\nspec-text = 'ful'\nsnippet-lines = 51\nembed-json = 'no'\n"
SERVER = """\
[server]
name = " "
protocol-version = "2026-07-28"
page-size = -1
packs = ["trace", "notes"]
titel = "x"
"""
LINKS = """\
source = [{ pattern = "x", blob-link = "${{ NONE }}" }, { type = "test", blob-link = "${{" }]
report.html = { issue-link = "${{}}", blob-link = "${{ 'fine' }}" }
"""
CASES: dict[str, tuple[str, str, list[str]]] = {
    "types at the top": (
        UPSTREAM,
        "source = 1\nrequirement = 'x'\nspecification = true\nreport = [1]\n",
        [
            "2:10+1 DUV004 invalid type: integer `1`, expected a sequence",
            '3:15+3 DUV004 invalid type: string "x", expected a sequence',
            "4:17+4 DUV004 invalid type: boolean `true`, expected a sequence",
            "5:10+3 DUV004 invalid type: sequence, expected a table",
        ],
    ),
    "types everywhere": (
        UPSTREAM,
        WRONG_TYPES,
        [
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
        ],
    ),
    "brackets": (
        UPSTREAM,
        "[source]\npattern = 'x'\n[[report.html]]\npath = 'x'\n",
        [
            "2:1+8 DUV004 invalid type: map, expected a sequence; write `[[source]]`, a table for each",
            "4:1+15 DUV004 invalid type: sequence, expected a table; write `[report.html]`, one table only",
        ],
    ),
    "an integer that is too long to be written out": (
        UPSTREAM,
        f"source = 0x{'F' * 5000}",
        ["2:10+5002 DUV004 invalid type: integer, expected a sequence"],
    ),
    "keys at every level": (
        UPSTREAM,
        UNKNOWN_KEYS,
        [
            f"2:1+7 DUV002 unknown field `sources`, expected one of {TOP}; did you mean `source`?",
            "3:1+10 DUV003 missing field `pattern`",
            f"4:1+6 DUV002 unknown field `patern`, expected one of {KEYS}; did you mean `pattern`?",
            f"7:1+13 DUV002 unknown field `comment_style`, expected one of {KEYS}; did you mean `comment-style`?",
            "8:15+4 DUV002 unknown field `meat`, expected `meta` or `content`; did you mean `meta`?",
            "9:1+15 DUV003 missing field `pattern`",
            "10:1+8 DUV002 unknown field `patterns`, expected `pattern`; did you mean `pattern`?",
            "12:1+3 DUV002 unknown field `src`, expected `source` or `format`; did you mean `source`?",
            "14:1+3 DUV002 unknown field `pdf`, expected one of `html`, `json`, `snapshot`",
            f"15:6+3 DUV002 unknown field `pth`, expected one of {HTML}; did you mean `path`?",
            "16:6+9 DUV002 unknown field `blob-link`, expected `enabled` or `path`",
            "18:1+6 DUV002 unknown field `enable`, expected `enabled` or `path`; did you mean `enabled`?",
        ],
    ),
    "names of types and formats": (
        UPSTREAM,
        (
            "source = [{ pattern = 'x', type = 'citation' }, { pattern = 'x', type = 'TEST' }]\n"
            "specification = [{ format = 'auto' }, { format = 'Markdown' }]"
        ),
        [
            f"2:35+10 DUV005 unknown variant `citation`, expected one of {TYPES}; did you mean `implementation`?",
            f"2:73+6 DUV005 unknown variant `TEST`, expected one of {TYPES}; did you mean `test`?",
            f"3:29+6 DUV005 unknown variant `auto`, expected one of {FORMATS}",
            f"3:50+10 DUV005 unknown variant `Markdown`, expected one of {FORMATS}; did you mean `markdown`?",
        ],
    ),
    "templates of links": (
        UPSTREAM,
        LINKS,
        [
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
        ],
    ),
    "keys of the extended schema alone": (
        UPSTREAM,
        "[[source]]\npattern = ['x']\nlanguage = 'go'\ngitignore = 1\n",
        [
            f"3:11+5 DUV004 invalid type: sequence, expected a string; {EXTEND}",
            f"4:1+8 DUV002 unknown field `language`, expected one of {KEYS}; {EXTEND}",
            f"5:1+9 DUV002 unknown field `gitignore`, expected one of {KEYS}",
        ],
    ),
    "requirements that are not applicable, in the schema of awslabs duvet": (
        UPSTREAM,
        "[[not-applicable]]\ntarget = 'a'\nreason = 'b'\n",
        [f"2:3+14 DUV002 unknown field `not-applicable`, expected one of {TOP}; {EXTEND}"],
    ),
    "the report, in the schema of awslabs duvet": (
        UPSTREAM,
        "[report.html]\ntitle = 'x'\nsnippet-lines = 99\n",
        [
            f"3:1+5 DUV002 unknown field `title`, expected one of {HTML}; {EXTEND}",
            f"4:1+13 DUV002 unknown field `snippet-lines`, expected one of {HTML}",
        ],
    ),
    "the server, in the schema of awslabs duvet": (
        UPSTREAM,
        "[server]\nname = 'x'\n",
        [f"2:2+6 DUV002 unknown field `server`, expected one of {TOP}; {EXTEND}"],
    ),
    "sources": (
        EXTENDED,
        (
            "source = [\n  {},\n  { pattern = [] },\n  { pattern = ['x', 1], exclude = 1, gitignore = 'no' },\n"
            "  { language = 'lua', exclude = [1] },\n]"
        ),
        [
            "3:3+2 DUV003 missing field `pattern`; name the files, or a `language` that has some",
            "4:15+2 DUV005 invalid length 0, expected at least 1",
            "5:21+1 DUV004 invalid type: integer `1`, expected a string",
            "5:35+1 DUV004 invalid type: integer `1`, expected a string or a sequence",
            '5:50+4 DUV004 invalid type: string "no", expected a boolean',
            "6:34+1 DUV004 invalid type: integer `1`, expected a string",
        ],
    ),
    "requirements that are not applicable": (
        EXTENDED,
        NOT_APPLICABLE,
        [
            "3:10+2 DUV005 this is blank",
            "4:10+3 DUV005 this is blank",
            '8:10+12 DUV005 "2030-02-31" is no day; write a day as in `2027-12-31`',
            "12:10+20 DUV004 invalid type: datetime, expected a date; write a day as in `2027-12-31`",
            "13:1+18 DUV005 a quote needs a section; write the target as SPEC#SECTION",
            "17:1+18 DUV003 missing field `reason`",
            (
                "19:1+5 DUV002 unknown field `ovner`, expected one of `target`, `quote`, `reason`, `owner`, `expiry`; "
                "did you mean `owner`?"
            ),
        ],
    ),
    "the report": (
        EXTENDED,
        PAGE,
        [
            "3:9+1 DUV004 invalid type: integer `3`, expected a string",
            (
                f"4:1+5 DUV002 unknown field `logoo`, expected one of {HTML}, `title`, `logo`, `spec-text`, "
                "`snippet-lines`, `embed-json`; did you mean `logo`?"
            ),
            "5:13+5 DUV005 unknown variant `ful`, expected `cited` or `full`; did you mean `full`?",
            "6:17+2 DUV005 integer `51` is out of range; write a number from 0 to 50",
            '7:14+4 DUV004 invalid type: string "no", expected a boolean',
        ],
    ),
    "too few lines": (
        EXTENDED,
        "[report.html]\nsnippet-lines = -1\n",
        ["3:17+2 DUV005 integer `-1` is out of range; write a number from 0 to 50"],
    ),
    "no number of lines": (
        EXTENDED,
        "[report.html]\nsnippet-lines = true\n",
        ["3:17+4 DUV004 invalid type: boolean `true`, expected an integer"],
    ),
    "the server": (
        EXTENDED,
        SERVER,
        [
            "3:8+3 DUV005 this is blank",
            (
                "4:20+12 DUV005 unknown variant `2026-07-28`, expected one of `2024-11-05`, `2025-03-26`, `2025-06-18`, "
                "`2025-11-25`; did you mean `2025-06-18`?"
            ),
            "5:13+2 DUV005 integer `-1` is out of range; write a number from 0 to 10000",
            "6:19+7 DUV005 unknown variant `notes`, expected one of `trace`, `pages`, `knowledge`, `introspect`",
            (
                "7:1+5 DUV002 unknown field `titel`, expected one of `name`, `title`, `version`, `description`, "
                "`protocol-version`, `page-size`, `packs`; did you mean `title`?"
            ),
        ],
    ),
}


@pytest.mark.parametrize(("schema", "text", "expected"), CASES.values(), ids=CASES)
def test_problems(schema: str, text: str, expected: list[str]) -> None:
    ##= man/spec/trace.md#configuration
    ##% duvet MUST report each key that is unknown, missing or of the wrong type with its place, and SHOULD suggest the
    ##% key that was meant.
    assert [show(one) for one in project_problems(f"'$schema' = \"{schema}\"\n{text}".encode())] == expected


def test_an_unknown_language() -> None:
    (problem,) = project_problems(f"'$schema' = '{EXTENDED}'\nsource = [{{ language = 'pyton' }}]".encode())
    assert show(problem).startswith("2:24+7 DUV005 unknown variant `pyton`, ")
    assert problem.hint == "did you mean `python`?"


def test_words_for_wrong_keys() -> None:
    assert fields.describe_unknown_field("x", ["a"]) == "unknown field `x`, expected `a`"
    assert fields.describe_unknown_field("x", []) == "unknown field `x`, there are no fields"
    assert fields.describe_duplicate_field("x") == "duplicate field `x`"
    assert fields.describe_unknown_variant("X", ["a"]) == "unknown variant `X`, expected `a`"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('a"\n', 'string "a\\"\\n"'),
        (datetime.date(2000, 1, 1), "datetime"),
        (datetime.time(), "datetime"),
    ],
)
def test_words_for_types(value: Any, words: str) -> None:
    assert fields.describe_invalid_type(value, "a string") == f"invalid type: {words}, expected a string"


@pytest.mark.parametrize(("word", "answer"), [("todo", "did you mean `TODO`?"), ("colour", "")])
def test_did_you_mean(word: str, answer: str) -> None:
    assert fields.did_you_mean(word, ["pattern", "type", "TODO"]) == answer
