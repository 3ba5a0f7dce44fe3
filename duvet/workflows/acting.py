"""One step being done: its tool called or its model asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from duvet.errors import DuvetError
from duvet.llm.errors import ModelError
from duvet.runs import FailureCode
from duvet.tools.errors import Code, ToolError, tool_error
from duvet.workflows.doing import Came, Doing, ModelAsked, Timing
from duvet.workflows.errors import WorkflowError
from duvet.workflows.expecting import fault_of
from duvet.workflows.names import called_by
from duvet.workflows.plain import as_text, plain
from duvet.workflows.records import ModelStep, Step, ToolStep, WaitStep
from duvet.workflows.references import Scope, expand
from duvet.workflows.tries import Tries, before_last

MOST_BYTES = 16_000_000
"""No result has more."""


class ModelParams(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What a model step may say about the answer."""

    max_tokens: Annotated[int, Meta(ge=1, le=10_000_000)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=10)] | None = None


class Acting(Struct, frozen=True):
    """What the steps of a run are done with."""

    doing: Doing
    timing: Timing
    scope: Scope
    tries: Tries
    """Of the wait that is at work."""

    async def result_of(self, step: Step, deadline: float) -> Came:
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
        arguments: dict[str, Any] = expand(step.params, self.scope, ("params",))
        return arguments

    async def _called(self, name: str, arguments: Mapping[str, Any], deadline: float) -> Came:
        try:
            return await self._tool(name, arguments, deadline)
        except ToolError as error:
            ##= man/spec/workflows.md#steps
            ##% A tool that fails MUST fail its step with the code `tool_failed` and with the code and the hint of the
            ##% tool.
            raise _failed(FailureCode.TOOL_FAILED, name, error) from error

    async def _tool(self, name: str, arguments: Mapping[str, Any], deadline: float) -> Came:
        """What a tool answers; ToolError where it fails, WorkflowError where it is a workflow that has failed."""
        try:
            ##= man/spec/workflows.md#steps
            ##% A tool and a model MUST be told how many seconds they have.
            came = await self.doing.tool(name, arguments, deadline - self.timing.clock())
            result = plain(came.value, MOST_BYTES, "the answer")
        except DuvetError as error:
            raise tool_error(error) from error
        if called_by(name) and isinstance(result, dict) and result.get("status") == "error":
            raise _inner(name, result)
        return Came(result, came.warnings)

    async def _awaited(self, step: WaitStep, deadline: float) -> Came:
        arguments, is_last = self._arguments(step), False
        while True:
            begun = self.timing.clock()
            try:
                came = await self._tool(step.tool, arguments, deadline)
                reason = fault_of(step.until, {**self.scope, "result": came.value}, ("wait", "until"))
                if not reason:
                    self.tries.end()
                    return came
            except ToolError as error:
                ##= man/spec/workflows.md#steps
                ##% A wait MUST go on after an `upstream_error`, and fail at once with any other error.
                if error.code is not Code.UPSTREAM_ERROR:
                    raise _failed(FailureCode.TOOL_FAILED, step.tool, error) from error
                reason = f"{step.tool}: {error.message}"
            now = self.timing.clock()
            # What is only that the time is up tells nothing where there is another reason.
            if now < deadline or not self.tries.calls:
                self.tries.add(reason)
            took, left = now - begun, deadline - now
            ##= man/spec/workflows.md#steps
            ##% Where less time is left than its last call has taken, a wait MUST fail at once.
            if is_last or left <= 0 or left < took:
                raise WorkflowError(FailureCode.TIMEOUT, self.tries.fault)
            ##= man/spec/workflows.md#steps
            ##% A wait MUST call its tool again and again, an interval after the end of the call before, until the
            ##% result is as wanted.
            ##= man/spec/workflows.md#steps
            ##% Where less than an interval is left, but no less than its last call has taken, a wait MUST call its tool a
            ##% last time shortly before its time is up.
            room = before_last(took, left)
            is_last = room < step.interval
            await self.timing.sleep(min(step.interval, room))

    async def _said(self, step: ModelStep, deadline: float) -> Came:
        params = _params(expand(step.params, self.scope, ("params",)))
        asked = ModelAsked(
            model=step.model,
            prompt=as_text(expand(step.prompt, self.scope, ("prompt",))),
            system=None if step.system is None else as_text(expand(step.system, self.scope, ("system",))),
            max_tokens=params.max_tokens,
            temperature=params.temperature,
            time_limit=deadline - self.timing.clock(),
        )
        try:
            said = await self.doing.model(asked)
            ##= man/spec/workflows.md#steps
            ##% The result of a model MUST be its text, the name of the model that answered, and its warnings; these are
            ##% warnings of the run, too.
            answer = {"text": said.text, "model": said.model, "warnings": [*said.warnings]}
            return Came(plain(answer, MOST_BYTES, "the answer"), said.warnings)
        except (ToolError, DuvetError) as error:
            ##= man/spec/workflows.md#steps
            ##% A model that fails MUST fail its step with the code `model_failed` and with the code and the hint of the
            ##% model.
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
    told = error if isinstance(error, ToolError) else tool_error(error)
    cause = error.code if isinstance(error, ModelError) else told.code
    return WorkflowError(code, f"{name}: {told.message}", hint=told.hint, cause=cause.value)


def _inner(name: str, run: Mapping[str, Any]) -> WorkflowError:
    """Another workflow has failed, and so has the step that called it."""
    ##= man/spec/workflows.md#steps
    ##% A step whose tool is a workflow that fails MUST fail with the message, the code and the step of that one.
    failure = run.get("error")
    told = failure if isinstance(failure, dict) else {}
    where = f"step {told['step']}: " if told.get("step") else ""
    message, hint, cause = (str(told.get(key, "")) for key in ("message", "hint", "code"))
    return WorkflowError(FailureCode.TOOL_FAILED, f"{name}: {where}{message}", hint=hint, cause=cause)
