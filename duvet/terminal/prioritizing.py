"""One run of `duvet prioritize`: what to work on next, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duvet.queries.filters import Filter
from duvet.queries.priority import prioritized
from duvet.queries.reasons import explained_rows, priority_rows
from duvet.reports import columns
from duvet.reports.listing import Column, Listing
from duvet.terminal.catalogues import read_requirements, tell_errors
from duvet.terminal.listings import pour_list
from duvet.terminal.settings import settings
from duvet.terminal.streams import say
from duvet.text import plural

_RANK = Column("rank", lambda row: str(row.rank))
_REASON = Column("reason", lambda row: row.reason, wraps=True)
_EXPLANATION = (
    Column("key", lambda row: row.key, wraps=True),
    Column("before the next", lambda row: row.before_next, wraps=True),
)


def run_prioritize(
    where: Mapping[str, Any],
    wanted: Filter,
    *,
    finished: bool,
    explain: bool,
    limit: int | None,
    format: str | None,
) -> None:
    """List the requirements that are most urgent, and say how many there are."""
    catalogue = read_requirements(where)
    ranked = prioritized(catalogue, wanted, finished=finished)
    rows = (explained_rows if explain else priority_rows)(catalogue, ranked, limit or None)
    more = _EXPLANATION if explain else ()
    shown = (_RANK, columns.ID, columns.LEVEL, columns.STATUS, columns.SECTION, _REASON, *more, columns.TEXT)
    pour_list(Listing(shown, rows), format)
    tell_errors(catalogue)
    if not settings().quiet:
        say(f"{len(rows)} of {plural(len(ranked), 'requirement')} listed, most urgent first\n")
