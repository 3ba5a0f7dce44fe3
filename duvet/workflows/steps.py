"""Runs one step: calls its tool or model, waits, verifies and captures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Annotated, Any, Protocol

import msgspec
from msgspec import UNSET, Meta, Struct, json
from msgspec.structs import replace

from duvet.errors import DuvetError
from duvet.llm.records import ModelError
from duvet.tools.tool import ErrorCode, ToolError, make_tool_error
from duvet.workflows.references import (
    Reference,
    UnresolvedError,
    ValuePath,
    ValueScope,
    WorkflowError,
    are_equal_values,
    copy_plain_value,
    expand_references,
    format_path,
    format_value,
    look_up_reference,
    measure_value,
    parse_path,
    preview_value,
    walk_path,
)
from duvet.workflows.workflow import (
    Check,
    FailureCode,
    ModelStep,
    Step,
    ToolStep,
    WaitStep,
    WorkflowRun,
    find_called_workflow,
)


class ModelStepRequest(Struct, frozen=True, kw_only=True):
    """What a model is asked."""

    model: str
    """PROVIDER/MODEL, PROVIDER, or a task."""
    prompt: str
    system: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    time_limit: float | None = None


class ModelStepAnswer(Struct, frozen=True, kw_only=True):
    """What it said."""

    text: str
    model: str
    """Which one has answered, maybe another one than was asked."""
    warnings: Sequence[str] = ()


class StepResult(Struct, frozen=True):
    """What comes of a tool, or of a step."""

    value: Any
    """As plain JSON."""
    warnings: Sequence[str] = ()


class WorkflowBackend(Protocol):
    """Who calls tools and models."""

    async def tool(self, name: str, arguments: Mapping[str, object], time_limit: float | None) -> StepResult:
        """What the tool answers, and warns of; ToolError where it fails.

        A tool that can't be stopped is to be left when its time is up, whoever cancels: the engine waits for this call.
        """

    async def model(self, asked: ModelStepRequest) -> ModelStepAnswer:
        """What the model says; ToolError, or another error of duvet, where it fails."""


StepListener = Callable[[int, int, str], Awaitable[None]]
"""Who hears how many steps of how many are done, and what comes next."""

RunLog = Callable[[WorkflowRun], None]
"""Where the record of each run goes, also of one that is cancelled."""


class WorkflowClock:
    """The time as it is."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def clock(self) -> float:
        """Seconds that only grow."""
        return monotonic()

    async def sleep(self, seconds: float) -> None:
        import anyio

        await anyio.sleep(seconds)


def discard_run(run: WorkflowRun) -> None:
    """A log that keeps nothing."""


SCOPE_ROOTS = ("vars", "steps", "captures", "result")


def parse_scope_path(text: str) -> ValuePath:
    """The path from the scope; UnresolvedError where the text is none."""
    ##= man/spec/workflows.md#references
    ##% A path MUST start at `vars`, `steps`, `captures` or `result`, or otherwise at the result of its own step.
    path = parse_path(text)
    return path if path[0] in SCOPE_ROOTS else ("result", *path)


def list_checks(step: Step) -> Iterator[tuple[ValuePath, Check]]:
    """Everything that has to hold, each with its keys."""
    for path, value in step.expect.items():
        yield ("expect", path), Check(path=path, equals=value)
    for number, check in enumerate(step.asserts):
        yield ("assert", number), check


def verify_result(step: Step, scope: ValueScope) -> None:
    """WorkflowError for the first thing that doesn't hold of the result in the scope."""
    for keys, check in list_checks(step):
        fault = find_check_fault(check, scope, keys)
        if fault:
            ##= man/spec/workflows.md#steps
            ##% A check MUST compare values as JSON, distinguish null from a missing value, and fail its step with
            ##% `assert_failed`, the path and both values.
            raise WorkflowError(FailureCode.ASSERT_FAILED, fault)


