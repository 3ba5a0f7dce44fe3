"""Everything that a report may show, computed before any report is written."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from msgspec import Struct

from duvet.model import Problem
from duvet.trace.records import Trace
from duvet.trace.requirements import Requirement


class NotApplicable(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Requirements that are not owed, as an entry of the configuration says."""

    target: str
    """A specification, or a section of one."""
    quote: str = ""
    """The one requirement of the section that is meant."""
    reason: str
    owner: str = ""
    expiry: date | None = None
    """The last day on which that holds."""
    has_expired: bool = False
    """Whether that day is over, so that the requirements are owed."""
    requirements: int
    """How many are meant."""


class Settled(NamedTuple):
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
