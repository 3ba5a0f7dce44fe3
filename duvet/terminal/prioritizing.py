"""One run of `duvet prioritize`: what to work on next, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duvet.errors import DuvetError
from duvet.queries.catalogue import Catalogue
from duvet.queries.filters import Filter, selected
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
    prompt: str | None,
    limit: int | None,
    format: str | None,
) -> None:
    """List the requirements that are most urgent, and say how many there are; or write a prompt about the first one."""
    catalogue = read_requirements(where)
    ranked = prioritized(catalogue, wanted, finished=finished)
    if prompt is not None:
        _prompt(prompt, catalogue, wanted, ranked, where)
        return
    rows = (explained_rows if explain else priority_rows)(catalogue, ranked, limit or None)
    more = _EXPLANATION if explain else ()
    shown = (_RANK, columns.ID, columns.LEVEL, columns.STATUS, columns.SECTION, _REASON, *more, columns.TEXT)
    pour_list(Listing(shown, rows), format)
    tell_errors(catalogue)
    if not settings().quiet:
        say(f"{len(rows)} of {plural(len(ranked), 'requirement')} listed, most urgent first\n")


def _prompt(name: str, catalogue: Catalogue, wanted: Filter, ranked: list[int], where: Mapping[str, Any]) -> None:
    """Write the prompt of that name about the most urgent requirement."""
    from duvet.prompts.library import ABOUT_A_REQUIREMENT, require_prompt
    from duvet.terminal.prompting import pour_prompt

    require_prompt(name, ABOUT_A_REQUIREMENT)
    if not ranked:
        raise _nothing(catalogue, wanted)
    ##= man/spec/queries.md#prompts
    ##% `duvet prioritize --prompt` MUST write a prompt about the most urgent requirement, and nothing else, to standard
    ##% output.
    pour_prompt(name, catalogue, ranked[0], where)
    tell_errors(catalogue)


def _nothing(catalogue: Catalogue, wanted: Filter) -> DuvetError:
    """Why there is no most urgent requirement."""
    if selected(catalogue, wanted):
        return DuvetError("nothing is left to do", hint="`duvet prioritize --all` ranks what is done, too")
    return DuvetError("no requirement is what the options ask for", hint="leave out some of them")