def find_check_fault(check: Check, scope: ValueScope, keys: ValuePath) -> str:
    """Why the check doesn't hold; nothing where it does."""
    value = _at(check.path, scope, keys)
    equals, other = (
        wanted if wanted is UNSET else expand_references(wanted, scope, (*keys, name))
        for name, wanted in (("equals", check.equals), ("notEquals", check.not_equals))
    )
    if check.exists is False and value is not UNSET:
        return f"{check.path} is {preview_value(value)}; nothing was to stand there"
    if value is UNSET:
        return f"{check.path} is not there{_instead_of(equals)}" if check.exists is True or equals is not UNSET else ""
    if equals is not UNSET and not are_equal_values(value, equals):
        return f"{check.path} is {preview_value(value)}{_instead_of(equals)}"
    if other is not UNSET and are_equal_values(value, other):
        return f"{check.path} is {preview_value(value)}; it was to be something else"
    return ""


def capture_values(step: Step, scope: ValueScope) -> dict[str, Any]:
    """What is kept of the result in the scope, by name."""
    ##= man/spec/workflows.md#steps
    ##% The engine MUST run the steps in order, pass on what they capture, and skip the rest after a failure.
    found = {}
    for number, capture in enumerate(step.capture):
        try:
            found[capture.name] = look_up_reference(Reference(parse_scope_path(capture.path), capture.path), scope)
        except UnresolvedError as error:
            message = f"capture[{number}].path: {error.message}"
            raise WorkflowError(FailureCode.ASSERT_FAILED, message, hint=error.hint) from error
    return found


def _at(text: str, scope: ValueScope, keys: ValuePath) -> Any:
    try:
        path = parse_scope_path(text)
    except UnresolvedError as error:
        raise UnresolvedError(f"{format_path(keys)}: {error.message}", hint=error.hint) from error
    value, steps = walk_path(scope, path)
    return value if steps == len(path) else UNSET


def _instead_of(wanted: object) -> str:
    return "" if wanted is UNSET else f"; it was to be {preview_value(wanted)}"


MAX_RECORD_BYTES = 200_000
_LONGEST = 500
_HEADS = (500, 0)
"""How much is left of what is cut; nothing where that is still too much."""
_ROOM = 2_000
"""For what is said of it."""
_NAMED = 5

_Parts = Mapping[tuple[str, str], Any]


