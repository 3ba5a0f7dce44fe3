"""The options that choose requirements"""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from duvet.console import filters
from duvet.model import Kind, Level
from duvet.queries.gaps import RequirementFilter
from duvet.trace.records import Status


def chosen(*args: str) -> tuple[RequirementFilter, dict[str, object]]:
    """What a command with all of these options, and one of its own, makes of its arguments."""
    found: list[tuple[RequirementFilter, dict[str, object]]] = []

    @click.command()
    @filters.add_spec_option
    @filters.add_section_option
    @filters.add_level_option
    @filters.add_status_option
    @filters.add_kind_option
    @click.option("--own")
    def command(**options: object) -> None:
        found.append(filters.split_filter(options))

    done = CliRunner().invoke(command, args)
    assert done.exit_code == 0, done.output
    return found[0]


STATUSES = ("not-started", "in-progress", "needs-tests", "done")
KINDS = {one.name.lower(): one for one in (Kind.TEST, Kind.CITATION, Kind.EXCEPTION, Kind.TODO, Kind.IMPLICATION)}


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        ((), RequirementFilter()),
        (("--spec", "tea", "--spec", "pot"), RequirementFilter(specifications=("tea", "pot"))),
        (("--section", "tea#brewing"), RequirementFilter(sections=("tea#brewing",))),
        (("--level", "must", "--level", "May"), RequirementFilter(levels=(Level.MUST, Level.MAY))),
        (("--status=Needs tests", "--status=DONE"), RequirementFilter(statuses=(Status.NEEDS_TESTS, Status.DONE))),
        (("--type", "implementation"), RequirementFilter(kinds=(Kind.CITATION,))),
        (("--level", "should", "--level", "none"), RequirementFilter(levels=(Level.SHOULD, Level.AUTO))),
        (tuple(f"--status={one}" for one in STATUSES), RequirementFilter(statuses=tuple(Status))),
        (tuple(f"--type={one}" for one in KINDS), RequirementFilter(kinds=tuple(KINDS.values()))),
    ],
)
def test_options(args: tuple[str, ...], wanted: RequirementFilter) -> None:
    assert chosen(*args) == (wanted, {"own": None})
    assert chosen(*args, "--own", "x") == (wanted, {"own": "x"})
