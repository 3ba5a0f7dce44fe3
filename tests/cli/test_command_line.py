import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.cli import COMMAND_GROUPS, cli, run_command_line
from duvet.errors import DuvetError
from duvet.version import VERSION
from tests.cli.command import Done, Run, play, run
from tests.cli.sample_project import make
from tests.cli.terminals import show_on_terminal

COLOURED = {"CLICOLOR_FORCE": "1"}
RED = "\x1b[1;31merror\x1b[0m"
WRONG = "//= spec.md#nowhere\n"


def test_help_and_version(duvet: Run) -> None:
    help = duvet("--help")
    assert help == duvet("-h")
    assert (help.code, help.out.startswith("Usage: duvet [OPTIONS] COMMAND\n")) == (0, True)
    assert duvet() == Done(2, "", help.out)
    assert duvet("--version") == Done(0, f"duvet {VERSION}\n", "")
    command = [sys.executable, "-m", "duvet", "--version"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == f"duvet {VERSION}\n"


def test_help_lists_every_command_under_a_heading_and_fits_80_columns(duvet: Run) -> None:
    help = duvet("--help").out
    assert [line for line in help.splitlines() if len(line) > 80 or "..." in line] == []
    headings = [line.removesuffix(":") for line in help.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == [*COMMAND_GROUPS, "Options"]
    for heading, summaries in COMMAND_GROUPS.items():
        section = help.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
        assert section == "\n".join(f"  {name:10}  {summary}" for name, summary in summaries.items())


def list_every_command() -> dict[str, click.Command]:
    top = click.Context(cli)
    found = {name: command for name in cli.list_commands(top) if (command := cli.get_command(top, name))}
    groups = {name: command for name, command in found.items() if isinstance(command, click.Group)}
    return found | {f"{name} {below}": one for name, group in groups.items() for below, one in group.commands.items()}


def test_summaries_are_short_sentences_and_subcommands_have_examples() -> None:
    commands = list_every_command()
    summaries = {name: command.get_short_help_str(1000) for name, command in commands.items()}
    assert {name: text for name, text in summaries.items() if len(text) > 60 or not text.endswith(".")} == {}
    assert [name for name, command in commands.items() if "Examples:" not in (command.help or "")] == []
    groups = {name.split()[0] for name in commands if " " in name}
    assert groups == {"cache", "config", "feedback", "pack", "pages", "recipe", "workflow"}


def test_help_of_a_command(duvet: Run) -> None:
    ##= man/spec/help.md#topics
    ##% `duvet help COMMAND` MUST print the help of the command or subcommand.
    for command in ("help", "report", "rules"):
        done = duvet(command, "-h")
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(f"Usage: duvet {command} [OPTIONS]")
        assert done == duvet(command, "--help") == duvet("help", command)


def test_help_of_a_subcommand_shows_its_options_alone(duvet: Run) -> None:
    done = duvet("recipe", "run", "--help")
    assert done == duvet("help", "recipe", "run") == duvet("recipe", "run", "-h")
    assert done.out.startswith(
        "Usage: duvet recipe run [OPTIONS] NAME\n\n  Run a recipe and show the result of each step.\n"
    )
    assert "--dry-run" in done.out and "--output" not in done.out
    group = duvet("recipe", "--help").out
    assert group.startswith("Usage: duvet recipe [OPTIONS] [COMMAND]\n\n  List, show, check and run recipes.\n")
    assert (
        "\nCommands:\n  list   List the recipes of the project and the built-in recipes." in group
        and "validate" not in group
    )
    # Details are for the man page.
    assert "${vars.NAME}" not in group


OLD_FORMS = {
    "recipe validate": "recipe check",
    "cache --clear": "cache clear",
    "config --schema": "config schema",
    "config --schema service": "config schema service",
    "validate --explain DUV050": "explain DUV050",
    "show spec.md --config-path .duvet/config.toml": "show spec.md --config .duvet/config.toml",
    "uncited --status not_started": "uncited --status uncited --status to-do",
    "uncited --status missing-test": "uncited --status needs-tests",
    "search kettle --level UNSPECIFIED --type implementation": "search kettle --level none --type citation",
    "recipe list --format text": "recipe list",
    "recipe list --offline": "recipe list",
}


def test_old_forms_do_the_same_and_say_so_with_verbose(kettle: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/trace.md#commands
    ##% duvet MUST accept old names of options, commands, states and levels, and print the new name with `--verbose`.
    notes = ""
    for old, new in OLD_FORMS.items():
        done = duvet(*new.split())
        assert duvet(*old.split()) == done and (done.code == 0 or old.startswith("search"))
        verbose = duvet("-v", *old.split())
        note = verbose.err.removesuffix(done.err)
        assert verbose == duvet(*old.split(), "-v") == done._replace(err=note + done.err)
        notes += f"{old}\n{note}"
    gold.assert_match(notes, "old_forms.txt")


DEFAULTS = {
    "recipe --format json show stale-audit": "recipe show stale-audit --format json",
    "recipe list --format text --config none.json --offline": "recipe list",
    "pages --format csv": "pages list --format csv",
    "feedback --format json": "feedback list --format json",
    "workflow": "workflow list",
    "config --format json": "config show --format json",
    "cache": "cache show",
}


def test_a_group_runs_its_default(kettle: Path, duvet: Run) -> None:
    for line, same in DEFAULTS.items():
        done = duvet(*line.split())
        assert done == duvet(*same.split()) and done.code == 0


MISUSED = """
reprot|help reprot|check|list|serve|status|fix|chekc|version|re|searches|--colour always report|--frobnicate
uncited --json|report --off|frobnicate|--color maybe report|report extra|report --json|report --json a --json b
init --lang-c --lang-c|report --ci=maybe|extract|merge|report --blob-link caf\udce9|report --issue-link caf\udce9
report --source-pattern caf\udce9|init --specification caf\udce9
"""


OURS = "'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'src/*.rs'\n[[specification]]\nsource = 'spec.md'\n"
PATH = ".duvet/config.toml"
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "misuse": (*MISUSED.strip().replace("\n", "|").split("|"), "$ find . -name '*.*' ! -path './.duvet/cache*' | sort"),
    "errors": (
        *({PATH: OURS}, "-C nope report", "search --config nope x", "recipe check nope.yaml", "tools list"),
        *("call coverage_sumary", "explain foo", "ask boil", "backup", {PATH: OURS.replace("spec.md", "nope.md")}),
        *({"src/a.rs": "fn a() {}\n"}, "report", "uncited --fail-on must"),
    ),
    "another folder": (
        *("$ mkdir src/deep; cd src/deep; duvet -q -C ../.. report; ls ../../.duvet", "-C nowhere report"),
        *("-C spec.md report", "--color always show nothing"),
    ),
    "another configuration": (
        *(f"$ mv {PATH} other.toml", "-q --config other.toml report", "-q report --config-path other.toml"),
        *("$ ls requirements/spec", "$ cd src; duvet report", "$ cd src; duvet report --strict"),
    ),
    # Global flags are also accepted after the command.
    "repeated": (
        *("-q report --no-cache", "-q --no-cache report", "$ ls .duvet", "report --verbose"),
        *("$ duvet report --help | grep -c -- --no-cache", {"src/a.rs": "//# stray\n"}, "-q report"),
        "-q report --features a --features b --exclude c --exclude d",
    ),
    "service": (
        *({"duvet.config.yaml": "server: {name: a}\n"}, "--config duvet.config.yaml report"),
        "report --config duvet.config.yaml",
    ),
    "extract": ("extract spec.md", "extract --format markdown spec.md"),
    "steps": ({PATH: OURS}, "$ cd src; duvet report -v", "$ cd src; duvet config | head -3"),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_runs(name: str, kettle: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/problems.md#rules
    ##% Every error message MUST end with the code of its rule, except for errors in the command line.
    told = play(duvet, kettle, *SCENARIOS[name]).replace("\udce9", "\\xe9")
    gold.assert_match(told, f"{name.replace(' ', '_')}.txt")


WHEN_COLOURED: list[tuple[str, dict[str, str], bool]] = [
    ("", {}, False),
    ("", COLOURED, True),
    ("", {"CLICOLOR_FORCE": "0"}, False),
    ("", {**COLOURED, "NO_COLOR": "1"}, False),
    ("--color always", {"NO_COLOR": "1"}, True),
    ("--color never", COLOURED, False),
]


@pytest.mark.parametrize("broken", ["src/a.rs", ".duvet/config.toml"])
def test_colours(broken: str, kettle: Path, duvet: Run, duvet_command: str) -> None:
    make(kettle, {broken: WRONG})
    for args, environ, coloured in WHEN_COLOURED:
        done = duvet("-q", *args.split(), "report", environ=environ)
        assert done.err.startswith(RED if coloured else "error:")
        assert ("\x1b" in done.err) == coloured
    on_terminal: list[tuple[dict[str, str], bool]]
    on_terminal = [({}, True), ({"NO_COLOR": ""}, False), ({"TERM": "dumb"}, False), ({"CLICOLOR": "0"}, False)]
    for environ, coloured in on_terminal:
        written = show_on_terminal(duvet_command, kettle, "-q", "report", columns=80, stream="stderr", **environ)
        assert written.startswith(RED if coloured else "error:")


OUTCOMES: dict[str, tuple[BaseException | None, int, str]] = {
    "fine": (None, 0, ""),
    "refused": (DuvetError("no", path="a.rs"), 1, "error: no [DUV122]\n --> a.rs\n"),
    "misused": (click.UsageError("no"), 2, "Error: no\n"),
    "broken": (ZeroDivisionError("no"), 3, "\nZeroDivisionError: no\n\nThis is a bug in duvet "),
    "interrupted": (KeyboardInterrupt(), 130, "\ninterrupted\n"),
}


@click.command()
@click.argument("outcome")
def ending(outcome: str) -> None:
    error = OUTCOMES[outcome][0]
    if error:
        raise error


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_exit_codes(outcome: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ##= man/spec/trace.md#commands
    ##% duvet MUST exit with 0 on success, with 1 for an error, a failed check or a search without results, with 2 for a
    ##% usage error, with 3 for a bug in duvet, and with 130 when it is interrupted.
    _, code, words = OUTCOMES[outcome]
    monkeypatch.setitem(cli.commands, "ending", ending)
    assert run_command_line(["ending", outcome]) == code
    out, err = capsys.readouterr()
    assert (out, words in err) == ("", True)


def test_paths_of_the_user_on_a_narrow_terminal(kettle: Path, duvet_command: str) -> None:
    narrow = show_on_terminal(duvet_command, kettle / "src", "--color", "never", "config", columns=60)
    assert re.search(r"(?m)^config-path +\.\./\.duvet/config\.toml$", narrow), narrow


@pytest.mark.criterion("core 2.2.1")
def test_the_other_program_has_its_own_name(kettle: Path, duvet_command: str) -> None:
    program = str(Path(duvet_command).with_name("contextive-mcp"))
    assert run(program, kettle, "--version") == Done(0, f"contextive-mcp {VERSION}\n", "")
    usage = run(program, kettle, "--help").out
    assert usage.startswith("Usage: contextive-mcp [OPTIONS]\n\n  Serve tools, ")
    assert "duvet mcp" not in usage and "\n    contextive-mcp --http 8931\n" in usage
    assert run(program, kettle, "--nope").err.startswith(
        "Usage: contextive-mcp [OPTIONS]\nTry 'contextive-mcp --help' for help.\n"
    )
