"""`duvet uncited`"""

from __future__ import annotations

from typing import Any

import click
from click.exceptions import Exit

from duvet import rules
from duvet.console import command, project, streams
from duvet.console.filters import add_filters, split_filter
from duvet.console.options import GATE_LEVELS, add_limit_option, add_list_format, add_trace_options
from duvet.console.problems import list_error_problems, print_annotations, print_gate_failure
from duvet.errors import DuvetError
from duvet.queries import records
from duvet.queries.gaps import Gap, RequirementGaps, find_gaps, make_todo_row
from duvet.reports import tables
from duvet.text import format_count
from duvet.trace.catalogue import Catalogue, RequirementCard

_TODOS = tables.Column("todos", lambda row: "; ".join(todo.words for todo in row.todos), wraps=True)
_PASSED = {
    "must": "no MUST requirement",
    "should": "no MUST or SHOULD requirement",
    "may": "no MUST, SHOULD or MAY requirement",
    "any": "no requirement",
}
_GATE_PROBLEMS = {
    Gap.CITATION: (rules.GATE_NOT_CITED, "no code or test cites this requirement"),
    Gap.TEST: (rules.GATE_NOT_TESTED, "no test cites all of this requirement"),
}


@click.command(cls=command.Subcommand)
@click.option("--untested", is_flag=True, help="Instead, list the requirements that need a test.")
@click.option(
    "--todo", is_flag=True, help="Instead, list each requirement with a `todo`, and the todo's feature and issue."
)
@add_filters
@click.option(
    "--fail-on",
    type=click.Choice(list(GATE_LEVELS), case_sensitive=False),
    help="Exit with 1 if the list contains a requirement of this level or a stronger one.",
)
@add_limit_option()
@add_list_format
@add_trace_options
def uncited(
    untested: bool, todo: bool, fail_on: str | None, limit: int | None, format: str | None, **options: Any
) -> None:
    """The list contains the requirements that nothing cites (`uncited`) and those that only a `todo` cites (`to do`).
    The count goes to standard error.

    --untested lists the requirements that no test cites, and those in the state `needs tests`. Requirements that are
    implied, or excepted with a reason, are left out. --todo lists the requirements with a `todo`, even if code or
    tests also cite them. Without these two options, --status lists all requirements in that state, cited or not, even
    those that are not applicable.

    --fail-on turns the command into a gate. The gate also fails if the project has errors, because the list may then be
    incomplete.

    \b
    Examples:
      duvet uncited
      duvet uncited --spec rfc9114 --level must
      duvet uncited --fail-on must
      duvet uncited --untested --format markdown
      duvet uncited --todo --format json
    """
    if untested and todo:
        raise click.UsageError("--untested and --todo can't be used together")
    filters, options = split_filter(options)
    gap = Gap.TEST if untested else Gap.TODO if todo else None if filters.states else Gap.CITATION
    if fail_on is not None:
        try:
            loaded = project.load_catalogue(options)
            problems = () if loaded.requirements else (*loaded.problems, *loaded.setup)
        except DuvetError as error:
            problems = list_error_problems(error)
        if print_gate_failure(problems, f"--fail-on {fail_on}", annotate=format is None):
            raise Exit(streams.FAILED)
    # The schema of awslabs duvet has no problem for a project without requirements.
    catalogue = records.require_requirements(project.load_catalogue(options))
    found = find_gaps(catalogue, filters, gap)
    make_row = make_todo_row if gap is Gap.TODO else records.make_requirement_row
    rows = [make_row(catalogue, catalogue.requirements[index]) for index in found.indexes[: limit or None]]
    columns = (*tables.REQUIREMENT_COLUMNS, *((_TODOS,) if gap is Gap.TODO else ()), tables.TEXT_COLUMN)
    streams.print_list(tables.Listing(columns, rows, tables.format_section_heading), format)
    streams.print_remark(records.describe_error_notice(catalogue))
    streams.print_remark(_describe_count(found, filters, gap, limit))
    if fail_on is not None:
        cards = [catalogue.requirements[index] for index in found.indexes]
        raise Exit(_apply_gate(catalogue, cards, gap, fail_on, annotate=format is None))


def _describe_count(
    found: RequirementGaps, filters: records.RequirementFilter, gap: Gap | None, limit: int | None
) -> str:
    states = " or ".join(f"`{state.words}`" for state in filters.states)
    words = [gap.value if gap else "", f"in the state {states}" if states else ""]
    count = len(found.indexes)
    noun = "requirement" if count == found.among == 1 else "requirements"
    notes = [f"{count:,} of {found.among:,} {noun} {', '.join(filter(None, words))}"]
    if found.not_applicable:
        notes.append(f"{found.not_applicable} not applicable")
    if limit and limit < count:
        notes.append(f"{limit} listed")
    return "; ".join(notes)


def _apply_gate(
    catalogue: Catalogue, cards: list[RequirementCard], gap: Gap | None, fail_on: str, *, annotate: bool
) -> int:
    ##= man/spec/queries.md#uncited
    ##% With `--fail-on LEVEL`, `duvet uncited` MUST exit with 1 if it finds a requirement of this or a stronger level,
    ##% or if the project has errors.
    failing = [card for card in cards if card.level >= GATE_LEVELS[fail_on]]
    if annotate and gap in _GATE_PROBLEMS:
        rows = (records.make_requirement_row(catalogue, card) for card in failing)
        print_annotations(records.make_gate_problem(row, *_GATE_PROBLEMS[gap]) for row in rows)
    if print_gate_failure(catalogue.setup, f"--fail-on {fail_on}", annotate=annotate):
        return streams.FAILED
    errors = len(records.list_errors(catalogue))
    if failing or errors:
        reason = f"not checked because of {format_count(errors, 'error')} in the project"
        reason = format_count(len(failing), "requirement") if failing else reason
        streams.print_notice(f"FAIL: --fail-on {fail_on}: {reason}\n")
        return streams.FAILED
    streams.print_remark(f"PASS: {_PASSED[fail_on]} in the list")
    return streams.OK
