"""One run of `duvet uncited`: a list of what is missing, and the gate on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from duvet.model import Problem
from duvet.queries.catalogue import Catalogue
from duvet.queries.filters import Filter
from duvet.queries.lacking import Lack, Lacking, at_least, lacking, todo_row
from duvet.queries.rows import requirement_row
from duvet.reports import columns
from duvet.reports.listing import Column, Listing
from duvet.terminal.catalogues import error_count, read_requirements, tell_errors
from duvet.terminal.exit_codes import FAILED, OK
from duvet.terminal.filters import GATES
from duvet.terminal.listings import pour_list
from duvet.terminal.settings import settings
from duvet.terminal.streams import say
from duvet.text import plural

_TODOS = Column("todos", lambda row: "; ".join(todo.words for todo in row.todos), wraps=True)


def run_uncited(
    where: Mapping[str, Any],
    wanted: Filter,
    lack: Lack | None,
    *,
    fail_on: str | None,
    limit: int | None,
    format: str | None,
) -> int:
    """List the requirements that lack it, and say how many there are; the exit code."""
    catalogue = read_requirements(where)
    found = lacking(catalogue, wanted, lack)
    pour_list(_listing(catalogue, found.indexes[: limit or None], lack), format)
    tell_errors(catalogue)
    _say_count(found, wanted, lack, limit)
    if fail_on is None:
        return OK
    breaking = at_least(catalogue, found.indexes, GATES[fail_on])
    ##= man/spec/queries.md#uncited
    ##% Where the environment variable `GITHUB_ACTIONS` is `true` and no format is asked for, each requirement that breaks
    ##% a gate on citations or tests MUST be written as a workflow command, too.
    if format is None:
        from duvet.terminal.problem_formats import annotate

        annotate(_offences(catalogue, breaking, lack))
    return _judged(catalogue, len(breaking), fail_on)


def _listing(catalogue: Catalogue, indexes: tuple[int, ...], lack: Lack | None) -> Listing:
    ##= man/spec/queries.md#uncited
    ##% `duvet uncited` MUST list requirements by specification and section.
    cards = [catalogue.requirements[index] for index in indexes]
    shown = (columns.ID, columns.LEVEL, columns.STATE, columns.SECTION)
    if lack is Lack.TODO:
        rows = [todo_row(catalogue, card) for card in cards]
        return Listing((*shown, _TODOS, columns.TEXT), rows, columns.section_heading)
    return Listing(
        (*shown, columns.TEXT), [requirement_row(catalogue, card) for card in cards], columns.section_heading
    )


def _say_count(found: Lacking, wanted: Filter, lack: Lack | None, limit: int | None) -> None:
    if settings().quiet:
        return
    ##= man/spec/queries.md#uncited
    ##% `duvet uncited` MUST say how many it has found, and among how many.
    statuses = " or ".join(status.words for status in wanted.statuses)
    words = [lack.value if lack else "", f"with the status {statuses}" if statuses else ""]
    count = len(found.indexes)
    notes = [f"{count} of {plural(found.among, 'requirement')} {' '.join(filter(None, words))}"]
    if found.not_applicable:
        notes.append(f"{found.not_applicable} not applicable")
    if limit and limit < count:
        notes.append(f"{limit} listed")
    say(f"{'; '.join(notes)}\n")


def _offences(catalogue: Catalogue, indexes: tuple[int, ...], lack: Lack | None) -> Iterator[Problem]:
    from duvet import rules
    from duvet.queries.offences import offence

    named = {
        Lack.CITATION: (rules.GATE_NOT_CITED, "nothing cites this requirement"),
        Lack.TEST: (rules.GATE_NOT_TESTED, "no test cites this requirement, or only a part of it"),
    }
    if lack not in named:
        return
    for index in indexes:
        yield offence(requirement_row(catalogue, catalogue.requirements[index]), *named[lack])


def _judged(catalogue: Catalogue, breaking: int, fail_on: str) -> int:
    """Whether the list may be as it is; the exit code."""
    ##= man/spec/queries.md#uncited
    ##% With `--fail-on`, `duvet uncited` MUST exit with 1 if a requirement of that level or a stronger one is on the
    ##% list, even if `--limit` cuts it off.
    if breaking:
        say(f"FAIL: {breaking} of them {'breaks' if breaking == 1 else 'break'} --fail-on {fail_on}\n")
        return FAILED
    ##= man/spec/queries.md#uncited
    ##% With `--fail-on`, `duvet uncited` MUST exit with 1 if the project has errors, for these may hide requirements.
    errors = error_count(catalogue)
    if errors:
        say(f"FAIL: --fail-on {fail_on} can't hold while the project has {plural(errors, 'error')}\n")
        return FAILED
    if not settings().quiet:
        say(f"PASS: none of them breaks --fail-on {fail_on}\n")
    return OK
