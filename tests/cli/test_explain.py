import json
import re
from pathlib import Path

from pytest_snapshot.plugin import Snapshot

from duvet.config.toml import parse_toml
from duvet.console.explanations import explain_topic, find_keys, list_keys, list_topics
from duvet.rules import list_rules
from tests.cli.command import Done, Run, play, run_whole
from tests.cli.sample_project import KETTLE, SPECIFICATION, make
from tests.cli.terminals import show_on_terminal
from tests.conftest import ROOT

STATES = ["done", "excepted", "needs tests", "needs code", "in progress", "to do", "uncited", "not applicable"]
EXPLAINED = (
    *("MUST", "must", "'needs tests'", "needs tests", "missing_test", "report.html.path", "[report.html].path"),
    *("Report.HTML.Path", "html.path", "snippetLines", "snippet_lines", "server.name"),
)
UNKNOWN = (
    *("DUV999", "50", "'needs test'", "report.html.pth", "''", "html.", "'[\x1b]'", "logo.path", "meta.path"),
    *("enabled", "DUV050 --rules"),
)


def test_rules_states_and_keys_are_explained(duvet: Run, folder: Path, gold: Snapshot) -> None:
    ##= man/spec/problems.md#rules
    ##% `duvet explain` MUST explain a rule, a state, a level or a configuration key.
    rule = (ROOT / "templates/rules/DUV050.md").read_text(encoding="utf-8")
    specification = f"## Specification\n\n```markdown spec.md\n{SPECIFICATION}```\n\n"
    rule = rule.replace("## Bad\n", f"{specification}## Bad\n")
    assert duvet("explain", "duv050") == duvet("explain", "quote-not-found") == Done(0, rule, "")
    # A page with its own specification gets no other one.
    assert explain_topic("DUV066") == (ROOT / "templates/rules/DUV066.md").read_text(encoding="utf-8")
    gold.assert_match(play(duvet, folder, *(f"explain {name}" for name in EXPLAINED)), "topics.txt")
    gold.assert_match(play(duvet, folder, *(f"explain {name}" for name in UNKNOWN)), "unknown.txt")


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
    upstream = "https://awslabs.github.io/duvet/config/v0.4.json"
    ours = KETTLE[".duvet/config.toml"].replace(upstream, "duvet-cli/config/v1")
    config = f'{ours}[[source]]\npattern = "none/*.rs"\n'
    make(tmp_path, {**KETTLE, ".duvet/config.toml": config})
    assert run_whole(duvet_command, tmp_path, "report").err.endswith('\nrun "duvet explain DUV009" for details\n')
    make(tmp_path, {"src/a.rs": "//= spec.md#heating\n//# The kettle MUST cook.\n"})
    err = run_whole(duvet_command, tmp_path, "report").err
    assert err.index("[DUV009]") < err.index("[DUV050]") < err.index('run "duvet explain DUV050" for details')


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


def test_the_example_of_each_key_is_toml() -> None:
    for key in list_keys():
        parse_toml(key.example, "example.toml")


def test_types_and_examples_of_keys() -> None:
    assert [key.type for key in find_keys("server.page_size")] == ["integer from 0 to 10,000"] * 2
    assert [key.type for key in find_keys("source.exclude")] == ["string or list of strings"]
    assert [key.example for key in find_keys("source.comment-style.meta")] == [
        '[[source]]\n[source.comment-style]\nmeta = "…"'
    ]
    examples = ['[[specification]]\nsource = "…"', '[[not-applicable]]\ntarget = "…"\nreason = "…"', "[report.html]"]
    assert [key.example for name in ("specification", "not-applicable", "report.html") for key in find_keys(name)] == (
        examples
    )
