"""How a run ends."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from duvet.cli import cli, run_command_line
from duvet.errors import DuvetError
from duvet.version import VERSION

OUTCOMES: dict[str, tuple[BaseException | None, int, str]] = {
    "fine": (None, 0, ""),
    "refused": (DuvetError("no", path="a.rs"), 1, "error: no\n --> a.rs\n\nencountered 1 errors\n"),
    "misused": (click.UsageError("no"), 2, "Error: no\n"),
    "broken": (ZeroDivisionError("no"), 3, "\nZeroDivisionError: no\n\nThis is a bug of duvet "),
    "interrupted": (KeyboardInterrupt(), 130, "\ninterrupted\n"),
}


def test_without_the_script() -> None:
    command = [sys.executable, "-m", "duvet", "--version"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == f"duvet {VERSION}\n"


@click.command()
@click.argument("outcome")
def ending(outcome: str) -> None:
    """A command that ends in every way that a command can."""
    error = OUTCOMES[outcome][0]
    if error:
        raise error


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_exit_codes(outcome: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ##= man/spec/trace.md#diagnostics
    ##% duvet MUST exit with 0 for yes, 1 for no, 2 for wrong usage, 3 for a defect of duvet, and 130 when interrupted.
    _, code, words = OUTCOMES[outcome]
    monkeypatch.setitem(cli.commands, "ending", ending)
    assert run_command_line(["ending", outcome]) == code
    out, err = capsys.readouterr()
    assert (out, words in err) == ("", True)
