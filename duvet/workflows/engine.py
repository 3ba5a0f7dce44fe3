"""Runs a workflow step by step within its time limit."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from datetime import datetime
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
from blake3 import blake3

from duvet.errors import DuvetError
from duvet.llm.records import ModelError, ModelRequest
from duvet.text import format_count
from duvet.tools.arguments import describe_conversion_error
from duvet.tools.call_context import CallJournal, CallState, ignore_progress
from duvet.tools.tool import ErrorCode, ToolError, make_tool_error
from duvet.workflows import references, steps, workflow as records

_callers: ContextVar[tuple[str, ...]] = ContextVar("_callers", default=())  # The running workflows, outermost first.
_MAX_STEP_BYTES = 16_000_000  # Maximum bytes of a result as JSON.
_MAX_RESULTS_BYTES = 64_000_000  # Maximum bytes of all results as JSON, which stay in memory until the end.


async def run_workflow(
    workflow: records.Workflow,
    given: msgspec.Struct | Mapping[str, object],
    backend: steps.WorkflowBackend,
    progress: steps.StepListener = ignore_progress,
    log: steps.RunLog = steps.discard_run,
    journal: CallJournal | None = None,
    timing: steps.WorkflowClock | None = None,
) -> records.WorkflowRun:
    """Failures are part of the result."""
    variables = msgspec.to_builtins(given) if isinstance(given, msgspec.Struct) else given
    timing, journal = timing or steps.WorkflowClock(), journal or CallJournal(CallState())
    run = _Run(workflow, backend, timing, progress, log, journal, timing.now(), timing.clock())
    return await run.run(variables)


class _Run(msgspec.Struct):
    workflow: records.Workflow
    backend: steps.WorkflowBackend
    timing: steps.WorkflowClock
    progress: steps.StepListener
    log: steps.RunLog
    journal: CallJournal
    started_at: datetime
    start: float
    scope: dict[str, Any] = msgspec.field(default_factory=lambda: {"vars": {}, "steps": {}, "captures": {}})
    finished: list[records.StepRun] = []
    outputs: dict[str, Any] = {}
    warnings: list[str] = []
    results_bytes: int = 0
    digest: str = ""
    wait_calls: int = 0  # The calls of the current wait that have ended.
    wait_reason: str = ""  # Why the last one did not end the wait.

    async def run(self, given: Mapping[str, object]) -> records.WorkflowRun:
        callers = _callers.get()
        token = _callers.set((*callers, self.workflow.name))
        try:
            record = self._make_record(await self._run_all(given, callers))
        except anyio.get_cancelled_exc_class():
            self.log(self._make_record(self._make_failure(ErrorCode.CANCELLED, "the run was cancelled")))
            raise
        finally:
            _callers.reset(token)
        self.log(record)
        return record

    async def _run_all(self, given: Mapping[str, object], callers: tuple[str, ...]) -> records.WorkflowFailure | None:
        try:
            if fault := steps.find_nesting_fault(self.workflow.name, callers):
                raise ToolError(ErrorCode.INVALID_REQUEST, fault)
            ##= man/spec/workflows.md#limits
            ##% The engine MUST reject a workflow that has more than 100 steps.
            if len(self.workflow.steps) > records.MAX_STEPS:
                message = f"{self.workflow.name} has {len(self.workflow.steps)} steps; the limit is {records.MAX_STEPS}"
                raise ToolError(ErrorCode.INVALID_REQUEST, message)
            self.scope["vars"] = records.resolve_variables(self.workflow, given)
            identity = repr([self.workflow, self.scope["vars"]])
            self.digest = blake3(identity.encode(errors="replace")).hexdigest(length=8)
            ##= man/spec/workflows.md#steps
            ##% The engine MUST run the steps in order, and skip all later steps if a step fails.
            total = len(self.workflow.steps)
            for number, step in enumerate(self.workflow.steps):
                await self.progress(number, total, f"{step.id}: {step.description}" if step.description else step.id)
                ##= man/spec/workflows.md#steps
                ##% After a workflow is cancelled, the engine MUST NOT start another step.
                # A tool may have swallowed its cancellation.
                await anyio.lowlevel.checkpoint()
                await self._run_step(step)
            await self.progress(total, total, "done")
            self.outputs = references.expand_references(self.workflow.outputs, self.scope, ("outputs",))
        except ToolError as error:
            return self._make_failure(error.code, error.message, error.hint, error.cause)
        except references.UnresolvedError as error:
            return self._make_failure(ErrorCode.INVALID_REQUEST, error.message, error.hint)
        return None

    async def _run_step(self, step: records.Step) -> None:
        begun = self.timing.clock()
        message, result, has_failed = "", None, True
        try:
            ##= man/spec/workflows.md#steps
            ##% If a client repeats a call to continue a workflow, the engine MUST NOT run completed steps again.
            self.journal.begin(f"{self.digest}-{len(self.finished)}")
            kept = self.journal.recall()
            if kept is not None:
                found = steps.StepResult(kept.result, kept.warnings)
                begun -= kept.seconds
            else:
                found = await self._limit_step(step)
                self.journal.keep(found.value, self._measure_since(begun), found.warnings)
            result = found.value
            self._keep_result(step, found)
            has_failed = False
        except (ToolError, references.UnresolvedError) as error:
            message = error.message
            raise
        except anyio.get_cancelled_exc_class():
            message = "the step was cancelled"
            raise
        finally:
            self.finished.append(
                records.StepRun(
                    id=step.id,
                    status="error" if has_failed else "success",
                    duration_seconds=self._measure_since(begun),
                    message=steps.clip_message(message),
                    result=result,
                )
            )

    async def _limit_step(self, step: records.Step) -> steps.StepResult:
        begun = self.timing.clock()
        left = self.start + self.workflow.time_limit - begun
        limit = left if step.time_limit is None else min(step.time_limit, left)
        late = limit <= 0
        if not late:
            try:
                with anyio.move_on_after(limit) as scope:
                    found = await self._call_step(step, begun + limit)
                late = scope.cancel_called or self.timing.clock() > begun + limit
            except ToolError as error:
                # A tool that knows its limit may report the timeout itself.
                late = error.code is not ErrorCode.TIMEOUT and self.timing.clock() >= begun + limit
                if not late:
                    raise
        if late:
            whole = f"the {self.workflow.noun} took longer than {self.workflow.time_limit:g} s"
            message = whole if limit == left else f"the step took longer than {limit:g} s"
            raise ToolError(ErrorCode.TIMEOUT, self._describe_wait() or message)
        return found

    async def _call_step(self, step: records.Step, deadline: float) -> steps.StepResult:
        if isinstance(step, records.ModelStep):
            return await self._ask_model(step)
        arguments: dict[str, Any] = references.expand_references(step.params, self.scope, ("params",))
        if isinstance(step, records.WaitStep):
            return await self._wait(step, arguments, deadline)
        assert isinstance(step, records.ToolStep)
        try:
            return await self._call_tool(step.tool, arguments, deadline)
        except ToolError as error:
            ##= man/spec/workflows.md#steps
            ##% If the tool, workflow or model of a step fails, the step MUST fail with `tool_failed` or
            ##% `model_failed`, and give the code, message and hint of that failure.
            raise _make_step_failure(ErrorCode.TOOL_FAILED, step.tool, error) from error

    async def _call_tool(self, name: str, arguments: Mapping[str, Any], deadline: float) -> steps.StepResult:
        try:
            ##= man/spec/workflows.md#steps
            ##% A step that exceeds its own time limit or that of the workflow MUST fail with `timeout`.
            answer = await self.backend.tool(name, arguments, deadline - self.timing.clock())
            result = references.copy_plain_value(answer.value, _MAX_STEP_BYTES, "the answer")
        except DuvetError as error:
            raise make_tool_error(error) from error
        return steps.StepResult(result, answer.warnings)

    async def _wait(self, step: records.WaitStep, arguments: Mapping[str, Any], deadline: float) -> steps.StepResult:
        is_last = False
        while True:
            begun = self.timing.clock()
            try:
                found = await self._call_tool(step.tool, arguments, deadline)
                reason = steps.find_check_fault(step.until, {**self.scope, "result": found.value}, ("wait", "until"))
                if not reason:
                    self.wait_calls = 0
                    return found
            except ToolError as error:
                if error.code is not ErrorCode.UPSTREAM_ERROR:
                    raise _make_step_failure(ErrorCode.TOOL_FAILED, step.tool, error) from error
                reason = f"{step.tool}: {error.message}"
            now = self.timing.clock()
            # An earlier reason explains more than a timeout.
            if now < deadline or not self.wait_calls:
                self.wait_calls, self.wait_reason = self.wait_calls + 1, reason
            took, left = now - begun, deadline - now
            if is_last or left <= 0 or left < took:
                raise ToolError(ErrorCode.TIMEOUT, self._describe_wait())
            ##= man/spec/workflows.md#steps
            ##% A wait MUST repeat its call at the given interval until its condition is met or its time limit expires.
            # The last call gets twice the time of this one, and at least half a second. If half of the time left is
            # less, it gets that half, or a quarter more than this call took.
            room = left - min(max(0.5, 2 * took), max(left / 2, min(1.25 * took, left)))
            is_last = room < step.interval
            await self.timing.sleep(min(step.interval, room))

    async def _ask_model(self, step: records.ModelStep) -> steps.StepResult:
        try:
            params = msgspec.convert(
                references.expand_references(step.params, self.scope, ("params",)), steps.ModelParams
            )
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
            return steps.StepResult(references.copy_plain_value(value, _MAX_STEP_BYTES, "the answer"), answer.warnings)
        except (ToolError, DuvetError) as error:
            raise _make_step_failure(ErrorCode.MODEL_FAILED, step.model, error) from error

    def _keep_result(self, step: records.Step, found: steps.StepResult) -> None:
        self.warnings += (steps.clip_message(f"{step.id}: {warning}") for warning in found.warnings)
        self.results_bytes += references.measure_value(found.value)
        if self.results_bytes > _MAX_RESULTS_BYTES:
            message = f"the results of the steps together exceed {_MAX_RESULTS_BYTES:,} bytes"
            raise ToolError(ErrorCode.INVALID_REQUEST, message, hint="request smaller results")
        scope = {**self.scope, "result": found.value}
        checks: dict[references.ValuePath, records.Check] = {
            **{("expect", path): records.Check(path=path, equals=value) for path, value in step.expect.items()},
            **{("assert", number): check for number, check in enumerate(step.asserts)},
        }
        for keys, check in checks.items():
            if fault := steps.find_check_fault(check, scope, keys):
                ##= man/spec/workflows.md#steps
                ##% If a check fails, its step MUST fail with `assert_failed`, and name the checked path, its value and the
                ##% expected value.
                raise ToolError(ErrorCode.ASSERT_FAILED, fault)
        captures = {}
        for number, capture in enumerate(step.capture):
            try:
                reference = references.Reference(steps.parse_scope_path(capture.path), capture.path)
                captures[capture.name] = references.look_up_reference(reference, scope)
            except references.UnresolvedError as error:
                message = f"capture[{number}].path: {error.message}"
                raise ToolError(ErrorCode.ASSERT_FAILED, message, hint=error.hint) from error
        self.scope["captures"].update(captures)
        self.scope["steps"][step.id] = {"result": found.value, "status": "success"}

    def _make_failure(self, code: ErrorCode, message: str, hint: str = "", cause: str = "") -> records.WorkflowFailure:
        failing = self.finished[-1].id if self.finished and self.finished[-1].status == "error" else ""
        return records.WorkflowFailure(
            code=code, message=steps.clip_message(message), hint=steps.clip_message(hint), step=failing, cause=cause
        )

    def _make_record(self, failure: records.WorkflowFailure | None) -> records.WorkflowRun:
        skipped = [records.StepRun(id=step.id, status="skipped") for step in self.workflow.steps[len(self.finished) :]]
        return steps.bound_run(
            records.WorkflowRun(
                workflow=self.workflow.name,
                status="error" if failure else "success",
                outputs=self.outputs,
                steps=[*self.finished, *skipped][: records.MAX_STEPS],
                started_at=self.started_at,
                finished_at=self.timing.now(),
                duration_seconds=self._measure_since(self.start),
                error=failure,
                warnings=self.warnings[:100],
            )
        )

    def _describe_wait(self) -> str:
        calls = format_count(self.wait_calls, "call")
        return f"condition not met after {calls}: {self.wait_reason}" if self.wait_calls else ""

    def _measure_since(self, moment: float) -> float:
        return round(self.timing.clock() - moment, 3)


def _make_step_failure(code: ErrorCode, name: str, error: ToolError | DuvetError) -> ToolError:
    failure = error if isinstance(error, ToolError) else make_tool_error(error)
    cause = error.code if isinstance(error, ModelError) else failure.code
    return ToolError(code, f"{name}: {failure.message}", hint=failure.hint, cause=cause.value)
