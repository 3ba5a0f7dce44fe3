"""Runs a workflow step by step within its time limit."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import msgspec
from msgspec import Struct

from duvet.tools.call_context import CallJournal, CallState, ignore_progress
from duvet.workflows.inputs import resolve_variables
from duvet.workflows.references import UnresolvedError, WorkflowError, digest_value, expand_references, measure_value
from duvet.workflows.steps import (
    RunLog,
    StepListener,
    StepResult,
    StepRunner,
    WaitAttempts,
    WorkflowBackend,
    WorkflowClock,
    bound_run,
    capture_values,
    check_callers,
    clip_message,
    discard_run,
    verify_result,
)
from duvet.workflows.workflow import MAX_STEPS, FailureCode, Step, StepRun, Workflow, WorkflowFailure, WorkflowRun

_callers: ContextVar[tuple[str, ...]] = ContextVar("_callers", default=())
"""The workflows that are at work around this call, the outermost first."""
_MOST_WARNINGS = 100
_MOST_HELD = 64_000_000
"""How many bytes all results may have: each is kept until the end."""


async def run_steps(
    workflow: Workflow,
    given: Mapping[str, object],
    doing: WorkflowBackend,
    *,
    progress: StepListener = ignore_progress,
    log: RunLog = discard_run,
    timing: WorkflowClock | None = None,
    journal: CallJournal | None = None,
) -> WorkflowRun:
    """What comes of the workflow with these variables; whatever fails in it stands in the record."""
    return await _Running(
        workflow, doing, progress, log, timing or WorkflowClock(), journal or CallJournal(CallState())
    ).run(given)


class _Running:
    """One run."""

    def __init__(
        self,
        workflow: Workflow,
        doing: WorkflowBackend,
        progress: StepListener,
        log: RunLog,
        timing: WorkflowClock,
        journal: CallJournal,
    ) -> None:
        self.workflow = workflow
        self.progress = progress
        self.log = log
        self.timing = timing
        self.journal = journal
        self.scope: dict[str, Any] = {"vars": {}, "steps": {}, "captures": {}}
        self.steps: list[StepRun] = []
        self.outputs: dict[str, Any] = {}
        self.warnings: list[str] = []
        self.held = 0
        self.digest = ""
        self._acting = StepRunner(doing, timing, self.scope, WaitAttempts())
        self.started_at, self.start = timing.now(), timing.clock()

    async def run(self, given: Mapping[str, object]) -> WorkflowRun:
        from anyio import get_cancelled_exc_class

        callers = _callers.get()
        token = _callers.set((*callers, self.workflow.name))
        try:
            failure = await self._failure(given, callers)
        except get_cancelled_exc_class():
            ##= man/spec/workflows.md#steps
            ##% A cancelled workflow MUST NOT begin another step, and the log MUST contain what became of each step.
            self.log(self._record(self._failed(FailureCode.CANCELLED, "it was cancelled")))
            raise
        finally:
            _callers.reset(token)
        record = self._record(failure)
        self.log(record)
        return record

    async def _failure(self, given: Mapping[str, object], callers: tuple[str, ...]) -> WorkflowFailure | None:
        """Everything is done; why it has failed where it has."""
        try:
            check_callers(self.workflow.name, callers)
            ##= man/spec/workflows.md#limits
            ##% The engine MUST refuse a workflow with more than 100 steps, one that calls itself, and one that is
            ##% nested more than five deep.
            if len(self.workflow.steps) > MAX_STEPS:
                message = f"{self.workflow.name} has {len(self.workflow.steps)} steps; it may have {MAX_STEPS}"
                raise WorkflowError(FailureCode.INVALID_REQUEST, message)
            self.scope["vars"] = resolve_variables(self.workflow, given)
            self.digest = digest_value([self.workflow, self.scope["vars"]])
            await self._all_steps()
            self.outputs = expand_references(self.workflow.outputs, self.scope, ("outputs",))
        except WorkflowError as error:
            return self._failed(error.code, error.message, error.hint, error.cause)
        except UnresolvedError as error:
            return self._failed(FailureCode.INVALID_REQUEST, error.message, error.hint)
        return None

    async def _all_steps(self) -> None:
        from anyio.lowlevel import checkpoint

        ##= man/spec/workflows.md#steps
        ##% The engine MUST run the steps in order, pass on what they capture, and skip the rest after a failure.
        total = len(self.workflow.steps)
        for number, step in enumerate(self.workflow.steps):
            ##= man/spec/workflows.md#steps
            ##% The engine MUST announce each step before it begins, and the end of the run.
            await self.progress(number, total, f"{step.id}: {step.description}" if step.description else step.id)
            # A tool may have kept its cancellation to itself.
            await checkpoint()
            await self._step(step)
        await self.progress(total, total, "done")

    async def _step(self, step: Step) -> None:
        """One step, with its place in the record whatever comes of it."""
        from anyio import get_cancelled_exc_class

        begun = self.timing.clock()
        status, message, result = "error", "", None
        try:
            came, earlier = await self._result_now_or_earlier(step)
            begun -= earlier
            result = came.value
            self._keep(step, came)
            status = "success"
        except (WorkflowError, UnresolvedError) as error:
            message = error.message
            raise
        except get_cancelled_exc_class():
            message = "it was cancelled"
            raise
        finally:
            self.steps.append(
                StepRun(
                    id=step.id,
                    status="success" if status == "success" else "error",
                    duration_seconds=self._since(begun),
                    message=clip_message(message),
                    result=result,
                )
            )

    async def _result_now_or_earlier(self, step: Step) -> tuple[StepResult, float]:
        """What comes of a step, and how many seconds it took in an earlier round, if it was done there."""
        ##= man/spec/workflows.md#steps
        ##% When a call is repeated to continue a workflow, the engine MUST NOT run finished steps again.
        self.journal.begin(f"{self.digest}-{len(self.steps)}")
        kept = self.journal.recall()
        if kept is not None:
            return StepResult(kept.result, kept.warnings), kept.seconds
        begun = self.timing.clock()
        came = await self._result(step)
        self.journal.keep(came.value, self._since(begun), came.warnings)
        return came, 0.0

    async def _result(self, step: Step) -> StepResult:
        """What comes of a step in the time that it has."""
        from anyio import move_on_after

        begun = self.timing.clock()
        left = self.start + self.workflow.time_limit - begun
        limit = left if step.time_limit is None else min(step.time_limit, left)
        late = limit <= 0
        if not late:
            try:
                with move_on_after(limit) as scope:
                    came = await self._acting.result_of(step, begun + limit)
                late = scope.cancel_called or self.timing.clock() > begun + limit
            except WorkflowError as error:
                # Who is told how long it has may say in its own words that this is over.
                late = error.code is not FailureCode.TIMEOUT and self.timing.clock() >= begun + limit
                if not late:
                    raise
        ##= man/spec/workflows.md#steps
        ##% A step that exceeds its own time limit, or that of the workflow, MUST fail with `timeout`.
        if late:
            whole = f"the workflow took longer than {self.workflow.time_limit:g} s"
            message = whole if limit == left else f"it took longer than {limit:g} s"
            ##= man/spec/workflows.md#steps
            ##% A wait MUST repeat its call at the given interval, also after an `upstream_error`, until the result is
            ##% as expected, another error occurs or its time is over.
            raise WorkflowError(FailureCode.TIMEOUT, self._acting.tries.fault or message)
        return came

    def _keep(self, step: Step, came: StepResult) -> None:
        """What later steps may refer to, once the result is as expected."""
        result = came.value
        ##= man/spec/workflows.md#steps
        ##% The warnings of tools and models MUST be warnings of the run.
        self.warnings += (clip_message(f"{step.id}: {warning}") for warning in came.warnings)
        ##= man/spec/workflows.md#limits
        ##% The engine MUST refuse values that are not JSON or deeper than 64 levels, arguments, prompts and outputs
        ##% above 1 MB, and results above 16 MB or 64 MB in total.
        self.held += measure_value(result)
        if self.held > _MOST_HELD:
            message = f"with its result those of all steps have more than {_MOST_HELD:,} bytes"
            raise WorkflowError(FailureCode.INVALID_REQUEST, message, hint="ask for less")
        within = {**self.scope, "result": result}
        verify_result(step, within)
        self.scope["captures"].update(capture_values(step, within))
        self.scope["steps"][step.id] = {"result": result, "status": "success"}

    def _failed(self, code: FailureCode, message: str, hint: str = "", cause: str = "") -> WorkflowFailure:
        failing = self.steps[-1].id if self.steps and self.steps[-1].status == "error" else ""
        return WorkflowFailure(
            code=code, message=clip_message(message), hint=clip_message(hint), step=failing, cause=cause
        )

    def _record(self, failure: WorkflowFailure | None) -> WorkflowRun:
        skipped = [StepRun(id=step.id, status="skipped") for step in self.workflow.steps[len(self.steps) :]]
        return bound_run(
            WorkflowRun(
                workflow=self.workflow.name,
                status="error" if failure else "success",
                outputs=self.outputs,
                steps=[*self.steps, *skipped][:MAX_STEPS],
                started_at=self.started_at,
                finished_at=self.timing.now(),
                duration_seconds=self._since(self.start),
                error=failure,
                warnings=self.warnings[:_MOST_WARNINGS],
            )
        )

    def _since(self, moment: float) -> float:
        return round(self.timing.clock() - moment, 3)


async def run_workflow(
    workflow: Workflow,
    given: Struct | Mapping[str, object],
    doing: WorkflowBackend,
    progress: StepListener = ignore_progress,
    log: RunLog = discard_run,
    journal: CallJournal | None = None,
) -> WorkflowRun:
    """What comes of the workflow with these arguments, be they the record that `workflow_inputs` makes or by name."""
    named = msgspec.to_builtins(given) if isinstance(given, Struct) else given
    return await run_steps(workflow, named, doing, progress=progress, log=log, journal=journal)
