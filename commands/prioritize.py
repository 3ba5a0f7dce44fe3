"""`duvet prioritize`"""

from __future__ import annotations

from typing import Any

import click

from duvet.console import command, project, streams
from duvet.console.filters import add_filters, split_filter
from duvet.console.options import add_limit_option, add_list_format, add_trace_options
from duvet.queries.gaps import make_explained_rows, make_priority_rows, prioritize_requirements
from duvet.queries.records import describe_error_notice, require_requirements
from duvet.reports import tables
from duvet.text import format_count

_RANK = tables.Column("rank", lambda row: str(row.rank))
_EXPLANATION = (
    tables.Column("reason", lambda row: row.reason, wraps=True),
    tables.Column("why it precedes the next", lambda row: row.before_next, wraps=True),
)


@click.command(cls=command.Subcommand)
@click.option("--explain", is_flag=True, help="Explain the rank of each requirement.")
@click.option("--all", "finished", is_flag=True, help="Include requirements that are done, excepted or not applicable.")
@click.option(
    "--prompt",
    is_flag=False,
    flag_value="implement_requirement",
    metavar="[NAME]",
    shell_complete=command.complete_values("requirement_prompts"),
    help="Print the prompt implement_requirement [default] or write_test for the most urgent requirement.",
)
@add_filters
@add_limit_option(20)
@add_list_format
@add_trace_options
def prioritize(
    finished: bool, explain: bool, prompt: str | None, limit: int | None, format: str | None, **options: Any
) -> None:
    """duvet ranks requirements by level (MUST, SHOULD, MAY, none), then by progress (started, not started, done), then
    by the number of todos, then by their order in the specifications. Requirements in the states `to do` and `uncited`
    count as not started.

    Requirements that are done, excepted or not applicable are left out, unless --all or --status includes them.

    --prompt prints instructions for an agent: the requirement, its citations, the comment to paste, and how to check
    the work. With --prompt, duvet exits with 1 if nothing is left to do.

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
        raise click.UsageError("--prompt can't be used with --explain or --format")
    filters, options = split_filter(options)
    catalogue = require_requirements(project.load_catalogue(options))
    ranked = prioritize_requirements(catalogue, filters, finished=finished)
    if prompt is None:
        rows = (make_explained_rows if explain else make_priority_rows)(catalogue, ranked, limit or None)
        columns = (_RANK, *tables.REQUIREMENT_COLUMNS, *(_EXPLANATION if explain else ()), tables.TEXT_COLUMN)
        streams.print_list(tables.Listing(columns, rows), format)
    else:
        # Not needed for a list.
        from duvet.commands.prompt import print_requirement_prompt

        print_requirement_prompt(prompt, catalogue, filters, ranked, options)
    streams.print_remark(describe_error_notice(catalogue))
    if prompt is None:
        streams.print_remark(f"{len(rows)} of {format_count(len(ranked), 'requirement')} listed, most urgent first")
