import re
from pathlib import Path

from click.testing import CliRunner
from pytest_snapshot.plugin import Snapshot

from duvet.cli import COMMANDS, cli
from duvet.templates.guide_pages import guide_parts, guide_text, guide_topics
from tests.cli.command import LINUX, play, run, runner
from tests.cli.terminals import show_on_terminal


def test_topics_and_commands_are_listed(duvet_command: str, tmp_path: Path, gold: Snapshot) -> None:
    usage = run(duvet_command, tmp_path, "--help").out
    done = run(duvet_command, tmp_path, "help")
    assert (done.code, done.err, done.out.endswith(f"\n\n{usage}")) == (0, "", True)
    gold.assert_match(done.out.removesuffix(usage), "topics.txt")


def test_a_topic_is_printed_without_instructions_for_tests(duvet_command: str, tmp_path: Path) -> None:
    ##= man/spec/help.md#topics
    ##% `duvet help TOPIC` MUST print the guide's text about the topic, and use a pager only if standard output is a
    ##% terminal.
    for topic in guide_topics():
        done = run(duvet_command, tmp_path, "help", topic)
        text = re.sub(r"\[([^]]*)\]\(\.\.[^)]*\)", r"\1", guide_text(topic))
        text = re.sub(r"\[([^]]*)\]\((?!http)([a-z-]+)\.md[^)]*\)", _expect_command, text)
        lines = [line for line in text.splitlines() if line and not line.startswith("<!--")]
        assert (done.code, done.err) == (0, "")
        assert [line for line in done.out.splitlines() if line] == lines


def test_a_topic_is_a_page_or_a_part_of_one_in_any_case(duvet_command: str, tmp_path: Path) -> None:
    titles = {"specifications": "Specifications and requirements", "tutorial": "Trace your first project"}
    titles["ci"] = "Run duvet in CI"
    for topic in (*guide_parts(), "CI", "Tutorial", "GATES"):
        done = run(duvet_command, tmp_path, "help", topic)
        head = f"# {titles.get(topic.lower(), topic.capitalize())}"
        lines = [line for line in done.out.splitlines() if not line.startswith("```") and line.startswith("# ")]
        assert (done.code, done.out.splitlines()[0], lines[0], done.err) == (0, head, head, "")
        assert done == run(duvet_command, tmp_path, "help", topic.lower())


def _expect_command(link: re.Match[str]) -> str:
    text, command = link[1], f"`duvet help {link[2]}`"
    return command if text.lower() == link[2] else f"{text} ({command})"


def test_no_help_is_wider_than_a_terminal() -> None:
    commands = [*COMMANDS, "config check", "pages show", "recipe run", "workflow run", "workflow check"]
    for words in commands:
        shown = CliRunner().invoke(cli, [*words.split(), "--help"], terminal_width=80).output
        assert [line for line in shown.splitlines() if len(line) > 80] == []
        assert not re.search(r"\w-\n +[a-z]", shown)
    folded = (
        "  --status [uncited|to-do|in-progress|needs-code|needs-tests|excepted|done|\n            not-applicable]\n"
    )
    assert folded in CliRunner().invoke(cli, ["uncited", "--help"], terminal_width=80).output


UNKNOWN = (
    "tutorials",
    "concept",
    "gate",
    "duv050",
    "needs-tests",
    "fix",
    "zzzzzz",
    "reprot",
    "report now",
    "cache cler",
)


def test_an_unknown_topic_is_refused(duvet_command: str, tmp_path: Path, gold: Snapshot) -> None:
    told = play(runner(duvet_command, tmp_path), tmp_path, *(f"help {words}" for words in UNKNOWN))
    gold.assert_match(told, "unknown.txt")


@LINUX
def test_on_a_terminal_a_topic_opens_in_the_pager(duvet_command: str, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\nsed 's/^/| /'\n")
    pager.chmod(0o755)
    args, streams = ("--color", "never", "help", "concepts"), "stdin stdout stderr"
    written = show_on_terminal(duvet_command, tmp_path, *args, stream=streams, PAGER=str(pager))
    lines = [line.removeprefix("| ").strip(" ┃│") for line in written.splitlines()]
    assert all(line.startswith("| ") for line in written.splitlines())
    assert {"Specifications and requirements", "States", "Gates"} <= set(lines)
    assert "\x1b" not in written
