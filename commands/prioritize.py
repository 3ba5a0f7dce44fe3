"""`duvet prioritize`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_requirement_prompts
from duvet.console.lists import add_limit_option, add_list_format, print_list
from duvet.console.options import (
    add_level_option,
    add_section_option,
    add_spec_option,
    add_status_option,
    add_trace_options,
    print_error_notice,
    require_catalogue,
    split_filter,
)
from duvet.console.settings import current_settings
from duvet.console.streams import print_notice
from duvet.errors import DuvetError
from duvet.queries.gaps import RequirementFilter, select_requirements
from duvet.queries.priority import make_explained_rows, make_priority_rows, prioritize_requirements
from duvet.reports import tables
from duvet.reports.tables import Column, Listing
from duvet.text import format_count
from duvet.trace.catalogue import Catalogue


@click.command(cls=Subcommand)
@click.option("--explain", is_flag=True, help="Show all that decides about each rank, and why the next one is next.")
@click.option("--all", "finished", is_flag=True, help="Rank what is done, too.")
@click.option(
    "--prompt",
    is_flag=False,
    flag_value="implement_requirement",
    metavar="[NAME]",
    shell_complete=complete_requirement_prompts,
    help="Write a prompt for an agent about the most urgent one instead: implement_requirement, or write_test.",
)
@add_status_option
@add_level_option
@add_spec_option
@add_section_option
@add_limit_option(20)
@add_list_format
@add_trace_options
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
    if prompt is not None and (explain or format):
        raise click.UsageError("--prompt is no list: it takes neither --explain nor --format", ctx)
    filter, where = split_filter(options)
    run_prioritize(where, filter, finished=finished, explain=explain, prompt=prompt, limit=limit, format=format)


_RANK = Column("rank", lambda row: str(row.rank))
_REASON = Column("reason", lambda row: row.reason, wraps=True)
_EXPLANATION = (
    Column("key", lambda row: row.key, wraps=True),
    Column("before the next", lambda row: row.before_next, wraps=True),
)


def run_prioritize(
    where: Mapping[str, Any],
    wanted: RequirementFilter,
    *,
    finished: bool,
    explain: bool,
    prompt: str | None,
    limit: int | None,
    format: str | None,
) -> None:
    """List the requirements that are most urgent, and say how many there are; or write a prompt about the first one."""
    catalogue = require_catalogue(where)
    ranked = prioritize_requirements(catalogue, wanted, finished=finished)
    if prompt is not None:
        _prompt(prompt, catalogue, wanted, ranked, where)
        return
    rows = (make_explained_rows if explain else make_priority_rows)(catalogue, ranked, limit or None)
    more = _EXPLANATION if explain else ()
    shown = (
        _RANK,
        tables.ID_COLUMN,
        tables.LEVEL_COLUMN,
        tables.STATUS_COLUMN,
        tables.SECTION_COLUMN,
        _REASON,
        *more,
        tables.TEXT_COLUMN,
    )
    print_list(Listing(shown, rows), format)
    print_error_notice(catalogue)
    if not current_settings().quiet:
        print_notice(f"{len(rows)} of {format_count(len(ranked), 'requirement')} listed, most urgent first\n")


def _prompt(
    name: str, catalogue: Catalogue, wanted: RequirementFilter, ranked: list[int], where: Mapping[str, Any]
) -> None:
    """Write the prompt of that name about the most urgent requirement."""
    from duvet.commands.prompt import print_requirement_prompt
    from duvet.prompts.library import REQUIREMENT_PROMPTS, require_prompt

    require_prompt(name, REQUIREMENT_PROMPTS)
    if not ranked:
        raise _nothing(catalogue, wanted)
    ##= man/spec/queries.md#priorities
    ##% With `--prompt`, `duvet prioritize` MUST print a prompt about the most urgent requirement, and nothing else.
    print_requirement_prompt(name, catalogue, ranked[0], where)
    print_error_notice(catalogue)


def _nothing(catalogue: Catalogue, wanted: RequirementFilter) -> DuvetError:
    """Why there is no most urgent requirement."""
    if select_requirements(catalogue, wanted):
        return DuvetError("nothing is left to do", hint="`duvet prioritize --all` ranks what is done, too")
    return DuvetError("no requirement is what the options ask for", hint="leave out some of them")
