"""Everything that a report may show, computed before any report is written."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from duvet.model import Problem
from duvet.trace.records import Trace
from duvet.trace.requirements import Requirement
from duvet.trace.states import NotApplicable


class Settled(Struct, frozen=True):
    """The requirements, some of which may not be applicable; the entries that say so, and what is wrong with them."""

    requirements: tuple[Requirement, ...]
    entries: tuple[NotApplicable, ...] = ()
    problems: tuple[Problem, ...] = ()
    freed: Mapping[int, int] = {}
    """By the index of a requirement that is not applicable: that of the entry that says so."""

    @property
    def excuses(self) -> dict[int, NotApplicable]:
        """The entry of each requirement that is not applicable."""
        return {requirement: self.entries[entry] for requirement, entry in self.freed.items()}


class Finished(Struct, frozen=True):
    """A trace with its requirements and what links them to the web."""

    trace: Trace
    requirements: tuple[Requirement, ...]
    root: str = ""
    """The folder that displayed paths are relative to."""
    blob_link: str | None = None
    issue_link: str | None = None
    not_applicable: tuple[NotApplicable, ...] = ()
