"""What a workflow is told: its variables as the record of a tool, and what is given for them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct

from duvet.config.service.workflows import VariableType as Kind
from duvet.runs import FailureCode
from duvet.text import quoted, shortened
from duvet.workflows.errors import UnresolvedError, WorkflowError
from duvet.workflows.plain import plain
from duvet.workflows.records import Variable, Workflow
from duvet.workflows.references import MOST_BYTES

TYPES: Mapping[Kind | None, Any] = {
    None: Any,
    Kind.STRING: str,
    Kind.INTEGER: int,
    Kind.NUMBER: float,
    Kind.BOOLEAN: bool,
    Kind.ARRAY: list[Any],
    Kind.OBJECT: dict[str, Any],
}


def workflow_inputs(workflow: Workflow) -> type[Struct]:
    """The record of the arguments of its tool; a name that Python can't have stands in the encoded names alone."""
    ##= man/spec/workflows.md#variables
    ##% The tool of a workflow MUST take its variables as arguments, each with its type, its description and its
    ##% default.
    fields = [_field(number, name, one) for number, (name, one) in enumerate(workflow.variables.items())]
    return msgspec.defstruct("Input", fields, frozen=True, kw_only=True, forbid_unknown_fields=True)


def variables(workflow: Workflow, given: Mapping[str, object]) -> dict[str, Any]:
    """What is given and what is by default; WorkflowError where that is not what the workflow asks for."""
    defaults = {name: one.default for name, one in workflow.variables.items() if one.default is not UNSET}
    try:
        told = plain({**defaults, **given}, MOST_BYTES, "what is given")
    except UnresolvedError as error:
        raise WorkflowError(FailureCode.INVALID_REQUEST, error.message) from error
    ##= man/spec/workflows.md#variables
    ##% Variables that are missing, unknown or of another type MUST be refused as `invalid_request`, with their names,
    ##% before any step.
    for name in given:
        if name not in workflow.variables:
            raise _unknown(workflow, name)
    return {name: value_of(name, one, told.get(name, UNSET)) for name, one in workflow.variables.items()}


def _field(number: int, name: str, variable: Variable) -> tuple[str, Any, Any]:
    kind = TYPES[variable.kind]
    described = Annotated[kind, Meta(description=variable.description)] if variable.description else kind
    python, encoded = (name, None) if name.isidentifier() else (f"_{number}", name)
    if variable.default is UNSET:
        return python, described, msgspec.field(name=encoded)
    if isinstance(variable.default, list | dict):
        return python, described, msgspec.field(name=encoded, default_factory=partial(deepcopy, variable.default))
    return python, described, msgspec.field(name=encoded, default=variable.default)


def value_of(name: str, variable: Variable, told: object) -> Any:
    """What is told for a variable; WorkflowError where that is not of its type."""
    if told is UNSET:
        message = f"the variable {name} is missing"
        raise WorkflowError(FailureCode.INVALID_REQUEST, message, hint=variable.description)
    try:
        return msgspec.convert(told, TYPES[variable.kind])
    except msgspec.ValidationError as error:
        message = f"the variable {name} has to be {NAMED[variable.kind]}"
        raise WorkflowError(FailureCode.INVALID_REQUEST, message, hint=variable.description) from error


NAMED: Mapping[Kind | None, str] = {
    None: "a value",
    Kind.STRING: "a text",
    Kind.INTEGER: "a whole number",
    Kind.NUMBER: "a number",
    Kind.BOOLEAN: "true or false",
    Kind.ARRAY: "a list",
    Kind.OBJECT: "an object",
}


def _unknown(workflow: Workflow, name: str) -> WorkflowError:
    from duvet.queries.names import nearest_hint

    known = tuple(workflow.variables)
    hint = nearest_hint(shortened(name), known) or (f"there are {', '.join(known)}" if known else "it has none")
    message = f"{workflow.name} has no variable {quoted(shortened(name))}"
    return WorkflowError(FailureCode.INVALID_REQUEST, message, hint=hint)
