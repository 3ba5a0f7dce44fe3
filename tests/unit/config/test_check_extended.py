"""What the schema of our own adds: refused by that of upstream, and checked by ours."""

from __future__ import annotations

from tests.unit.config.faulty import EXTEND, EXTENDED, found


def test_keys_of_our_schema_are_unknown_in_upstreams() -> None:
    ##= man/spec/trace.md#configuration
    ##% duvet MUST read a configuration with the schema of awslabs duvet as awslabs duvet does, and accept the same keys
    ##% in its own schema.
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
    top = "`source`, `requirement`, `report`, `specification`, `$schema`"
    assert found("[[not-applicable]]\ntarget = 'a'\nreason = 'b'\n") == [
        f"2:3+14 DUV002 unknown field `not-applicable`, expected one of {top}; {EXTEND}"
    ]


def test_an_unknown_language() -> None:
    (problem,) = found("source = [{ language = 'pyton' }]", EXTENDED)
    assert problem.startswith("2:24+7 DUV005 unknown variant `pyton`, ") and problem.endswith("did you mean `python`?")


PAGE = """[report.html]
title = 3
logoo = "x"
spec-text = "ful"
snippet-lines = 51
embed-json = "no"
"""


def test_what_is_refused_of_the_page() -> None:
    keys = "`enabled`, `path`, `blob-link`, `issue-link`"
    more = "`title`, `logo`, `spec-text`, `snippet-lines`, `embed-json`"
    assert found(PAGE, EXTENDED) == [
        "3:9+1 DUV004 invalid type: integer `3`, expected a string",
        f"4:1+5 DUV002 unknown field `logoo`, expected one of {keys}, {more}; did you mean `logo`?",
        "5:13+5 DUV005 unknown variant `ful`, expected `cited` or `full`; did you mean `full`?",
        "6:17+2 DUV005 integer `51` is out of range; write a number from 0 to 50",
        '7:14+4 DUV004 invalid type: string "no", expected a boolean',
    ]
    assert found("[report.html]\nsnippet-lines = -1\n", EXTENDED) == [
        "3:17+2 DUV005 integer `-1` is out of range; write a number from 0 to 50"
    ]
    assert found("[report.html]\nsnippet-lines = true\n", EXTENDED) == [
        "3:17+4 DUV004 invalid type: boolean `true`, expected an integer"
    ]
    assert found("[report.html]\ntitle = 'x'\nsnippet-lines = 99\n") == [
        f"3:1+5 DUV002 unknown field `title`, expected one of {keys}; {EXTEND}",
        f"4:1+13 DUV002 unknown field `snippet-lines`, expected one of {keys}",
    ]


SERVER = """[server]
name = " "
protocol-version = "2026-07-28"
page-size = -1
packs = ["trace", "notes"]
titel = "x"
"""


def test_what_is_refused_of_the_server() -> None:
    versions = "`2024-11-05`, `2025-03-26`, `2025-06-18`, `2025-11-25`"
    keys = "`name`, `title`, `version`, `description`, `protocol-version`, `page-size`, `packs`"
    assert found(SERVER, EXTENDED) == [
        "3:8+3 DUV005 this is blank",
        f"4:20+12 DUV005 unknown variant `2026-07-28`, expected one of {versions}; did you mean `2025-06-18`?",
        "5:13+2 DUV005 integer `-1` is out of range; write a number from 0 to 10000",
        "6:19+7 DUV005 unknown variant `notes`, expected one of `trace`, `pages`, `knowledge`, `introspect`",
        f"7:1+5 DUV002 unknown field `titel`, expected one of {keys}; did you mean `title`?",
    ]
    top = "`source`, `requirement`, `report`, `specification`, `$schema`"
    assert found("[server]\nname = 'x'\n") == [f"2:2+6 DUV002 unknown field `server`, expected one of {top}; {EXTEND}"]
