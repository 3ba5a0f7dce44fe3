"""What `validate_citation` says of a citation"""

from __future__ import annotations

from duvet.tools.context import ProjectSnapshot
from tests.cli.made_tea import TEA_PROJECT
from tests.unit.tools.made import context_of, value

TEA = context_of(TEA_PROJECT)
VALID = {"valid": True}
MISSING = 'could not find text in section "pot" of tea.md'


def verdict(citation: str, context: ProjectSnapshot = TEA) -> object:
    return value(context, "validate_citation", citation=citation)


def invalid(error: str, **more: str) -> object:
    return {"valid": False, "error": error, **more}
