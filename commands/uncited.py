"""`duvet uncited`"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from duvet import rules
from duvet.console.command import Subcommand
from duvet.console.lists import add_limit_option, add_list_format, print_list
from duvet.console.options import (
    GATE_LEVELS,
    add_level_option,
    add_section_option,
    add_spec_option,
    add_status_option,
    add_trace_options,
    count_errors,
    print_error_notice,
    require_catalogue,
    split_filter,
)
from duvet.console.settings import current_settings
from duvet.console.streams import FAILED, OK, print_notice
from duvet.model import Problem
from duvet.queries.gaps import Gap, RequirementFilter, RequirementGaps, find_gaps, make_todo_row, select_at_least_level
from duvet.queries.records import make_requirement_row
from duvet.reports import tables
from duvet.reports.tables import Column, Listing
from duvet.text import format_count
from duvet.trace.catalogue import Catalogue


@click.command(cls=Subcommand)
@click.option("--untested", is_flag=True, help="List what lacks a test instead.")
@click.option("--todo", is_flag=True, help="List what a todo refers to instead, with its features and issues.")
@add_status_option
@add_level_option
@add_spec_option
@add_section_option
@click.option(
    "--fail-on",
    type=click.Choice(list(GATE_LEVELS), case_sensitive=False),
    help="Exit with 1 if anything of this level or a stronger one is on the list; `any` is all of it.",
)
@add_limit_option()
@add_list_format
@add_trace_options
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
    if untested and todo:
        raise click.UsageError("--untested and --todo can't be used together", ctx)
    filter, where = split_filter(options)
    lack = Gap.TEST if untested else Gap.TODO if todo else None if filter.statuses else Gap.CITATION
    ctx.exit(run_uncited(where, filter, lack, fail_on=fail_on, limit=limit, format=format))


_TODOS = Column("todos", lambda row: "; ".join(todo.words for todo in row.todos), wraps=True)


def run_uncited(
    where: Mapping[str, Any],
    wanted: RequirementFilter,
    lack: Gap | None,
    *,
    fail_on: str | None,
    limit: int | None,
    format: str | None,
) -> int:
    """List the requirements that lack it, and say how many there are; the exit code."""
    catalogue = require_catalogue(where)
    found = find_gaps(catalogue, wanted, lack)
    print_list(_listing(catalogue, found.indexes[: limit or None], lack), format)
    print_error_notice(catalogue)
    _say_count(found, wanted, lack, limit)
    if fail_on is None:
        return OK
    breaking = select_at_least_level(catalogue, found.indexes, GATE_LEVELS[fail_on])
    if format is None:
        from duvet.console.problems import print_annotations

        print_annotations(_offences(catalogue, breaking, lack))
    return _judged(catalogue, len(breaking), fail_on)


def _listing(catalogue: Catalogue, indexes: tuple[int, ...], lack: Gap | None) -> Listing:
    ##= man/spec/queries.md#uncited
    ##% `duvet uncited` MUST list requirements by specification and section, with their number, the total, and how many
    ##% are not applicable.
    cards = [catalogue.requirements[index] for index in indexes]
    shown = (tables.ID_COLUMN, tables.LEVEL_COLUMN, tables.STATE_COLUMN, tables.SECTION_COLUMN)
    if lack is Gap.TODO:
        rows = [make_todo_row(catalogue, card) for card in cards]
        return Listing((*shown, _TODOS, tables.TEXT_COLUMN), rows, tables.format_section_heading)
    return Listing(
        (*shown, tables.TEXT_COLUMN),
        [make_requirement_row(catalogue, card) for card in cards],
        tables.format_section_heading,
    )


def _say_count(found: RequirementGaps, wanted: RequirementFilter, lack: Gap | None, limit: int | None) -> None:
    if current_settings().quiet:
        return
    statuses = " or ".join(status.words for status in wanted.statuses)
    words = [lack.value if lack else "", f"with the status {statuses}" if statuses else ""]
    count = len(found.indexes)
    notes = [f"{count} of {format_count(found.among, 'requirement')} {' '.join(filter(None, words))}"]
    if found.not_applicable:
        notes.append(f"{found.not_applicable} not applicable")
    if limit and limit < count:
        notes.append(f"{limit} listed")
    print_notice(f"{'; '.join(notes)}\n")


def _offences(catalogue: Catalogue, indexes: tuple[int, ...], lack: Gap | None) -> Iterator[Problem]:
    from duvet.queries.difference import make_gate_problem

    named = {
        Gap.CITATION: (rules.GATE_NOT_CITED, "nothing cites this requirement"),
        Gap.TEST: (rules.GATE_NOT_TESTED, "no test cites this requirement, or only a part of it"),
    }
    if lack not in named:
        return
    for index in indexes:
        yield make_gate_problem(make_requirement_row(catalogue, catalogue.requirements[index]), *named[lack])


def _judged(catalogue: Catalogue, breaking: int, fail_on: str) -> int:
    """Whether the list may be as it is; the exit code."""
    ##= man/spec/queries.md#uncited
    ##% With `--fail-on`, `duvet uncited` MUST exit with 1 if it finds a requirement of that level or a stronger one,
    ##% even beyond `--limit`, or if the project has errors.
    if breaking:
        print_notice(f"FAIL: {breaking} of them {'breaks' if breaking == 1 else 'break'} --fail-on {fail_on}\n")
        return FAILED
    errors = count_errors(catalogue)
    if errors:
        print_notice(f"FAIL: --fail-on {fail_on} can't hold while the project has {format_count(errors, 'error')}\n")
        return FAILED
    if not current_settings().quiet:
        print_notice(f"PASS: none of them breaks --fail-on {fail_on}\n")
    return OK
