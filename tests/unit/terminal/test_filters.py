"""The options that choose requirements"""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from duvet.model import Kind, Level
from duvet.queries.filters import Filter
from duvet.terminal.filters import (
    kind_option,
    level_option,
    section_option,
    spec_option,
    status_option,
    without_filter,
)
from duvet.trace.states import Status


def chosen(*args: str) -> tuple[Filter, dict[str, object]]:
    """What a command with all of these options, and one of its own, makes of its arguments."""
    found: list[tuple[Filter, dict[str, object]]] = []

    @click.command()
    @spec_option
    @section_option
    @level_option
    @status_option
    @kind_option
    @click.option("--own")
    def command(**options: object) -> None:
        found.append(without_filter(options))

    done = CliRunner().invoke(command, args)
    assert done.exit_code == 0, done.output
    return found[0]


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        ((), Filter()),
        (("--spec", "tea", "--spec", "pot"), Filter(specifications=("tea", "pot"))),
        (("--section", "tea#brewing"), Filter(sections=("tea#brewing",))),
        (("--level", "must", "--level", "May"), Filter(levels=(Level.MUST, Level.MAY))),
        (("--status", "Needs tests", "--status", "DONE"), Filter(statuses=(Status.NEEDS_TESTS, Status.DONE))),
        (("--type", "implementation"), Filter(kinds=(Kind.CITATION,))),
        (("--level", "should", "--level", "none"), Filter(levels=(Level.SHOULD, Level.AUTO))),
        (
            ("--status", "not-started", "--status", "in-progress", "--status", "needs-tests", "--status", "done"),
            Filter(statuses=tuple(Status)),
        ),
        (
            tuple(f"--type={kind}" for kind in ("test", "citation", "exception", "todo", "implication")),
            Filter(kinds=(Kind.TEST, Kind.CITATION, Kind.EXCEPTION, Kind.TODO, Kind.IMPLICATION)),
        ),
    ],
)
def test_options(args: tuple[str, ...], wanted: Filter) -> None:
    assert chosen(*args) == (wanted, {"own": None})
    assert chosen(*args, "--own", "x") == (wanted, {"own": "x"})
