"""The examples in the help of a command."""

from __future__ import annotations

import re
import shlex

import click

from duvet.cli import cli


def examples(name: str) -> list[list[str]]:
    """The words of each example that runs duvet, without `duvet`."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None and command.help is not None
    lines = command.help.partition("Examples:")[2].splitlines()
    return [shlex.split(line)[1:] for line in lines if re.match(r"\s*duvet ", line)]
