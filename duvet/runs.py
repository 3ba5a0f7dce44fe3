"""What came of a workflow, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct


class FailureCode(StrEnum):
    """Why a workflow has failed."""

    INVALID_REQUEST = "invalid_request"
    """What it was told, or what it says itself, can't be used."""
    TOOL_FAILED = "tool_failed"
    MODEL_FAILED = "model_failed"
    ASSERT_FAILED = "assert_failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


class Failure(Struct, frozen=True, kw_only=True, omit_defaults=True):
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


class Run(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of a workflow."""

    workflow: str
    status: Literal["success", "error"]
    outputs: Mapping[str, Any]
    steps: Sequence[StepRun]
    started_at: datetime
    finished_at: datetime
    duration_seconds: float
    error: Failure | None = None
    warnings: Sequence[str] = ()
