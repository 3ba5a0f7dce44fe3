"""`duvet diff`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.options import trace_options


@click.command(cls=Subcommand)
@click.argument("base", required=False)
@trace_options
@click.option("--exact", is_flag=True, help="Compare with BASE itself, not with where HEAD left it.")
@click.option(
    "--fail-on",
    type=click.Choice(["regression", "new"]),
    multiple=True,
    help="Exit with 1 when coverage was lost, or when a new requirement is not cited. Can be repeated.",
)
@click.option("--format", type=click.Choice(["text", "json", "markdown"]), default="text", help="How to write it.")
@click.pass_context
def diff(
    ctx: click.Context, /, base: str | None, exact: bool, fail_on: tuple[str, ...], format: str, **where: Any
) -> None:
    """What is on disk is compared with the commit where HEAD left BASE, which is what a pull request adds. BASE is the
    default branch of origin unless it is given, or HEAD where there is no origin. Nothing is checked out. What was
    never committed, such as downloaded specifications, is taken as it is on disk, and that is said.

    A requirement has lost coverage when its status is lower than it was, or when it had an implementation or tests and
    has none any more. A citation has gone stale when it was right, says the same, and is wrong now. A file that is
    renamed or a line that moves is no change.

    --fail-on regression is a gate for pull requests: it fails for both of these, and for nothing else. --fail-on new
    fails for new requirements that nothing cites.

    --format markdown is a comment for a pull request, no longer than GitHub allows.

    \b
    Examples:
      duvet diff
      duvet diff HEAD~1
      duvet diff --exact v1.0 --format json
      duvet diff origin/main --fail-on regression --format markdown > comment.md
    """
    from duvet.terminal.comparing import run_diff

    ctx.exit(run_diff(where, base, exact=exact, fail_on=fail_on, format=format))
