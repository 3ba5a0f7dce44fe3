"""`duvet explain` and `duvet rules`: rules, states and configuration keys."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from duvet.config.toml import parse_toml
from duvet.console.explanations import explain_topic, find_keys, list_keys, list_topics
from duvet.errors import NotFoundError
from duvet.rules import list_rules
from tests.cli.command import Done, Run, run_whole
from tests.cli.sample_project import KETTLE, SPECIFICATION, make
from tests.cli.terminals import show_on_terminal
from tests.conftest import ROOT

STATES = ["done", "excepted", "needs tests", "needs code", "in progress", "to do", "uncited", "not applicable"]
PATH_PAGE = """\
# report.html.path

Path of the HTML report.

- type: string
- default: `".duvet/reports/report.html"`
- file: .duvet/config.toml
- schema: that of awslabs duvet, and "duvet-cli/config/v1"

Example, as TOML:

    [report.html]
    path = ".duvet/reports/report.html"
"""
TABLE_PAGE = """\
# report.html.snippet-lines

Lines of code to show below each annotation.

- type: integer from 0 to 50
- default: `6`
- file: .duvet/config.toml
- schema: only "duvet-cli/config/v1"

Example, as TOML:

    [report.html]
    snippet-lines = 6
"""


def test_rules_states_and_keys_are_explained(duvet: Run) -> None:
    ##= man/spec/problems.md#rules
    ##% `duvet explain` MUST print the page of a rule, a state, a level or a configuration key.
    rule = (ROOT / "templates/rules/DUV050.md").read_text(encoding="utf-8")
    specification = f"## Specification\n\n```markdown spec.md\n{SPECIFICATION}```\n\n"
    rule = rule.replace("## Bad\n", f"{specification}## Bad\n")
    assert duvet("explain", "duv050") == duvet("explain", "quote-not-found") == Done(0, rule, "")
    state = duvet("explain", "needs tests")
    assert state.out.startswith("# needs tests\n\nEvery byte of the requirement is implemented")
    assert state == duvet("explain", "needs", "tests") == duvet("explain", "missing_test")
    level = duvet("explain", "MUST")
    assert level.out.startswith("# MUST\n\nThe level of a sentence with MUST, MUST NOT") and level.code == 0
    assert level == duvet("explain", "must")
    # A page with its own specification gets no other one.
    assert explain_topic("DUV066") == (ROOT / "templates/rules/DUV066.md").read_text(encoding="utf-8")
    for name in ("report.html.path", "[report.html].path", "Report.HTML.Path", "html.path"):
        assert duvet("explain", name) == Done(0, PATH_PAGE, "")
    assert duvet("explain", "snippetLines") == duvet("explain", "snippet_lines") == Done(0, TABLE_PAGE, "")


def test_on_a_terminal_pages_are_rendered(duvet_command: str, tmp_path: Path) -> None:
    for words in ("explain DUV050", "validate --explain DUV050"):
        lines = show_on_terminal(duvet_command, tmp_path, "--color", "never", *words.split()).splitlines()
        assert lines[0].strip() == "DUV050 quote-not-found" and max(map(len, lines)) <= 80
        assert "src/a.rs:" in lines and "spec.md:" in lines and "## Bad" not in lines and "Bad" in lines


FIRST_PROBLEMS = {
    "validate": "DUV050",
    "validate --format text src": "DUV050",
    "--no-cache report": "DUV050",
    "--config nowhere.toml report": "DUV010",
    "report --json /dev/full": "DUV050",
    "-q validate": "",
    "validate --format json": "",
    "explain DUV999": "DUV120",
}


def test_a_run_ends_with_the_command_that_explains_its_first_problem(duvet_command: str, tmp_path: Path) -> None:
    make(tmp_path, {**KETTLE, "src/a.rs": "//= spec.md#heating\n//# The kettle MUST cook.\n//= spec.md#gone\n"})
    for args, code in FIRST_PROBLEMS.items():
        err = run_whole(duvet_command, tmp_path, *args.split()).err
        line = f'run "duvet explain {code}" for details'
        assert [one for one in err.splitlines() if "duvet explain" in one] == ([line] if code else [])
        assert not code or err.endswith(f"\n{line}\n")
        if code:
            assert run_whole(duvet_command, tmp_path, *line.split('"')[1].split()[1:]).code == 0


def test_a_run_with_an_error_explains_no_warning(duvet_command: str, tmp_path: Path) -> None:
    ours = KETTLE[".duvet/config.toml"].replace(
        "https://awslabs.github.io/duvet/config/v0.4.json", "duvet-cli/config/v1"
    )
    config = f'{ours}[[source]]\npattern = "none/*.rs"\n'
    make(tmp_path, {**KETTLE, ".duvet/config.toml": config})
    assert run_whole(duvet_command, tmp_path, "report").err.endswith('\nrun "duvet explain DUV009" for details\n')
    make(tmp_path, {"src/a.rs": "//= spec.md#heating\n//# The kettle MUST cook.\n"})
    err = run_whole(duvet_command, tmp_path, "report").err
    assert err.index("[DUV009]") < err.index("[DUV050]") < err.index('run "duvet explain DUV050" for details')


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("DUV999", 'no rule, state, level or key is named "DUV999"', "did you mean DUV009 or DUV029 or DUV039?"),
        ("50", 'no rule, state, level or key is named "50"', "did you mean DUV050?"),
        ("needs test", 'no rule, state, level or key is named "needs test"', "did you mean needs tests"),
        ("report.html.pth", 'no rule, state, level or key is named "report.html.pth"', "did you mean report.html.path"),
        ("", 'no rule, state, level or key is named ""', "run `duvet explain` to list all topics, or `duvet show`"),
        ("html.", 'no rule, state, level or key is named "html."', ""),
        ("[\x1b]", 'no rule, state, level or key is named "[\\u{1b}]"', "run `duvet explain` to list all topics"),
        ("logo.path", 'no rule, state, level or key is named "logo.path"', ""),
        ("meta.path", 'no rule, state, level or key is named "meta.path"', ""),
        ("enabled", 'quoted "enabled"', ""),
    ],
)
def test_an_unknown_topic_has_similar_names(name: str, message: str, hint: str) -> None:
    with pytest.raises(NotFoundError) as raised:
        explain_topic(name)
    if name != "enabled":
        assert raised.value.message == message
        assert raised.value.hint.startswith(hint)
    else:
        assert raised.value.message == '6 keys end with "enabled"'
        assert raised.value.hint == (
            "available: report.html.enabled, report.json.enabled, report.snapshot.enabled, "
            "report.requirements.enabled, providers.NAME.enabled, toolPacks.NAME.enabled"
        )


def test_everything_is_listed_and_everything_listed_is_explained(duvet: Run) -> None:
    listed = json.loads(duvet("explain", "--format", "json").out)
    assert [one["name"] for one in listed] == [topic.name for topic in list_topics()]
    assert [one["name"] for one in listed if one["kind"] == "rule"] == list(list_rules())
    assert [one["name"] for one in listed if one["kind"] == "state"] == STATES
    assert [one["name"] for one in listed if one["kind"] == "level"] == ["MUST", "SHOULD", "MAY"]
    assert len({one["name"] for one in listed}) == len(listed)
    assert all(one["summary"] for one in listed)
    for one in listed:
        assert re.search(rf"^# {re.escape(one['name'])}( |$)", explain_topic(one["name"]), re.MULTILINE)
    rows = json.loads(duvet("rules", "--format", "json").out)
    assert [(row["code"], row["name"], row["severity"]) for row in rows] == [
        (rule.code, rule.name, rule.severity.value) for rule in list_rules().values()
    ]
    assert duvet("rules") == duvet("explain", "--rules")
    for code in ("DUV050", "duv050", "quote-not-found", "DUV999"):
        assert duvet("rules", code) == duvet("explain", code)
    assert duvet("rules", "--help").out.startswith("Usage: duvet rules [OPTIONS] [CODE]\n")
    assert duvet("rules", "DUV050", "--format", "json").code == 2
    usage = duvet("explain", "DUV050", "--rules")
    assert usage.code == 2
    assert "Error: --rules and --format only apply to a list; leave out the argument" in usage.err


def test_the_example_of_each_key_is_toml() -> None:
    for key in list_keys():
        parse_toml(key.example, "example.toml")


def test_a_key_of_both_files_is_explained_for_both() -> None:
    page = explain_topic("server.name")
    assert [line for line in page.splitlines() if line.startswith("- file")] == [
        "- file: .duvet/config.toml",
        "- file: duvet.config.toml, .yaml or .json",
    ]
    assert [key.type for key in find_keys("server.page_size")] == ["integer from 0 to 10,000"] * 2
    assert [key.type for key in find_keys("source.exclude")] == ["string or list of strings"]
    assert [key.example for key in find_keys("source.comment-style.meta")] == [
        '[[source]]\n[source.comment-style]\nmeta = "…"'
    ]
