"""`duvet prioritize`"""

from __future__ import annotations

from typing import Any

import click

from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_requirement_prompts
from duvet.console.filters import add_filters, split_filter
from duvet.console.options import add_trace_options
from duvet.console.output import add_limit_option, add_list_format, print_list
from duvet.console.project import print_error_notice, require_catalogue
from duvet.console.streams import print_remark
from duvet.errors import DuvetError
from duvet.queries.gaps import RequirementFilter, select_requirements
from duvet.queries.priority import make_explained_rows, make_priority_rows, prioritize_requirements
from duvet.reports.tables import ID_COLUMN, LEVEL_COLUMN, SECTION_COLUMN, STATUS_COLUMN, TEXT_COLUMN, Column, Listing
from duvet.text import format_count
from duvet.trace.catalogue import Catalogue

_RANK = Column("rank", lambda row: str(row.rank))
_REASON = Column("reason", lambda row: row.reason, wraps=True)
_EXPLANATION = (
    Column("key", lambda row: row.key, wraps=True),
    Column("before the next", lambda row: row.before_next, wraps=True),
)


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
@add_filters
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
    filters, options = split_filter(options)
    catalogue = require_catalogue(options)
    ranked = prioritize_requirements(catalogue, filters, finished=finished)
    if prompt is None:
        rows = (make_explained_rows if explain else make_priority_rows)(catalogue, ranked, limit or None)
        more = _EXPLANATION if explain else ()
        columns = (_RANK, ID_COLUMN, LEVEL_COLUMN, STATUS_COLUMN, SECTION_COLUMN, _REASON, *more, TEXT_COLUMN)
        print_list(Listing(columns, rows), format)
    else:
        _print_prompt(prompt, catalogue, filters, ranked, options)
    print_error_notice(catalogue)
    if prompt is None:
        print_remark(f"{len(rows)} of {format_count(len(ranked), 'requirement')} listed, most urgent first")


def _print_prompt(
    name: str, catalogue: Catalogue, filters: RequirementFilter, ranked: list[int], options: dict[str, Any]
) -> None:
    """Print the prompt about the most urgent requirement; raise DuvetError if there is none."""
    from duvet.commands.prompt import print_requirement_prompt
    from duvet.prompts.library import REQUIREMENT_PROMPTS, require_prompt

    require_prompt(name, REQUIREMENT_PROMPTS)
    if not ranked:
        if select_requirements(catalogue, filters):
            raise DuvetError("nothing is left to do", hint="`duvet prioritize --all` ranks what is done, too")
        raise DuvetError("no requirement is what the options ask for", hint="leave out some of them")
    ##= man/spec/queries.md#priorities
    ##% With `--prompt`, `duvet prioritize` MUST print a prompt about the most urgent requirement, and nothing else.
    print_requirement_prompt(name, catalogue, ranked[0], options)
