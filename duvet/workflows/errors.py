"""How a workflow says that it can't go on."""

from __future__ import annotations

from duvet.errors import DuvetError
from duvet.runs import FailureCode


class UnresolvedError(DuvetError):
    """A reference that leads nowhere, or a value that can't be used."""


class WorkflowError(DuvetError):
    """A step has failed, and its workflow with it."""

    def __init__(self, code: FailureCode, message: str, *, hint: str = "", cause: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.cause = cause
