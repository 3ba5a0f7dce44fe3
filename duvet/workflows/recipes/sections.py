"""The tables of a recipe; what has to hold of several of their values stands in `refusing`."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field

from duvet.config.schema import Words
from duvet.config.service.section import Name, Seconds
from duvet.config.service.workflows import CaptureSection

VERSION = 1


class RecipeTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file, with its keys as they are written there."""


class CheckTable(RecipeTable, frozen=True, kw_only=True):
    """Something that has to hold of a result: everything of it that is given."""

    path: Words
    equals: Any = UNSET
    not_equals: Any = UNSET
    exists: bool | UnsetType = UNSET


class WaitTable(RecipeTable, frozen=True, kw_only=True):
    """A tool to be called until its result is as wanted."""

    tool: Words
    params: dict[str, Any] = field(default_factory=dict)
    until: CheckTable
    ##= man/spec/gateway.md#recipes
    ##% A wait MUST call its tool every 5 seconds, and fail after 300, unless `interval_seconds`, at least 0.5, and
    ##% `timeout_seconds`, at least 1, say otherwise.
    interval_seconds: Annotated[float, Meta(ge=0.5, le=3_600)] = 5.0
    timeout_seconds: Annotated[float, Meta(ge=1, le=86_400)] = 300.0


class StepTable(RecipeTable, frozen=True, kw_only=True):
    """A step: one of `tool` and `wait`."""

    id: Name
    description: str = ""
    tool: Words | None = None
    wait: WaitTable | None = None
    params: dict[str, Any] = field(default_factory=dict)
    expect: dict[str, Any] = field(default_factory=dict)
    asserts: tuple[CheckTable, ...] = field(default=(), name="assert")
    capture: tuple[CaptureSection, ...] = ()
    timeout_seconds: Seconds | None = None


class Recipe(RecipeTable, frozen=True, kw_only=True):
    """The whole file."""

    version: int = VERSION
    name: Name | None = None
    summary: str = ""
    variables: dict[Name, Any] = field(default_factory=dict)
    steps: Annotated[tuple[StepTable, ...], Meta(min_length=1)]
    outputs: dict[str, Any] = field(default_factory=dict)
    timeout_seconds: Seconds | None = None