def clip_message(text: str) -> str:
    """The text of a message, which may quote what has no end."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def bound_run(run: WorkflowRun) -> WorkflowRun:
    """The run with its largest results cut where it is too large."""
    ##= man/spec/workflows.md#limits
    ##% The engine MUST shorten the record of a run to 200,000 bytes, the largest results first, and say so.
    found, over = run, measure_value(run) - MAX_RECORD_BYTES
    for head in _HEADS:
        if measure_value(found) > MAX_RECORD_BYTES:
            found = _cut(run, over + _ROOM, head)
    if measure_value(found) > MAX_RECORD_BYTES:
        return replace(found, outputs={}, warnings=[*run.warnings, _told([("outputs",)])])
    return found


def _cut(run: WorkflowRun, over: int, head: int) -> WorkflowRun:
    parts = _parts(run)
    sizes = {key: measure_value(value) for key, value in parts.items()}
    cut: dict[tuple[str, str], str] = {}
    for key in sorted(sizes, key=lambda key: -sizes[key]):
        if over <= 0:
            break
        rest = _head(parts[key], head)
        if measure_value(rest) < sizes[key]:
            cut[key] = rest
            over -= sizes[key] - measure_value(rest)
    steps = [replace(step, result=cut.get(("steps", step.id), step.result)) for step in run.steps]
    outputs = {name: cut.get(("outputs", name), value) for name, value in run.outputs.items()}
    return replace(run, steps=steps, outputs=outputs, warnings=[*run.warnings, _told(tuple(cut))])


def _parts(run: WorkflowRun) -> _Parts:
    results = {("steps", step.id): step.result for step in run.steps if step.result is not None}
    return {**results, **{("outputs", name): value for name, value in run.outputs.items()}}


def _head(value: object, most: int) -> str:
    data = json.encode(value)
    return f"{data[:most].decode(errors='ignore')}… (cut: {len(data):,} bytes)"


def _told(cut: Sequence[tuple[str, ...]]) -> str:
    more = f" and {len(cut) - _NAMED} more" if len(cut) > _NAMED else ""
    named = ", ".join(format_path(key) for key in cut[:_NAMED])
    return f"cut, for a record has {MAX_RECORD_BYTES:,} bytes at most: {named}{more}"


MAX_NESTING = 5


def check_callers(name: str, callers: Sequence[str]) -> None:
    """WorkflowError where the workflow must not be called by those, the outermost first."""
    ##= man/spec/workflows.md#limits
    ##% The engine MUST refuse a workflow with more than 100 steps, one that calls itself, and one that is nested more
    ##% than five deep.
    fault = find_nesting_fault(name, callers)
    if fault:
        raise WorkflowError(FailureCode.INVALID_REQUEST, fault)


def find_nesting_fault(name: str, callers: Sequence[str]) -> str:
    """Why the workflow must not be called by those; nothing where it may."""
    way = " > ".join((*callers, name))
    if name in callers:
        return f"{name} calls itself: {way}"
    deep = len(callers) + 1
    return f"workflows stand in each other {deep} deep, {MAX_NESTING} is the most: {way}" if deep > MAX_NESTING else ""


_LAST_CALL = 0.5
"""Seconds that are kept for the last call at least."""
_MARGIN = 1.25
"""How much longer than the call before the last one may take."""


class WaitAttempts(Struct):
    """How many there were, and what was wrong with the last one."""

    calls: int = 0
    reason: str = ""

    def add(self, reason: str) -> None:
        self.calls, self.reason = self.calls + 1, reason

    def end(self) -> None:
        """The wait is over: there is nothing to be told of it."""
        self.calls, self.reason = 0, ""

    @property
    def fault(self) -> str:
        """Why the wait has failed; empty where no call has ended."""
        times = "one call" if self.calls == 1 else f"{self.calls} calls"
        return f"not as wanted after {times}: {self.reason}" if self.calls else ""


def compute_last_wait(took: float, left: float) -> float:
    """Seconds until a last call has to begin, so that it ends in the time that is left."""
    least = min(_MARGIN * took, left)
    return left - min(max(_LAST_CALL, 2 * took), max(left / 2, least))


MAX_STEP_BYTES = 16_000_000
"""No result has more."""


class ModelParams(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What a model step may say about the answer."""

    max_tokens: Annotated[int, Meta(ge=1, le=10_000_000)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=10)] | None = None


