"""`duvet uncited`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.filters import (
    GATES,
    level_option,
    section_option,
    spec_option,
    status_option,
    without_filter,
)
from duvet.terminal.listings import limit, list_format
from duvet.terminal.options import trace_options


@click.command(cls=Subcommand)
@click.option("--untested", is_flag=True, help="List what lacks a test instead.")
@click.option("--todo", is_flag=True, help="List what a todo refers to instead, with its features and issues.")
@status_option
@level_option
@spec_option
@section_option
@click.option(
    "--fail-on",
    type=click.Choice(list(GATES), case_sensitive=False),
    help="Exit with 1 if anything of this level or a stronger one is on the list; `any` is all of it.",
)
@limit()
@list_format
@trace_options
@click.pass_context
def uncited(
    ctx: click.Context,
    /,
    untested: bool,
    todo: bool,
    fail_on: str | None,
    limit: int | None,
    format: str | None,
    **options: Any,
) -> None:
    """A requirement is cited once any annotation but a todo refers to a part of it. With --untested, those are listed
    that need tests, and those that are not done and that no test refers to; what is implied or excepted with a reason
    needs none. With --todo, those are listed that a todo refers to, whatever else does. With --status alone, those are
    listed that have this status, cited or not. What the configuration calls not applicable is never listed.

    How many there are is said on standard error.

    With --fail-on it is a gate: it lists the same, and exits with 1 if anything of that level or a stronger one is on
    the list, or if the project has errors, for then requirements may be missing from it.

    \b
    Examples:
      duvet uncited
      duvet uncited --spec rfc9114 --level must
      duvet uncited --fail-on must
      duvet uncited --untested --format markdown
      duvet uncited --todo --format json
    """
    from duvet.queries.lacking import Lack
    from duvet.terminal.uncited import run_uncited

    if untested and todo:
        raise click.UsageError("--untested and --todo can't be used together", ctx)
    filter, where = without_filter(options)
    lack = Lack.TEST if untested else Lack.TODO if todo else None if filter.statuses else Lack.CITATION
    ctx.exit(run_uncited(where, filter, lack, fail_on=fail_on, limit=limit, format=format))
