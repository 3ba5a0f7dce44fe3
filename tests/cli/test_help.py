"""`duvet help`: the topics of the guide, and the help of commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from duvet.cli import COMMANDS, cli
from duvet.templates import guide_parts, guide_text, guide_topics
from tests.cli.command import LINUX, Done, run
from tests.cli.terminals import show_on_terminal

TOPICS = """\
Guide (duvet help TOPIC):
  tutorial        Trace your first project
  concepts        Concepts
  configuration   Configure a project
  agents          Give duvet to your agent
  ci              Run duvet in CI
  criteria        Check the interfaces that duvet implements
  github-actions  Run duvet in GitHub Actions
  knowledge       Index the project for search
  migrating       Migrate from awslabs duvet
  notes           Serve a folder of notes
  packs           Write your own tools
  pre-commit      Check commits with pre-commit
  python          Use duvet from Python
  teams           Share one server with your team
  workflows       Chain tools with workflows and recipes
  reference       Look up commands, keys, tools and rules

Parts of the concepts: specifications, annotations, states, coverage, drift, gates

"""


def test_topics_and_commands_are_listed(duvet_command: str, tmp_path: Path) -> None:
    usage = run(duvet_command, tmp_path, "--help").out
    assert run(duvet_command, tmp_path, "help") == Done(0, TOPICS + usage, "")


@pytest.mark.parametrize("topic", guide_topics())
def test_a_topic_is_printed_without_instructions_for_tests(duvet_command: str, tmp_path: Path, topic: str) -> None:
    ##= man/spec/help.md#topics
    ##% `duvet help TOPIC` MUST print the guide's text about the topic, and use a pager only if standard output is a
    ##% terminal.
    done = run(duvet_command, tmp_path, "help", topic)
    text = re.sub(r"\[([^]]*)\]\(\.\.[^)]*\)", r"\1", guide_text(topic))
    text = re.sub(r"\[([^]]*)\]\((?!http)([a-z-]+)\.md[^)]*\)", _expect_command, text)
    lines = [line for line in text.splitlines() if line and not line.startswith("<!--")]
    assert (done.code, done.err) == (0, "")
    assert [line for line in done.out.splitlines() if line] == lines


@pytest.mark.parametrize("topic", [*guide_parts(), "CI", "Tutorial", "GATES"])
def test_a_topic_is_a_page_or_a_part_of_one_in_any_case(duvet_command: str, tmp_path: Path, topic: str) -> None:
    done = run(duvet_command, tmp_path, "help", topic)
    title = {"specifications": "Specifications and requirements", "tutorial": "Trace your first project"}
    title |= {"ci": "Run duvet in CI"}
    head = f"# {title.get(topic.lower(), topic.capitalize())}"
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


UNKNOWN = {
    "tutorials": "; did you mean `duvet help tutorial`?",
    "concept": "; did you mean `duvet help concepts`?",
    "gate": "; did you mean `duvet help gates`?",
    "duv050": "; did you mean `duvet explain duv050`?",
    "needs-tests": "; did you mean `duvet explain needs-tests`?",
    "fix": "; did you mean `duvet help validate`?",
    "zzzzzz": "; run `duvet help` to list the topics and commands",
    "reprot": "; did you mean `duvet help report`?",
    "report now": "",
    "cache cler": "; did you mean `duvet help cache clear`?",
}


def test_an_unknown_topic_is_refused(duvet_command: str, tmp_path: Path) -> None:
    for words, hint in UNKNOWN.items():
        done = run(duvet_command, tmp_path, "help", *words.split())
        message = f"Error: No such topic or command '{words.split()[-1]}'{hint}"
        assert (done.code, done.out, done.err.splitlines()[-1]) == (2, "", message)


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
