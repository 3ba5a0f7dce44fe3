"""What a gate objects to."""

from __future__ import annotations

from duvet.model import Place, Problem
from duvet.queries.rows import RequirementRow
from duvet.rules import Rule
from duvet.text import shortened


def offence(row: RequirementRow, rule: Rule, message: str) -> Problem:
    """The problem that a gate has with a requirement."""
    return rule.problem(message, row.file_path, Place(row.line_number), hint=f"{row.target}: {shortened(row.text)}")
