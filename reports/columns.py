"""The columns in which lists of requirements show the same things."""

from __future__ import annotations

from duvet.queries.rows import RequirementRow
from duvet.reports.listing import Column


def section_reference(row: RequirementRow) -> str:
    """The section, as it can be asked for."""
    return f"{row.specification}#{row.section}"


def section_heading(row: RequirementRow) -> str:
    """What stands above the requirements of a section."""
    return f"{section_reference(row)}  {row.section_title}".rstrip()


ID = Column("id", lambda row: row.identifier)
LEVEL = Column("level", lambda row: row.level or "")
STATUS = Column("status", lambda row: row.status)
STATE = Column("state", lambda row: row.state)
SECTION = Column("section", section_reference, in_heading=True)
TEXT = Column("text", lambda row: row.text, wraps=True)
