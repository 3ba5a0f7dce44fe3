"""The records of a workflow, its variables and its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from duvet.config import service_tables, settings
from duvet.tools.arguments import find_unknown_argument
from duvet.tools.tool import ErrorCode, ToolError
from duvet.workflows.references import MAX_EXPANDED_BYTES, UnresolvedError, copy_plain_value

if TYPE_CHECKING:
    from duvet.workflows.recipe import StepTable


MAX_STEPS = 100
WORKFLOW_PREFIX = "workflow."
WORKFLOW_ALIAS_PREFIX = "workflow_"  # For clients that reject dots in the names of tools.
RECIPE_TOOL, RECIPE_ARGUMENT = "km-recipe-run", "recipe"  # The tool that runs recipes, and its argument for the name.
RECIPE_PREFIX = "recipe "  # Begins the workflow names of recipes; no configured workflow can have such a name.
_VARIABLE_TYPES: Mapping[service_tables.VariableType | None, tuple[Any, str]] = {
    None: (Any, "a value"),
    service_tables.VariableType.STRING: (str, "a string"),
    service_tables.VariableType.INTEGER: (int, "an integer"),
    service_tables.VariableType.NUMBER: (float, "a number"),
    service_tables.VariableType.BOOLEAN: (bool, "true or false"),
    service_tables.VariableType.ARRAY: (list[Any], "a list"),
    service_tables.VariableType.OBJECT: (dict[str, Any], "an object"),
}


class Variable(msgspec.Struct, frozen=True):
    kind: service_tables.VariableType | None = service_tables.VariableType.STRING  # None allows any type.
    description: str = ""
    default: Any = msgspec.UNSET


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    path: settings.NonBlankText
    equals: Any = msgspec.UNSET
    not_equals: Any = msgspec.UNSET
    exists: bool | msgspec.UnsetType = msgspec.UNSET


class Step(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    description: str = ""
    params: Mapping[str, Any] = {}
    expect: Mapping[str, Any] = {}  # Expected values by path.
    asserts: Sequence[Check] = ()
    capture: Sequence[service_tables.CaptureSection] = ()
    time_limit: float | None = None  # Seconds after which the step fails.


class ToolStep(Step, frozen=True, kw_only=True):
    tool: str


class ModelStep(Step, frozen=True, kw_only=True):
    """The parameters are `maxTokens` and `temperature`."""

    model: str
    prompt: str
    system: str | None = None


class WaitStep(Step, frozen=True, kw_only=True):
    """The time limit is for all calls together."""

    tool: str
    until: Check
    interval: float  # Seconds between the end of a call and the next call.


class Workflow(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    description: str
    steps: Sequence[Step]
    variables: Mapping[str, Variable] = {}
    outputs: Mapping[str, Any] = {}
    time_limit: float = 600.0  # Seconds after which the workflow fails.

    @property
    def noun(self) -> str:
        return "recipe" if self.name.startswith(RECIPE_PREFIX) else "workflow"


def find_called_workflow(tool: str) -> str:
    for prefix in (WORKFLOW_PREFIX, WORKFLOW_ALIAS_PREFIX):
        if tool.startswith(prefix):
            return tool.removeprefix(prefix)
    return ""


class WorkflowFailure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    code: ErrorCode
    message: str
    hint: str = ""
    step: str = ""  # The id of the failed step, if any.
    cause: str = ""  # The tool's or the model's own error code.

    def describe(self, name: str) -> str:
        where = f" in step {self.step}" if self.step else ""
        return f"{name} failed{where}: {self.message}"


class StepRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    status: Literal["success", "error", "skipped"]
    duration_seconds: float = 0.0
    message: str = ""
    result: Any = None


class WorkflowRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    workflow: str
    status: Literal["success", "error"]
    outputs: Mapping[str, Any]
    steps: Sequence[StepRun]
    started_at: datetime
    finished_at: datetime
    duration_seconds: float
    error: WorkflowFailure | None = None
    warnings: Sequence[str] = ()

    @property
    def cancellation(self) -> WorkflowFailure | None:
        return self.error if self.error and self.error.code is ErrorCode.CANCELLED else None


def make_input_record(workflow: Workflow) -> type[msgspec.Struct]:
    fields = []
    for number, (name, variable) in enumerate(workflow.variables.items()):
        kind: Any = _VARIABLE_TYPES[variable.kind][0]
        if variable.description:
            kind = Annotated[kind, msgspec.Meta(description=variable.description)]
        # A name that Python doesn't allow is used only as the encoded name.
        attribute, encoded = (name, None) if name.isidentifier() else (f"_{number}", name)
        default: dict[str, Any] = {} if variable.default is msgspec.UNSET else {"default": variable.default}
        if isinstance(variable.default, list | dict):
            default = {"default_factory": partial(deepcopy, variable.default)}
        fields.append((attribute, kind, msgspec.field(name=encoded, **default)))
    return msgspec.defstruct("Input", fields, frozen=True, kw_only=True, forbid_unknown_fields=True)


def resolve_variables(workflow: Workflow, given: Mapping[str, object]) -> dict[str, Any]:
    defaults = {name: one.default for name, one in workflow.variables.items() if one.default is not msgspec.UNSET}
    try:
        values = copy_plain_value({**defaults, **given}, MAX_EXPANDED_BYTES, "the input")
    except UnresolvedError as error:
        raise ToolError(ErrorCode.INVALID_REQUEST, error.message) from error
    ##= man/spec/workflows.md#variables
    ##% Before the first step, the engine MUST reject missing and unknown variables, and values of the wrong type.
    unknown = find_unknown_argument(
        workflow.name, given, tuple(workflow.variables), noun="variable", if_none="it has no variables"
    )
    if unknown:
        raise unknown
    return {
        name: resolve_variable(name, one, values.get(name, msgspec.UNSET)) for name, one in workflow.variables.items()
    }


def resolve_variable(name: str, variable: Variable, value: object) -> Any:
    if value is msgspec.UNSET:
        message = f"missing variable {name}"
        raise ToolError(ErrorCode.INVALID_REQUEST, message, variable.description)
    kind, noun = _VARIABLE_TYPES[variable.kind]
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message = f"variable {name} must be {noun}"
        raise ToolError(ErrorCode.INVALID_REQUEST, message, variable.description) from error


def make_configured_workflow(name: str, section: service_tables.WorkflowSection) -> Workflow:
    return Workflow(
        name=name,
        description=section.description,
        steps=tuple(map(compile_step, section.steps)),
        variables={key: Variable(one.type, one.description, one.default) for key, one in section.variables.items()},
        outputs=section.outputs,
        time_limit=section.timeout_seconds,
    )


def compile_step(table: service_tables.StepSection | StepTable) -> Step:
    common: dict[str, Any] = {
        "id": table.id,
        "description": table.description,
        "expect": table.expect,
        "asserts": tuple(map(_compile_check, table.asserts)),
        "capture": table.capture,
    }
    if table.wait is not None:
        limit = table.wait.timeout_seconds
        return WaitStep(
            tool=table.wait.tool,
            params=table.wait.params,
            until=_compile_check(table.wait.until),
            interval=table.wait.interval_seconds,
            time_limit=min(limit, table.timeout_seconds or limit),
            **common,
        )
    common |= {"params": table.params, "time_limit": table.timeout_seconds}
    if isinstance(table, service_tables.StepSection) and table.model is not None:
        return ModelStep(model=table.model, prompt=table.prompt or "", system=table.system, **common)
    return ToolStep(tool=table.tool or "", **common)


def _compile_check(table: service_tables.CheckSection | Check) -> Check:
    return Check(path=table.path, equals=table.equals, not_equals=table.not_equals, exists=table.exists)
