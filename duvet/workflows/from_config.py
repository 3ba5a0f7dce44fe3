"""Workflows as a configuration writes them."""

from __future__ import annotations

from typing import Any

from duvet.config.service.workflows import CheckSection, StepSection, WaitSection, WorkflowSection
from duvet.workflows.records import Capture, Check, ModelStep, Step, ToolStep, Variable, WaitStep, Workflow


def from_config(name: str, section: WorkflowSection) -> Workflow:
    """The workflow that the section is."""
    return Workflow(
        name=name,
        description=section.description,
        steps=tuple(map(_step, section.steps)),
        variables={key: Variable(one.type, one.description, one.default) for key, one in section.variables.items()},
        outputs=section.outputs,
        time_limit=section.timeout_seconds,
    )


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
