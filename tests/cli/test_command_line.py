"""The command line before any command does its work: help, usage, folders, colours."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from duvet.version import VERSION
from tests.cli.made import make
from tests.cli.running import Done, Run, environment, files

COLOURED = {"CLICOLOR_FORCE": "1"}
RED = "\x1b[1;31merror\x1b[0m"


def misused(command: str, message: str) -> Done:
    """What is said about arguments that mean nothing."""
    rest = {"duvet": "COMMAND [ARGS]...", "duvet extract": "TARGET_PATH"}.get(command, "")
    usage = f"Usage: {command} [OPTIONS] {rest}".rstrip()
    return Done(2, "", f"{usage}\nTry '{command} --help' for help.\n\nError: {message}\n")


def test_no_arguments(duvet: Run) -> None:
    done = duvet()
    assert done == Done(2, "", duvet("--help").out)
    assert done.err.startswith("Usage: duvet [OPTIONS] COMMAND [ARGS]...\n")


@pytest.mark.parametrize("args", [("-h",), ("help",), ("help", "--help")])
def test_help(args: tuple[str, ...], duvet: Run) -> None:
    assert duvet(*args) == duvet("--help")
    assert duvet(*args).code == 0


@pytest.mark.parametrize("command", ["init", "extract", "report", "merge", "search", "config"])
def test_help_of_a_command(command: str, duvet: Run) -> None:
    done = duvet(command, "-h")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: duvet {command} [OPTIONS]")
    assert done == duvet(command, "--help") == duvet("help", command)


def test_version(duvet: Run) -> None:
    assert duvet("--version") == Done(0, f"duvet {VERSION}\n", "")


MISUSED = {
    ("reprot",): misused("duvet", "No such command 'reprot'; did you mean `report`?"),
    ("help", "reprot"): misused("duvet", "No such command 'reprot'; did you mean `report`?"),
    ("frobnicate",): misused("duvet", "No such command 'frobnicate'"),
    ("--color", "maybe", "report"): misused(
        "duvet", "Invalid value for '--color': 'maybe' is not one of 'auto', 'always', 'never'."
    ),
    ("report", "extra"): misused("duvet report", "Got unexpected extra argument (extra)"),
    ("report", "--json"): misused("duvet report", "Option '--json' requires an argument."),
    ("report", "--json", "a", "--json", "b"): misused(
        "duvet report", "the argument '--json <JSON>' cannot be used multiple times"
    ),
    ("init", "--lang-c", "--lang-c"): misused("duvet init", "the argument '--lang-c' cannot be used multiple times"),
    ("report", "--ci=maybe"): misused("duvet report", "Invalid value for '--ci': 'maybe' is neither true nor false"),
    ("extract",): misused("duvet extract", "the following required arguments were not provided:\n  <TARGET_PATH>"),
    ("merge",): misused(
        "duvet merge", "the following required arguments were not provided:\n  --input <INPUT>\n  --output <OUTPUT>"
    ),
}


@pytest.mark.parametrize("args", MISUSED)
def test_misuse(args: tuple[str, ...], kettle: Path, duvet: Run) -> None:
    before = files(kettle)
    assert duvet(*args) == MISUSED[args]
    assert files(kettle) == before


def test_an_unknown_option_names_those_that_are_near(duvet: Run) -> None:
    done = duvet("report", "--jsn")
    assert (done.code, done.out) == (2, "")
    assert "No such option '--jsn'." in done.err and "--json" in done.err and "Usage: duvet report" in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="arguments are Unicode there")
@pytest.mark.parametrize(
    "args",
    [
        ("report", "--blob-link"),
        ("report", "--issue-link"),
        ("report", "--source-pattern"),
        ("init", "--specification"),
    ],
)
def test_text_that_is_not_unicode(args: tuple[str, str], kettle: Path, duvet: Run) -> None:
    before = files(kettle)
    assert duvet(*args, "caf\udce9") == misused(f"duvet {args[0]}", f"Invalid value for '{args[1]}': it is not UTF-8")
    assert files(kettle) == before


def test_another_folder(kettle: Path, duvet: Run) -> None:
    (kettle / "src/deep").mkdir()
    assert duvet("-q", "-C", "../..", "report", cwd=kettle / "src/deep") == Done(0, "", "")
    assert (kettle / ".duvet/snapshot.txt").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the words of other systems")
@pytest.mark.parametrize(
    ("folder", "reason"), [("nowhere", "No such file or directory (os error 2)"), ("spec.md", "Not a directory")]
)
def test_another_folder_that_is_none(folder: str, reason: str, duvet: Run) -> None:
    done = duvet("-C", folder, "report")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: can't run in this folder: {reason}")
    assert done.err.endswith(f"\n --> {folder}\n\nencountered 1 errors\n")


def test_another_configuration(kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#configuration
    ##% duvet MUST read `.duvet/config.toml` unless another file is named, and `duvet report` SHOULD say where it
    ##% belongs when nothing is configured.
    (kettle / ".duvet/config.toml").rename(kettle / "other.toml")
    assert duvet("-q", "--config", "other.toml", "report") == Done(0, "", "")
    assert duvet("-q", "report", "--config-path", "other.toml") == Done(0, "", "")
    assert (kettle / "requirements/spec/heating.toml").exists()


def test_a_folder_without_a_configuration(kettle: Path, duvet: Run) -> None:
    done = duvet("report", cwd=kettle / "src")
    warning = "warning: no configuration in this folder [DUV008]\n --> .duvet/config.toml\n"
    assert (done.code, done.out) == (0, "")
    assert f"{warning}  = help: there is one in `..`: add `-C ..`\n" in done.err
    assert duvet("report", "--strict", cwd=kettle / "src").code == 1


@pytest.mark.parametrize(
    ("args", "environ", "coloured"),
    [
        ((), {}, False),
        ((), COLOURED, True),
        ((), {"CLICOLOR_FORCE": "0"}, False),
        ((), {**COLOURED, "NO_COLOR": "1"}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), COLOURED, False),
    ],
)
@pytest.mark.parametrize("broken", ["src/a.rs", ".duvet/config.toml"])
def test_colours(
    broken: str, args: tuple[str, ...], environ: dict[str, str], coloured: bool, kettle: Path, duvet: Run
) -> None:
    make(kettle, {broken: "//= spec.md#nowhere\n"})
    done = duvet("-q", *args, "report", environ=environ)
    assert done.err.startswith(RED if coloured else "error:")
    assert ("\x1b" in done.err) == coloured


@pytest.mark.skipif(sys.platform == "win32", reason="terminals are other things there")
@pytest.mark.parametrize(
    ("environ", "coloured"),
    [({}, True), ({"NO_COLOR": ""}, False), ({"TERM": "dumb"}, False), ({"CLICOLOR": "0"}, False)],
)
def test_colours_on_a_terminal(environ: dict[str, str], coloured: bool, kettle: Path, duvet_command: str) -> None:
    make(kettle, {"src/a.rs": "//= spec.md#nowhere\n"})
    ours, theirs = pty.openpty()
    more = {"TERM": "xterm", **environ}
    subprocess.run([duvet_command, "-q", "report"], cwd=kettle, env=environment(**more), stderr=theirs, check=False)
    os.close(theirs)
    assert os.read(ours, 100_000).decode().startswith(RED if coloured else "error:")
    os.close(ours)


def test_quiet_and_verbose(kettle: Path, duvet: Run) -> None:
    assert duvet("-q", "report") == Done(0, "", "")
    assert "             src/a.rs: 2 annotations\n" in duvet("-v", "report").err
    make(kettle, {"src/a.rs": "//# stray\n"})
    assert duvet("-q", "report") == Done(0, "", "")


def test_older_switches_that_may_be_repeated(duvet: Run) -> None:
    done = duvet("report", "--features", "a", "--features", "b", "--exclude", "c", "--exclude", "d")
    assert (done.code, done.out) == (0, "")


def test_what_holds_for_all_commands_may_stand_after_them(kettle: Path, duvet: Run) -> None:
    assert duvet("report", "-q", "--no-cache") == Done(0, "", "")
    assert not (kettle / ".duvet" / "cache").exists()
    assert "             src/a.rs: 2 annotations\n" in duvet("report", "--verbose").err
    assert "--no-cache" not in duvet("report", "--help").out
