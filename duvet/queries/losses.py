"""What a gate on a difference objects to, as problems."""

from __future__ import annotations

from collections.abc import Iterator

from duvet import rules
from duvet.model import Place, Problem
from duvet.queries.difference import Difference
from duvet.queries.offences import offence


def regressions(difference: Difference) -> Iterator[Problem]:
    """The requirements that have lost coverage, and the citations that have gone stale."""
    for change in difference.coverage_lost:
        lost = f", and it has lost its {' and its '.join(change.lost)}" if change.lost else ""
        message = f"this requirement was {change.then.status} and is {change.now.status}{lost}"
        yield offence(change.now, rules.COVERAGE_LOST, message)
    for one in difference.citations_stale:
        message = f"this citation was right and is wrong: {one.message}"
        yield rules.CITATION_STALE.problem(message, one.file_path, Place(one.line_number))


def uncited(difference: Difference) -> Iterator[Problem]:
    """The new requirements that nothing cites."""
    for row in difference.uncited:
        yield offence(row, rules.REQUIREMENT_UNCITED, "this requirement is new, and nothing cites it")
