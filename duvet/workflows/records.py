"""A workflow, however it was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from duvet.config.service.workflows import VariableType as Kind

MOST_STEPS = 100


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
