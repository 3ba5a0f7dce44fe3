"""Everything that a report may show, computed before any report is written."""

from __future__ import annotations

from msgspec import Struct

from duvet.trace.records import Trace
from duvet.trace.requirements import Requirement


class Finished(Struct, frozen=True):
    """A trace with its requirements and what links them to the web."""

    trace: Trace
    requirements: tuple[Requirement, ...]
    root: str = ""
    """The folder that displayed paths are relative to."""
    blob_link: str | None = None
    issue_link: str | None = None
