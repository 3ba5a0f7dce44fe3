"""Workflows as a configuration writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from duvet.config.service.workflows import CheckSection, StepSection, WaitSection, WorkflowSection
from duvet.runs import FailureCode
from duvet.workflows.errors import WorkflowError
from duvet.workflows.fault import Fault
from duvet.workflows.paths import Path
from duvet.workflows.records import Capture, Check, Kind, ModelStep, Step, ToolStep, Variable, WaitStep, Workflow

_KINDS = ("tool", "model", "wait")
_TESTS = ("equals", "notEquals", "exists")


def from_config(name: str, section: WorkflowSection) -> Workflow:
    """The workflow that the section is; WorkflowError where it is none."""
    for fault in malformed(section):
        raise WorkflowError(FailureCode.INVALID_REQUEST, f"{name}: {fault.path}: {fault.message}", hint=fault.hint)
    return Workflow(
        name=name,
        description=section.description,
        steps=tuple(map(_step, section.steps)),
        variables={
            key: Variable(Kind(one.type), one.description, one.default) for key, one in section.variables.items()
        },
        outputs=section.outputs,
        time_limit=section.timeout_seconds,
    )


def malformed(section: WorkflowSection) -> Iterator[Fault]:
    """What stands in the section that can't stand together."""
    ##= man/spec/workflows.md#checks
    ##% A section that is not one kind of step, or a check that does not ask one thing, MUST be named.
    for number, step in enumerate(section.steps):
        keys: Path = ("steps", number)
        kinds = [kind for kind in _KINDS if getattr(step, kind) is not None]
        if len(kinds) != 1:
            written = f"it has {' and '.join(kinds)}" if kinds else "it has none of them"
            yield Fault(keys=keys, message=f"a step has one of tool, model and wait; {written}")
        else:
            yield from _misplaced(step, kinds[0], keys)
        if step.wait is not None:
            yield from _not_one((*keys, "wait", "until"), step.wait.until)
        for index, check in enumerate(step.asserts):
            yield from _not_one((*keys, "assert", index), check)


def _misplaced(step: StepSection, kind: str, keys: Path) -> Iterator[Fault]:
    for name in ("prompt", "system"):
        if kind != "model" and getattr(step, name) is not None:
            yield Fault(keys=(*keys, name), message=f"{name} is for a model; this step has {kind}")
    if kind == "model" and step.prompt is None:
        yield Fault(keys=keys, message="a model needs a prompt")
    if kind == "wait" and step.params:
        yield Fault(keys=(*keys, "params"), message="the params of the tool stand in wait", hint="move them there")


def _not_one(keys: Path, check: CheckSection) -> Iterator[Fault]:
    written = [
        name
        for name, value in zip(_TESTS, (check.equals, check.not_equals, check.exists), strict=True)
        if value is not UNSET
    ]
    if len(written) != 1:
        has = f"it has {' and '.join(written)}" if written else "it has none of them"
        yield Fault(keys=keys, message=f"a check has one of equals, notEquals and exists; {has}")


def _step(section: StepSection) -> Step:
    common: dict[str, Any] = {
        "id": section.id,
        "description": section.description,
        "expect": section.expect,
        "asserts": tuple(map(_check, section.asserts)),
        "capture": tuple(Capture(one.name, one.path) for one in section.capture),
    }
    if section.wait is not None:
        return _wait(section.wait, section.timeout_seconds, common)
    common |= {"params": section.params, "time_limit": section.timeout_seconds}
    if section.model is not None:
        return ModelStep(model=section.model, prompt=section.prompt or "", system=section.system, **common)
    return ToolStep(tool=section.tool or "", **common)


def _wait(section: WaitSection, time_limit: float | None, common: dict[str, Any]) -> Step:
    return WaitStep(
        tool=section.tool,
        params=section.params,
        until=_check(section.until),
        interval=section.interval_seconds,
        time_limit=min(section.timeout_seconds, time_limit or section.timeout_seconds),
        **common,
    )


def _check(section: CheckSection) -> Check:
    return Check(path=section.path, equals=section.equals, not_equals=section.not_equals, exists=section.exists)
