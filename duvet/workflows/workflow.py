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
    """What a workflow is told. Without a default it has to be."""

    kind: Kind | None = Kind.STRING
    """None is any."""
    description: str = ""
    default: Any = UNSET


class Check(Struct, frozen=True, kw_only=True):
    """Something that has to hold of a result; what is not set is not asked for."""

    path: str
    equals: Any = UNSET
    not_equals: Any = UNSET
    exists: bool | UnsetType = UNSET


class Capture(Struct, frozen=True):
    """Something to keep of a result."""

    name: str
    path: str


class Step(Struct, frozen=True, kw_only=True):
    """What all steps have."""

    id: str
    description: str = ""
    params: Mapping[str, Any] = {}
    expect: Mapping[str, Any] = {}
    """By path, what has to stand in the result."""
    asserts: Sequence[Check] = ()
    capture: Sequence[Capture] = ()
    time_limit: float | None = None
    """Seconds after which it has failed."""


class ToolStep(Step, frozen=True, kw_only=True):
    """A tool to call."""

    tool: str


class ModelStep(Step, frozen=True, kw_only=True):
    """A model to ask; of its parameters it knows `maxTokens` and `temperature`."""

    model: str
    prompt: str
    system: str | None = None


class WaitStep(Step, frozen=True, kw_only=True):
    """A tool to call until its result is as wanted; its time limit is how long that may take."""

    tool: str
    until: Check
    interval: float
    """Seconds from the end of a call to the next."""


class Workflow(Struct, frozen=True, kw_only=True):
    """Steps, one after another."""

    name: str
    description: str
    steps: Sequence[Step]
    variables: Mapping[str, Variable] = {}
    outputs: Mapping[str, Any] = {}
    time_limit: float = 600.0
    """Seconds after which it has failed."""


WORKFLOW_PREFIX, WORKFLOW_ALIAS_PREFIX = "workflow.", "workflow_"
RECIPE_TOOL, RECIPE_ARGUMENT = "km-recipe-run", "recipe"
"""The tool that runs recipes, and what it is told of which one by."""
_RECIPE = "recipe "


def tool_name(workflow: str) -> str:
    """The name of the tool that the workflow is."""
    return WORKFLOW_PREFIX + workflow


def tool_alias(workflow: str) -> str:
    """Its name for clients that refuse dots."""
    return WORKFLOW_ALIAS_PREFIX + workflow


def find_called_workflow(tool: str) -> str:
    """The workflow that a tool of this name is; empty where it can't be one."""
    for prefix in (WORKFLOW_PREFIX, WORKFLOW_ALIAS_PREFIX):
        if tool.startswith(prefix):
            return tool.removeprefix(prefix)
    return ""


def recipe_workflow(recipe: str) -> str:
    """What a recipe is called among workflows: none of the configuration can be called so."""
    return _RECIPE + recipe


def recipe_name(workflow: str) -> str:
    """The name of the recipe that such a workflow is."""
    return workflow.removeprefix(_RECIPE)


class FailureCode(StrEnum):
    """Why a workflow has failed."""

    INVALID_REQUEST = "invalid_request"
    """What it was told, or what it says itself, can't be used."""
    TOOL_FAILED = "tool_failed"
    MODEL_FAILED = "model_failed"
    ASSERT_FAILED = "assert_failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


class WorkflowFailure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a workflow has failed, and where."""

    code: FailureCode
    message: str
    hint: str = ""
    step: str = ""
    """The id of the step; empty where it was none of them."""
    cause: str = ""
    """The code that the tool or the model gave."""


class StepRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of a step."""

    id: str
    status: Literal["success", "error", "skipped"]
    duration_seconds: float = 0.0
    message: str = ""
    result: Any = None


class WorkflowRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of a workflow."""

    workflow: str
    status: Literal["success", "error"]
    outputs: Mapping[str, Any]
    steps: Sequence[StepRun]
    started_at: datetime
    finished_at: datetime
    duration_seconds: float
    error: WorkflowFailure | None = None
    warnings: Sequence[str] = ()
