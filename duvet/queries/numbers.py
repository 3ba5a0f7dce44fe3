"""How many requirements have got how far, taken from the one computation that counts them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from duvet.queries.details import LevelNumbers, Numbers
from duvet.queries.rows import level_name
from duvet.trace.states import Status
from duvet.trace.totals import Counted, Total, totals_of


def numbers(found: Iterable[Counted]) -> Numbers:
    """The numbers of all of these."""
    ##= man/spec/show.md#details
    ##% The numbers of a specification MUST be those of a report.
    *_, total = totals_of(found)
    return Numbers(**_fields(total))


def level_numbers(found: Iterable[Counted]) -> tuple[LevelNumbers, ...]:
    """The numbers of each level that occurs among these, the strongest first."""
    *levels, _ = totals_of(found)
    return tuple(
        LevelNumbers(level=level_name(total.level), **_fields(total)) for total in levels if total.level is not None
    )


def _fields(total: Total) -> dict[str, Any]:
    return {
        "requirements": total.requirements,
        "not_started": total.with_status(Status.NOT_STARTED),
        "in_progress": total.with_status(Status.IN_PROGRESS),
        "needs_tests": total.with_status(Status.NEEDS_TESTS),
        "done": total.done,
        "excepted": total.excepted,
        "not_applicable": total.not_applicable,
        "applicable": total.applicable,
        "percent": total.percent,
    }
