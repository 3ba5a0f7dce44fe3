"""The project with a requirement in each state, some of which are not owed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from duvet.trace.records import Finished
from tests.unit.reports.made import project
from tests.unit.reports.made_states import CONFIG, FILES

TODAY = date(2030, 1, 31)
EXTENDED = CONFIG.replace("https://awslabs.github.io/duvet/config/v0.4.0.json", "duvet-cli/config/v1")
ENTRIES = """\

[[not-applicable]]
target = "tea.md#cup"
reason = "We drink from <pots>,\\nand always did"
owner = "the & kitchen"
expiry = 2030-01-31

[[not-applicable]]
target = "tea.md#pot"
quote = "It MAY\\nbe <b>brown</b>."
reason = "We have no brown"
"""


def with_entries(entries: str) -> dict[str, str]:
    """The files of the project with these entries."""
    return FILES | {".duvet/config.toml": EXTENDED + entries}


NOT_OWED = with_entries(ENTRIES)


def not_owed(files: Mapping[str, str] = NOT_OWED, today: date = TODAY) -> Finished:
    """All that can be reported of it on that day."""
    return project(files, today).finished()
