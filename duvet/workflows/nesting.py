"""Workflows in workflows: how deep, and never in themselves."""

from __future__ import annotations

from collections.abc import Sequence

from duvet.runs import FailureCode
from duvet.workflows.errors import WorkflowError

DEEPEST = 5


def check_callers(name: str, callers: Sequence[str]) -> None:
    """WorkflowError where the workflow must not be called by those, the outermost first."""
    ##= man/spec/workflows.md#bounds
    ##% A workflow that calls itself, be it through others, or that stands more than five deep in others, MUST be
    ##% refused.
    fault = fault_of(name, callers)
    if fault:
        raise WorkflowError(FailureCode.INVALID_REQUEST, fault)


def fault_of(name: str, callers: Sequence[str]) -> str:
    """Why the workflow must not be called by those; nothing where it may."""
    way = " > ".join((*callers, name))
    if name in callers:
        return f"{name} calls itself: {way}"
    deep = len(callers) + 1
    return f"workflows stand in each other {deep} deep, {DEEPEST} is the most: {way}" if deep > DEEPEST else ""
