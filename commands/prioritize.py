"""`duvet prioritize`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.filters import level_option, section_option, spec_option, status_option, without_filter
from duvet.terminal.known_names import requirement_prompts
from duvet.terminal.listings import limit, list_format
from duvet.terminal.options import trace_options


@click.command(cls=Subcommand)
@click.option("--explain", is_flag=True, help="Show all that decides about each rank, and why the next one is next.")
@click.option("--all", "finished", is_flag=True, help="Rank what is done, too.")
@click.option(
    "--prompt",
    is_flag=False,
    flag_value="implement_requirement",
    metavar="[NAME]",
    shell_complete=requirement_prompts,
    help="Write a prompt for an agent about the most urgent one instead: implement_requirement, or write_test.",
)
@status_option
@level_option
@spec_option
@section_option
@limit(20)
@list_format
@trace_options
@click.pass_context
def prioritize(
    ctx: click.Context,
    /,
    finished: bool,
    explain: bool,
    prompt: str | None,
    limit: int | None,
    format: str | None,
    **options: Any,
) -> None:
    """Requirements are ranked by level: MUST, SHOULD, MAY, then those without one. Within a level, what is partially
    implemented comes first, then what is not started, then what is done. Among these, what more todos refer to comes
    first. What is alike in all of this is in the order of the specifications.

    What is done, excepted with a reason or not applicable is left out, unless --all or `--status done` asks for it.

    With --prompt it writes a text about the most urgent one that tells an agent what to do: what the requirement says,
    what refers to it, the comment to paste, and how to check the work. It exits with 1 if nothing is left to do.

    \b
    Examples:
      duvet prioritize
      duvet prioritize --limit 5 --explain
      duvet prioritize --spec rfc9114 --status needs-tests
      duvet prioritize --level must --format json
      duvet prioritize --prompt
      duvet prioritize --status needs-tests --prompt write_test
    """
    from duvet.terminal.prioritizing import run_prioritize

    if prompt is not None and (explain or format):
        raise click.UsageError("--prompt is no list: it takes neither --explain nor --format", ctx)
    filter, where = without_filter(options)
    run_prioritize(where, filter, finished=finished, explain=explain, prompt=prompt, limit=limit, format=format)
