"""The records of a workflow and of its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from duvet.config.workflow_tables import VariableType as Kind

MAX_STEPS = 100


class Variable(Struct, frozen=True):
    """An argument of a workflow; required without a default."""

    kind: Kind | None = Kind.STRING
    """None allows any type."""
    description: str = ""
    default: Any = UNSET


class Check(Struct, frozen=True, kw_only=True):
    """A condition on a result, of the parts that are set."""

    path: str
    equals: Any = UNSET
    not_equals: Any = UNSET
    exists: bool | UnsetType = UNSET


class Capture(Struct, frozen=True):
    """A part of a result to keep under a name."""

    name: str
    path: str


class Step(Struct, frozen=True, kw_only=True):
    """The common part of all steps."""

    id: str
    description: str = ""
    params: Mapping[str, Any] = {}
    expect: Mapping[str, Any] = {}
    """Expected values by path."""
    asserts: Sequence[Check] = ()
    capture: Sequence[Capture] = ()
    time_limit: float | None = None
    """Seconds after which the step fails."""


class ToolStep(Step, frozen=True, kw_only=True):
    tool: str


class ModelStep(Step, frozen=True, kw_only=True):
    """Asks a model; its parameters are `maxTokens` and `temperature`."""

    model: str
    prompt: str
    system: str | None = None


class WaitStep(Step, frozen=True, kw_only=True):
    """Calls a tool until its result meets a condition; the time limit is that of all calls."""

    tool: str
    until: Check
    interval: float
    """Seconds from the end of a call to the next."""


class Workflow(Struct, frozen=True, kw_only=True):
    name: str
    description: str
    steps: Sequence[Step]
    variables: Mapping[str, Variable] = {}
    outputs: Mapping[str, Any] = {}
    time_limit: float = 600.0
    """Seconds after which the workflow fails."""


WORKFLOW_PREFIX, WORKFLOW_ALIAS_PREFIX = "workflow.", "workflow_"
RECIPE_TOOL, RECIPE_ARGUMENT = "km-recipe-run", "recipe"
"""The tool that runs recipes, and its argument for the name."""
_RECIPE = "recipe "


def tool_name(workflow: str) -> str:
    return WORKFLOW_PREFIX + workflow


def tool_alias(workflow: str) -> str:
    """Return the tool's name for clients that refuse dots."""
    return WORKFLOW_ALIAS_PREFIX + workflow


def find_called_workflow(tool: str) -> str:
    """Return the name of the workflow behind a tool; empty for other tools."""
    for prefix in (WORKFLOW_PREFIX, WORKFLOW_ALIAS_PREFIX):
        if tool.startswith(prefix):
            return tool.removeprefix(prefix)
    return ""


def recipe_workflow(recipe: str) -> str:
    """Return the recipe's name among workflows, which no workflow of the configuration can have."""
    return _RECIPE + recipe


def recipe_name(workflow: str) -> str:
    """Return the name of the recipe behind such a workflow."""
    return workflow.removeprefix(_RECIPE)


class FailureCode(StrEnum):
    INVALID_REQUEST = "invalid_request"
    """The arguments or the workflow itself are wrong."""
    TOOL_FAILED = "tool_failed"
    MODEL_FAILED = "model_failed"
    ASSERT_FAILED = "assert_failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


class WorkflowFailure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    code: FailureCode
    message: str
    hint: str = ""
    step: str = ""
    """The id of the failed step, if any."""
    cause: str = ""
    """The code of the tool's or the model's own failure."""

    def describe(self, name: str) -> str:
        """Return the message about the workflow or recipe of that name."""
        where = f" in the step {self.step}" if self.step else ""
        return f"{name} failed{where}: {self.message}"


class StepRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    status: Literal["success", "error", "skipped"]
    duration_seconds: float = 0.0
    message: str = ""
    result: Any = None


class WorkflowRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    workflow: str
    status: Literal["success", "error"]
    outputs: Mapping[str, Any]
    steps: Sequence[StepRun]
    started_at: datetime
    finished_at: datetime
    duration_seconds: float
    error: WorkflowFailure | None = None
    warnings: Sequence[str] = ()
