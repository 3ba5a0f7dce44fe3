"""Variables of a workflow, and workflows from the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct

from duvet.config.workflow_tables import CheckSection, StepSection, WaitSection, WorkflowSection
from duvet.config.workflow_tables import VariableType as Kind
from duvet.text import quote_text, shorten_text
from duvet.workflows.references import MAX_EXPANDED_BYTES, UnresolvedError, WorkflowError, copy_plain_value
from duvet.workflows.workflow import (
    Capture,
    Check,
    FailureCode,
    ModelStep,
    Step,
    ToolStep,
    Variable,
    WaitStep,
    Workflow,
)

VARIABLE_TYPES: Mapping[Kind | None, Any] = {
    None: Any,
    Kind.STRING: str,
    Kind.INTEGER: int,
    Kind.NUMBER: float,
    Kind.BOOLEAN: bool,
    Kind.ARRAY: list[Any],
    Kind.OBJECT: dict[str, Any],
}


def make_input_record(workflow: Workflow) -> type[Struct]:
    """The record of the arguments of its tool; a name that Python can't have stands in the encoded names alone."""
    fields = [_field(number, name, one) for number, (name, one) in enumerate(workflow.variables.items())]
    return msgspec.defstruct("Input", fields, frozen=True, kw_only=True, forbid_unknown_fields=True)


def resolve_variables(workflow: Workflow, given: Mapping[str, object]) -> dict[str, Any]:
    """What is given and what is by default; WorkflowError where that is not what the workflow asks for."""
    defaults = {name: one.default for name, one in workflow.variables.items() if one.default is not UNSET}
    try:
        told = copy_plain_value({**defaults, **given}, MAX_EXPANDED_BYTES, "what is given")
    except UnresolvedError as error:
        raise WorkflowError(FailureCode.INVALID_REQUEST, error.message) from error
    ##= man/spec/workflows.md#variables
    ##% The tool of a workflow MUST take the workflow's variables as typed arguments, and refuse missing, unknown and
    ##% mistyped ones by name before the first step.
    for name in given:
        if name not in workflow.variables:
            raise _unknown(workflow, name)
    return {name: resolve_variable(name, one, told.get(name, UNSET)) for name, one in workflow.variables.items()}


def _field(number: int, name: str, variable: Variable) -> tuple[str, Any, Any]:
    kind = VARIABLE_TYPES[variable.kind]
    described = Annotated[kind, Meta(description=variable.description)] if variable.description else kind
    python, encoded = (name, None) if name.isidentifier() else (f"_{number}", name)
    if variable.default is UNSET:
        return python, described, msgspec.field(name=encoded)
    if isinstance(variable.default, list | dict):
        return python, described, msgspec.field(name=encoded, default_factory=partial(deepcopy, variable.default))
    return python, described, msgspec.field(name=encoded, default=variable.default)


def resolve_variable(name: str, variable: Variable, told: object) -> Any:
    """What is told for a variable; WorkflowError where that is not of its type."""
    if told is UNSET:
        message = f"the variable {name} is missing"
        raise WorkflowError(FailureCode.INVALID_REQUEST, message, hint=variable.description)
    try:
        return msgspec.convert(told, VARIABLE_TYPES[variable.kind])
    except msgspec.ValidationError as error:
        message = f"the variable {name} has to be {TYPE_NAMES[variable.kind]}"
        raise WorkflowError(FailureCode.INVALID_REQUEST, message, hint=variable.description) from error


TYPE_NAMES: Mapping[Kind | None, str] = {
    None: "a value",
    Kind.STRING: "a text",
    Kind.INTEGER: "a whole number",
    Kind.NUMBER: "a number",
    Kind.BOOLEAN: "true or false",
    Kind.ARRAY: "a list",
    Kind.OBJECT: "an object",
}


def _unknown(workflow: Workflow, name: str) -> WorkflowError:
    from duvet.trace.names import suggest_nearest

    known = tuple(workflow.variables)
    hint = suggest_nearest(shorten_text(name), known) or (f"there are {', '.join(known)}" if known else "it has none")
    message = f"{workflow.name} has no variable {quote_text(shorten_text(name))}"
    return WorkflowError(FailureCode.INVALID_REQUEST, message, hint=hint)


def make_configured_workflow(name: str, section: WorkflowSection) -> Workflow:
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