class StepRunner(Struct, frozen=True):
    """What the steps of a run are done with."""

    doing: WorkflowBackend
    timing: WorkflowClock
    scope: ValueScope
    tries: WaitAttempts
    """Of the wait that is at work."""

    async def result_of(self, step: Step, deadline: float) -> StepResult:
        """What comes of the step; WorkflowError where nothing does."""
        match step:
            case ToolStep():
                return await self._called(step.tool, self._arguments(step), deadline)
            case ModelStep():
                return await self._said(step, deadline)
            case WaitStep():
                return await self._awaited(step, deadline)
        raise AssertionError(step)

    def _arguments(self, step: Step) -> dict[str, Any]:
        arguments: dict[str, Any] = expand_references(step.params, self.scope, ("params",))
        return arguments

    async def _called(self, name: str, arguments: Mapping[str, Any], deadline: float) -> StepResult:
        try:
            return await self._tool(name, arguments, deadline)
        except ToolError as error:
            ##= man/spec/workflows.md#steps
            ##% A step MUST fail with `tool_failed` or `model_failed` when its tool, workflow or model fails, and pass
            ##% on the code, the message and the hint of that failure.
            raise _failed(FailureCode.TOOL_FAILED, name, error) from error

    async def _tool(self, name: str, arguments: Mapping[str, Any], deadline: float) -> StepResult:
        """What a tool answers; ToolError where it fails, WorkflowError where it is a workflow that has failed."""
        try:
            ##= man/spec/workflows.md#steps
            ##% A step that exceeds its own time limit, or that of the workflow, MUST fail with `timeout`.
            came = await self.doing.tool(name, arguments, deadline - self.timing.clock())
            result = copy_plain_value(came.value, MAX_STEP_BYTES, "the answer")
        except DuvetError as error:
            raise make_tool_error(error) from error
        if find_called_workflow(name) and isinstance(result, dict) and result.get("status") == "error":
            raise _inner(name, result)
        return StepResult(result, came.warnings)

    async def _awaited(self, step: WaitStep, deadline: float) -> StepResult:
        arguments, is_last = self._arguments(step), False
        while True:
            begun = self.timing.clock()
            try:
                came = await self._tool(step.tool, arguments, deadline)
                reason = find_check_fault(step.until, {**self.scope, "result": came.value}, ("wait", "until"))
                if not reason:
                    self.tries.end()
                    return came
            except ToolError as error:
                if error.code is not ErrorCode.UPSTREAM_ERROR:
                    raise _failed(FailureCode.TOOL_FAILED, step.tool, error) from error
                reason = f"{step.tool}: {error.message}"
            now = self.timing.clock()
            # What is only that the time is up tells nothing where there is another reason.
            if now < deadline or not self.tries.calls:
                self.tries.add(reason)
            took, left = now - begun, deadline - now
            if is_last or left <= 0 or left < took:
                raise WorkflowError(FailureCode.TIMEOUT, self.tries.fault)
            ##= man/spec/workflows.md#steps
            ##% A wait MUST repeat its call at the given interval, also after an `upstream_error`, until the result is
            ##% as expected, another error occurs or its time is over.
            room = compute_last_wait(took, left)
            is_last = room < step.interval
            await self.timing.sleep(min(step.interval, room))

    async def _said(self, step: ModelStep, deadline: float) -> StepResult:
        params = _params(expand_references(step.params, self.scope, ("params",)))
        asked = ModelStepRequest(
            model=step.model,
            prompt=format_value(expand_references(step.prompt, self.scope, ("prompt",))),
            system=None
            if step.system is None
            else format_value(expand_references(step.system, self.scope, ("system",))),
            max_tokens=params.max_tokens,
            temperature=params.temperature,
            time_limit=deadline - self.timing.clock(),
        )
        try:
            said = await self.doing.model(asked)
            ##= man/spec/workflows.md#steps
            ##% The warnings of tools and models MUST be warnings of the run.
            answer = {"text": said.text, "model": said.model, "warnings": [*said.warnings]}
            return StepResult(copy_plain_value(answer, MAX_STEP_BYTES, "the answer"), said.warnings)
        except (ToolError, DuvetError) as error:
            raise _failed(FailureCode.MODEL_FAILED, step.model, error) from error


def _params(given: Mapping[str, Any]) -> ModelParams:
    try:
        return msgspec.convert(given, ModelParams)
    except msgspec.ValidationError as error:
        message = f"params: {str(error).replace('`', '')}"
        raise WorkflowError(
            FailureCode.INVALID_REQUEST, message, hint="a model knows maxTokens and temperature"
        ) from error


def _failed(code: FailureCode, name: str, error: ToolError | DuvetError) -> WorkflowError:
    told = error if isinstance(error, ToolError) else make_tool_error(error)
    cause = error.code if isinstance(error, ModelError) else told.code
    return WorkflowError(code, f"{name}: {told.message}", hint=told.hint, cause=cause.value)


def _inner(name: str, run: Mapping[str, Any]) -> WorkflowError:
    """Another workflow has failed, and so has the step that called it."""
    failure = run.get("error")
    told = failure if isinstance(failure, dict) else {}
    where = f"step {told['step']}: " if told.get("step") else ""
    message, hint, cause = (str(told.get(key, "")) for key in ("message", "hint", "code"))
    return WorkflowError(FailureCode.TOOL_FAILED, f"{name}: {where}{message}", hint=hint, cause=cause)
