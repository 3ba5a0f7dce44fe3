"""Keys and values that a configuration doesn't know, keys that it lacks, and bad templates."""

from __future__ import annotations

from tests.unit.config.faulty import found

TYPES = "`implementation`, `spec`, `test`, `exception`, `todo`, `implication`"
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
    ##% duvet MUST report each key that is unknown, missing or of the wrong type with its place, and SHOULD suggest the
    ##% key that was meant.
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
