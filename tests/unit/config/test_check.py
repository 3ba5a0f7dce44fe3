"""Project configurations with unknown and missing keys, values of the wrong type, and broken TOML."""

from __future__ import annotations

import datetime

from pytest_snapshot.plugin import Snapshot

from duvet.config import fields
from duvet.model import Place, Problem
from tests.conftest import ROOT
from tests.unit.config.configurations import EXTENDED, PATH, UPSTREAM, project_problems, show

UNKNOWN = UPSTREAM.replace("0.4", "0.9")
BEGIN = f"start the file with `'$schema' = \"{UPSTREAM}\"`"


def test_an_empty_file_misses_its_schema() -> None:
    assert project_problems(b"") == (Problem("DUV003", "missing field `$schema`", PATH, Place(1, 1), hint=BEGIN),)


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
CASES = {
    "an unknown schema": (UNKNOWN, ""),
    "no schema, and keys of either": ("", "[[source]]\nlanguage = 'go'\npatern = 'x'\n"),
    "a schema that is no text": ("", "'$schema' = ['x']"),
    "a byte that is not UTF-8": ("", "a = 'one'\nb = 'x\udcff'"),
    "broken TOML": ("", "[[source]\n"),
    "an unknown language": (EXTENDED, "source = [{ language = 'pyton' }]"),
    "types at the top": (UPSTREAM, "source = 1\nrequirement = 'x'\nspecification = true\nreport = [1]\n"),
    "types everywhere": (UPSTREAM, WRONG_TYPES),
    "brackets": (UPSTREAM, "[source]\npattern = 'x'\n[[report.html]]\npath = 'x'\n"),
    "an integer that is too long to be written out": (UPSTREAM, f"source = 0x{'F' * 5000}"),
    "keys at every level": (UPSTREAM, UNKNOWN_KEYS),
    "names of types and formats": (
        UPSTREAM,
        (
            "source = [{ pattern = 'x', type = 'citation' }, { pattern = 'x', type = 'TEST' }]\n"
            "specification = [{ format = 'auto' }, { format = 'Markdown' }]"
        ),
    ),
    "templates of links": (UPSTREAM, LINKS),
    "keys of the extended schema alone": (UPSTREAM, "[[source]]\npattern = ['x']\nlanguage = 'go'\ngitignore = 1\n"),
    "requirements that are not applicable, in the schema of awslabs duvet": (
        UPSTREAM,
        "[[not-applicable]]\ntarget = 'a'\nreason = 'b'\n",
    ),
    "the report, in the schema of awslabs duvet": (UPSTREAM, "[report.html]\ntitle = 'x'\nsnippet-lines = 99\n"),
    "the server, in the schema of awslabs duvet": (UPSTREAM, "[server]\nname = 'x'\n"),
    "sources": (
        EXTENDED,
        (
            "source = [\n  {},\n  { pattern = [] },\n  { pattern = ['x', 1], exclude = 1, gitignore = 'no' },\n"
            "  { language = 'lua', exclude = [1] },\n]"
        ),
    ),
    "requirements that are not applicable": (EXTENDED, NOT_APPLICABLE),
    "the report": (EXTENDED, PAGE),
    "too few lines": (EXTENDED, "[report.html]\nsnippet-lines = -1\n"),
    "no number of lines": (EXTENDED, "[report.html]\nsnippet-lines = true\n"),
    "the server": (EXTENDED, SERVER),
}


def test_problems_are_reported_with_place_and_hint(snapshot: Snapshot) -> None:
    ##= man/spec/trace.md#configuration
    ##% duvet MUST report each configuration key that is unknown, missing or of the wrong type, with its path and line.
    found: list[str] = []
    for name, (schema, text) in CASES.items():
        head = f"'$schema' = \"{schema}\"\n" if schema else ""
        problems = project_problems(f"{head}{text}".encode(errors="surrogateescape"))
        found += [f"# {name}", *map(show, problems), ""]
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "problems"
    snapshot.assert_match("\n".join(found), "configuration.txt")


def test_wrong_keys_and_types_are_described() -> None:
    assert fields.describe_unknown_field("x", ["a"]) == "unknown field `x`, expected `a`"
    assert fields.describe_unknown_field("x", []) == "unknown field `x`, there are no fields"
    assert fields.describe_duplicate_field("x") == "duplicate field `x`"
    assert fields.describe_unknown_variant("X", ["a"]) == "unknown variant `X`, expected `a`"
    types = {'a"\n': 'string "a\\"\\n"', datetime.date(2000, 1, 1): "datetime", datetime.time(): "datetime"}
    found = [fields.describe_invalid_type(value, "a string") for value in types]
    assert found == [f"invalid type: {words}, expected a string" for words in types.values()]
    keys = ["pattern", "type", "TODO"]
    assert [fields.did_you_mean(word, keys) for word in ("todo", "colour")] == ["did you mean `TODO`?", ""]
