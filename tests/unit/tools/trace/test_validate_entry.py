"""`validate_citation` with entries of requirement files"""

from __future__ import annotations

import pytest

from tests.cli.made_tea import TEA_PROJECT
from tests.unit.tools.made import answer, context_of, value
from tests.unit.tools.trace.judging import MISSING, TEA, VALID, invalid, verdict


@pytest.mark.parametrize("kind", ["spec", "exception", "todo", "todos"])
def test_entries_of_requirement_files(kind: str) -> None:
    more = 'reason = "Paper."' if kind == "exception" else ""
    entry = f"  [[{kind}]]\n  {{}}quote = '''\nA cup\nMUST NOT leak.\n'''\n{more}\n"
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% `validate_citation` MUST accept exactly the citations that `duvet report` accepts, in any comment style or as an
    ##% entry of a requirement file, and with code around them.
    assert verdict(entry.format('target = "tea.md#cup"\n')) == VALID
    assert verdict('target = "tea.md#cup"\n\n# A cup\n#\n' + entry.format("")) == VALID
    assert verdict("# A comment.\n\n" + entry.format('target = "tea.md#cup"\n')) == VALID
    assert verdict('target = "tea.md#pot"\n' + entry.format("")) == invalid(
        f"Requirement not found: {MISSING}", nearest="tea.md#cup"
    )
    assert verdict(entry.format('target = "tea.md#cups"\n')) == invalid(
        'Section not found: missing section "cups" in tea.md', nearest="tea.md#cup"
    )
    step = 'write `target = "specification#section"` here, or above all tables for the whole file'
    assert answer(TEA, "validate_citation", citation=entry.format("")) == (
        invalid("URL not found: missing target"),
        step,
    )


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ('[[exception]]\ntarget = "tea.md#cup"\nquote = "A cup MUST NOT leak."', "missing field `reason`"),
        (
            '[[todo]]\ntarget = "tea.md#cup"\nquote = "A cup',
            "TOML parse error at line 3, column 15: unterminated string",
        ),
        ('target = "tea.md#cup"', "no target can be read; it is written `spec#section`"),
        ("[[test]]\n", "unknown field `test`"),
        ("[spec]\n", "invalid type: map, expected a sequence"),
    ],
)
def test_entries_that_can_not_be_read(entry: str, error: str) -> None:
    found = verdict(entry)
    assert isinstance(found, dict) and found["error"].startswith(f"URL not found: {error}"), found


def test_an_exception_without_a_reason_has_one_verdict() -> None:
    text = "//= tea.md#cup\n//= type=exception\n//# A cup MUST NOT leak.\n"
    context = context_of({**TEA_PROJECT, "src/pot.rs": text})
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% `list_invalid_citations` MUST list exactly the citations that `duvet report` refuses, including comments that
    ##% cannot be read.
    assert value(context, "list_invalid_citations") == []
    assert verdict(text, context) == {
        "valid": True,
        "warning": "this exception does not say why: add a line `reason=…`",
    }


def test_entries_that_are_listed_as_invalid_are_so_as_they_are_listed() -> None:
    path = ".duvet/exceptions/coffee.toml"
    text = 'target = "tea.md#cup"\n\n[[exception]]\nquote = "A cup MAY leak."\nreason = "Paper."\n'
    unread = '[[todo]]\ntarget = "tea.md#cup"\nquote = "A cup"\ncolour = "black"\n'
    context = context_of({**TEA_PROJECT, path: f"{text}\n{unread}", "src/pot.rs": ""})
    rows = value(context, "list_invalid_citations")
    assert [(row["file_path"], row["line_number"], row["comment_text"]) for row in rows] == [
        (path, 3, text.replace("\n\n", "\n").strip()),
        (path, 7, unread.strip()),
    ]
    for row in rows:
        assert value(context, "validate_citation", citation=row["comment_text"])["error"] == row["error"]
