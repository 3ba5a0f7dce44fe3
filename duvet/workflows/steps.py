"""The backend of a run, the checks and captures of its steps, and the limits of its record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Annotated, Any, Protocol

import msgspec

from duvet.llm.records import ModelRequest, ModelResponse
from duvet.text import join_names
from duvet.workflows import references, workflow

StepListener = Callable[[int, int, str], Awaitable[None]]
"""Called with the number of finished steps, the number of all steps, and the next step."""

RunLog = Callable[[workflow.WorkflowRun], None]  # Called with the record of each run, even of a cancelled one.
SCOPE_ROOTS = ("vars", "steps", "captures", "result")
MAX_RECORD_BYTES = 200_000
_MAX_MESSAGE = 500
_MAX_NESTING = 5


class StepResult(msgspec.Struct, frozen=True):
    value: Any  # As plain JSON.
    warnings: Sequence[str] = ()


class WorkflowBackend(Protocol):
    async def tool(self, name: str, arguments: Mapping[str, object], time_limit: float | None) -> StepResult:
        """Return the answer of a tool, or raise ToolError; abandon a tool that doesn't stop at its time limit."""

    async def model(self, request: ModelRequest) -> ModelResponse:
        """Return the answer of a model, or raise ToolError or DuvetError."""


class WorkflowClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def clock(self) -> float:
        return monotonic()

    async def sleep(self, seconds: float) -> None:
        from anyio import sleep

        await sleep(seconds)


def discard_run(run: workflow.WorkflowRun) -> None:
    pass


def parse_scope_path(text: str) -> references.ValuePath:
    path = references.parse_path(text)
    return path if path[0] in SCOPE_ROOTS else ("result", *path)


def find_check_fault(check: workflow.Check, scope: references.ValueScope, keys: references.ValuePath) -> str:
    """Return "" if the check passes; raise UnresolvedError if it is invalid."""
    try:
        path = parse_scope_path(check.path)
    except references.UnresolvedError as error:
        raise references.UnresolvedError(f"{references.format_path(keys)}: {error.message}", hint=error.hint) from error
    found, depth = references.walk_path(scope, path)
    value = found if depth == len(path) else msgspec.UNSET
    equals, other = (
        expected if expected is msgspec.UNSET else references.expand_references(expected, scope, (*keys, name))
        for name, expected in (("equals", check.equals), ("notEquals", check.not_equals))
    )
    expectation = "" if equals is msgspec.UNSET else f"; expected {references.preview_value(equals)}"
    if check.exists is False and value is not msgspec.UNSET:
        return f"{check.path} is {references.preview_value(value)}; expected no value"
    if value is msgspec.UNSET:
        return (
            f"{check.path} does not exist{expectation}" if check.exists is True or equals is not msgspec.UNSET else ""
        )
    if equals is not msgspec.UNSET and not references.are_equal_values(value, equals):
        return f"{check.path} is {references.preview_value(value)}{expectation}"
    if other is not msgspec.UNSET and references.are_equal_values(value, other):
        return f"{check.path} is {references.preview_value(value)}; expected another value"
    return ""


def clip_message(text: str) -> str:
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"


def bound_run(run: workflow.WorkflowRun) -> workflow.WorkflowRun:
    bounded, excess = run, references.measure_value(run) - MAX_RECORD_BYTES
    # Keep the first bytes of a shortened value, or nothing if the record is still too large.
    for head in (500, 0):
        if references.measure_value(bounded) > MAX_RECORD_BYTES:
            # The warning about shortened results needs room, too.
            bounded = _shorten_results(run, excess + 2_000, head)
    if references.measure_value(bounded) > MAX_RECORD_BYTES:
        return msgspec.structs.replace(bounded, outputs={}, warnings=[*run.warnings, _describe_cut([("outputs",)])])
    return bounded


def _shorten_results(run: workflow.WorkflowRun, excess: int, head: int) -> workflow.WorkflowRun:
    values = {("steps", step.id): step.result for step in run.steps if step.result is not None}
    values |= {("outputs", name): value for name, value in run.outputs.items()}
    encoded = {key: msgspec.json.encode(value) for key, value in values.items()}
    cut: dict[tuple[str, str], str] = {}
    for key in sorted(encoded, key=lambda key: -len(encoded[key])):
        if excess <= 0:
            break
        data = encoded[key]
        rest = f"{data[:head].decode(errors='ignore')}… (cut from {len(data):,} bytes)"
        if references.measure_value(rest) < len(data):
            cut[key] = rest
            excess -= len(data) - references.measure_value(rest)
    steps = [msgspec.structs.replace(step, result=cut.get(("steps", step.id), step.result)) for step in run.steps]
    outputs = {name: cut.get(("outputs", name), value) for name, value in run.outputs.items()}
    warnings = [*run.warnings, _describe_cut(tuple(cut))]
    return msgspec.structs.replace(run, steps=steps, outputs=outputs, warnings=warnings)


def _describe_cut(cut: Sequence[tuple[str, ...]]) -> str:
    named = join_names([references.format_path(key) for key in cut], 5)
    return f"shortened to keep the record within {MAX_RECORD_BYTES:,} bytes: {named}"


def find_nesting_fault(name: str, callers: Sequence[str]) -> str:
    ##= man/spec/workflows.md#limits
    ##% The engine MUST reject a workflow that calls itself, and a chain of more than five nested workflows.
    way = " > ".join((*callers, name))
    if name in callers:
        return f"{name} calls itself: {way}"
    deep = len(callers) + 1
    return f"workflows are nested {deep} levels deep; the limit is {_MAX_NESTING}: {way}" if deep > _MAX_NESTING else ""


class ModelParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    max_tokens: Annotated[int, msgspec.Meta(ge=1, le=10_000_000)] | None = None
    temperature: Annotated[float, msgspec.Meta(ge=0, le=10)] | None = None
