"""Runs one step: calls its tool or model, waits, verifies and captures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Annotated, Any, Protocol

import msgspec

from duvet.errors import DuvetError
from duvet.llm.records import ModelError, ModelRequest, ModelResponse
from duvet.text import format_count, join_names
from duvet.tools.arguments import describe_conversion_error
from duvet.tools.tool import ErrorCode, ToolError, make_tool_error
from duvet.workflows import references, workflow

StepListener = Callable[[int, int, str], Awaitable[None]]
"""Called with the number of finished steps, the number of all steps, and the next step."""

RunLog = Callable[[workflow.WorkflowRun], None]  # Called with the record of each run, even of a cancelled one.
SCOPE_ROOTS = ("vars", "steps", "captures", "result")
MAX_RECORD_BYTES = 200_000
_MAX_MESSAGE = 500
_NOTE_ROOM = 2_000  # Bytes reserved for the warning about shortened results.
_MAX_NAMES = 5
MAX_NESTING = 5
_LAST_CALL = 0.5  # Minimum seconds reserved for the last call.
_MARGIN = 1.25  # The factor by which the last call may be slower than the one before it.
MAX_STEP_BYTES = 16_000_000  # Maximum bytes of a result as JSON.


class StepResult(msgspec.Struct, frozen=True):
    value: Any  # As plain JSON.
    warnings: Sequence[str] = ()


class WorkflowBackend(Protocol):
    async def tool(self, name: str, arguments: Mapping[str, object], time_limit: float | None) -> StepResult:
        """Return the answer of a tool; raise ToolError if it fails.

        It must abandon a tool that doesn't stop at its time limit, because the engine waits for this call.
        """

    async def model(self, request: ModelRequest) -> ModelResponse:
        """Return the answer of a model; raise ToolError or DuvetError if it fails."""


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
    """Parse a path into the scope; a path without a root is relative to `result`."""
    path = references.parse_path(text)
    return path if path[0] in SCOPE_ROOTS else ("result", *path)


def verify_result(step: workflow.Step, scope: references.ValueScope) -> None:
    checks: dict[references.ValuePath, workflow.Check] = {
        **{("expect", path): workflow.Check(path=path, equals=value) for path, value in step.expect.items()},
        **{("assert", number): check for number, check in enumerate(step.asserts)},
    }
    for keys, check in checks.items():
        if fault := _find_check_fault(check, scope, keys):
            ##= man/spec/workflows.md#steps
            ##% If a check fails, its step MUST fail with `assert_failed`, and name the checked path, its value and the
            ##% expected value.
            raise ToolError(ErrorCode.ASSERT_FAILED, fault)


def _find_check_fault(check: workflow.Check, scope: references.ValueScope, keys: references.ValuePath) -> str:
    """Return why a check fails; empty if it passes."""
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


def capture_values(step: workflow.Step, scope: references.ValueScope) -> dict[str, Any]:
    found = {}
    for number, capture in enumerate(step.capture):
        try:
            reference = references.Reference(parse_scope_path(capture.path), capture.path)
            found[capture.name] = references.look_up_reference(reference, scope)
        except references.UnresolvedError as error:
            message = f"capture[{number}].path: {error.message}"
            raise ToolError(ErrorCode.ASSERT_FAILED, message, hint=error.hint) from error
    return found


def clip_message(text: str) -> str:
    """Return the beginning of a message, which may quote values of any size."""
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"


def bound_run(run: workflow.WorkflowRun) -> workflow.WorkflowRun:
    """Shorten the largest results and outputs of a record that is too large, and add a warning."""
    bounded, excess = run, references.measure_value(run) - MAX_RECORD_BYTES
    # Keep the first bytes of a shortened value, or nothing if the record is still too large.
    for head in (500, 0):
        if references.measure_value(bounded) > MAX_RECORD_BYTES:
            bounded = _shorten_results(run, excess + _NOTE_ROOM, head)
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
        rest = f"{data[:head].decode(errors='ignore')}… (cut: {len(data):,} bytes)"
        if references.measure_value(rest) < len(data):
            cut[key] = rest
            excess -= len(data) - references.measure_value(rest)
    steps = [msgspec.structs.replace(step, result=cut.get(("steps", step.id), step.result)) for step in run.steps]
    outputs = {name: cut.get(("outputs", name), value) for name, value in run.outputs.items()}
    warnings = [*run.warnings, _describe_cut(tuple(cut))]
    return msgspec.structs.replace(run, steps=steps, outputs=outputs, warnings=warnings)


def _describe_cut(cut: Sequence[tuple[str, ...]]) -> str:
    named = join_names([references.format_path(key) for key in cut], _MAX_NAMES)
    return f"shortened to keep the record within {MAX_RECORD_BYTES:,} bytes: {named}"


def find_nesting_fault(name: str, callers: Sequence[str]) -> str:
    """Return why these callers (outermost first) must not call the workflow; empty if they may."""
    ##= man/spec/workflows.md#limits
    ##% The engine MUST reject a workflow that calls itself, or that nests other workflows more than five levels deep.
    way = " > ".join((*callers, name))
    if name in callers:
        return f"{name} calls itself: {way}"
    deep = len(callers) + 1
    return f"workflows are nested {deep} levels deep; the limit is {MAX_NESTING}: {way}" if deep > MAX_NESTING else ""


class WaitAttempts(msgspec.Struct):
    """The calls of a wait, and why the last one did not end it."""

    calls: int = 0
    reason: str = ""

    @property
    def fault(self) -> str:
        """Why the wait failed; empty if no call has ended."""
        return f"condition not met after {format_count(self.calls, 'call')}: {self.reason}" if self.calls else ""


class ModelParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    max_tokens: Annotated[int, msgspec.Meta(ge=1, le=10_000_000)] | None = None
    temperature: Annotated[float, msgspec.Meta(ge=0, le=10)] | None = None


class StepRunner(msgspec.Struct, frozen=True):
    backend: WorkflowBackend
    timing: WorkflowClock
    scope: dict[str, Any]
    attempts: WaitAttempts  # The attempts of the current wait.

    async def run(self, step: workflow.Step, deadline: float) -> StepResult:
        if isinstance(step, workflow.ModelStep):
            return await self._ask_model(step)
        arguments: dict[str, Any] = references.expand_references(step.params, self.scope, ("params",))
        if isinstance(step, workflow.WaitStep):
            return await self._wait(step, arguments, deadline)
        assert isinstance(step, workflow.ToolStep)
        try:
            return await self._call_tool(step.tool, arguments, deadline)
        except ToolError as error:
            ##= man/spec/workflows.md#steps
            ##% If the tool, workflow or model of a step fails, the step MUST fail with the code, message and hint of
            ##% that failure.
            raise _make_failure(ErrorCode.TOOL_FAILED, step.tool, error) from error

    async def _call_tool(self, name: str, arguments: Mapping[str, Any], deadline: float) -> StepResult:
        try:
            ##= man/spec/workflows.md#steps
            ##% A step that exceeds its own time limit or that of the workflow MUST fail with `timeout`.
            answer = await self.backend.tool(name, arguments, deadline - self.timing.clock())
            result = references.copy_plain_value(answer.value, MAX_STEP_BYTES, "the answer")
        except DuvetError as error:
            raise make_tool_error(error) from error
        return StepResult(result, answer.warnings)

    async def _wait(self, step: workflow.WaitStep, arguments: Mapping[str, Any], deadline: float) -> StepResult:
        is_last = False
        while True:
            begun = self.timing.clock()
            try:
                found = await self._call_tool(step.tool, arguments, deadline)
                reason = _find_check_fault(step.until, {**self.scope, "result": found.value}, ("wait", "until"))
                if not reason:
                    self.attempts.calls = 0
                    return found
            except ToolError as error:
                if error.code is not ErrorCode.UPSTREAM_ERROR:
                    raise _make_failure(ErrorCode.TOOL_FAILED, step.tool, error) from error
                reason = f"{step.tool}: {error.message}"
            now = self.timing.clock()
            # An earlier reason explains more than a timeout.
            if now < deadline or not self.attempts.calls:
                self.attempts.calls, self.attempts.reason = self.attempts.calls + 1, reason
            took, left = now - begun, deadline - now
            if is_last or left <= 0 or left < took:
                raise ToolError(ErrorCode.TIMEOUT, self.attempts.fault)
            ##= man/spec/workflows.md#steps
            ##% A wait MUST repeat its call at the given interval until its condition is met or its time limit expires.
            least = min(_MARGIN * took, left)
            room = left - min(max(_LAST_CALL, 2 * took), max(left / 2, least))
            is_last = room < step.interval
            await self.timing.sleep(min(step.interval, room))

    async def _ask_model(self, step: workflow.ModelStep) -> StepResult:
        try:
            params = msgspec.convert(references.expand_references(step.params, self.scope, ("params",)), ModelParams)
        except msgspec.ValidationError as error:
            message, hint = f"params: {describe_conversion_error(str(error))}", "available: maxTokens, temperature"
            raise ToolError(ErrorCode.INVALID_REQUEST, message, hint=hint) from error
        prompt = references.expand_references(step.prompt, self.scope, ("prompt",))
        system = references.expand_references(step.system or "", self.scope, ("system",))
        request = ModelRequest(
            model=step.model,
            prompt=references.format_value(prompt),
            system=references.format_value(system),
            max_tokens=params.max_tokens,
            temperature=params.temperature,
        )
        try:
            answer = await self.backend.model(request)
            value = {"text": answer.text, "model": answer.name, "warnings": [*answer.warnings]}
            return StepResult(references.copy_plain_value(value, MAX_STEP_BYTES, "the answer"), answer.warnings)
        except (ToolError, DuvetError) as error:
            raise _make_failure(ErrorCode.MODEL_FAILED, step.model, error) from error


def _make_failure(code: ErrorCode, name: str, error: ToolError | DuvetError) -> ToolError:
    failure = error if isinstance(error, ToolError) else make_tool_error(error)
    cause = error.code if isinstance(error, ModelError) else failure.code
    return ToolError(code, f"{name}: {failure.message}", hint=failure.hint, cause=cause.value)
