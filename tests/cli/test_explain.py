import json
import re
from functools import partial
from pathlib import Path

from pytest_snapshot.plugin import Snapshot

from duvet.config.toml import parse_toml
from duvet.console.explanations import explain_topic, find_keys, list_keys, list_topics
from duvet.rules import list_rules
from tests.cli.command import Done, Run, play, run_whole
from tests.cli.sample_project import KETTLE, SPECIFICATION
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


WRONG = {"src/a.rs": "//= spec.md#heating\n//# The kettle MUST cook.\n//= spec.md#gone\n"}
UPSTREAM = "https://awslabs.github.io/duvet/config/v0.4.json"
OURS = KETTLE[".duvet/config.toml"].replace(UPSTREAM, "duvet-cli/config/v1")
OFFERS: tuple[str | dict[str, str], ...] = (
    *({**KETTLE, **WRONG}, "validate", "validate --format text src", "--no-cache report", "report --json /dev/full"),
    *("--config nowhere.toml report", "-q validate", "validate --format json", "explain DUV999"),
    # A run with an error explains no warning.
    *({**KETTLE, ".duvet/config.toml": f'{OURS}[[source]]\npattern = "none/*.rs"\n'}, "report", WRONG, "report"),
)


def test_a_run_ends_with_the_command_that_explains_its_first_problem(
    duvet_command: str, tmp_path: Path, gold: Snapshot
) -> None:
    told = play(partial(run_whole, duvet_command, tmp_path), tmp_path, *OFFERS)
    gold.assert_match(re.sub(r"(?m)^! {4,}(?!-->)[A-Z]\w+(ing|ed|te) .*\n", "", told), "offers.txt")


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
