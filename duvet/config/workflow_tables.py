"""The `workflows` table of the service's configuration."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from duvet.config.fields import describe_missing_field
from duvet.config.service_tables import Name, Seconds
from duvet.config.settings import NonBlankText, ServiceSection, TableError, doc
from duvet.rules import CONFIG_BAD_VALUE, CONFIG_MISSING_KEY


class VariableType(StrEnum):
    """The type of a variable."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"

    def takes(self, value: Any) -> bool:
        if isinstance(value, bool):
            return self is VariableType.BOOLEAN
        if isinstance(value, float) and value.is_integer() and self is VariableType.INTEGER:
            return True
        return isinstance(value, _VALUES[self])


_VALUES: dict[VariableType, tuple[type, ...]] = {
    VariableType.STRING: (str,),
    VariableType.INTEGER: (int,),
    VariableType.NUMBER: (int, float),
    VariableType.BOOLEAN: (bool,),
    VariableType.ARRAY: (list,),
    VariableType.OBJECT: (dict,),
}


def check_exactly_one(present: list[str], known: list[str]) -> None:
    """Raise TableError unless exactly one of these keys is present."""
    named = ", ".join(f"`{name}`" for name in known)
    if not present:
        raise TableError(CONFIG_MISSING_KEY, f"missing one of {named}", "")
    if len(present) > 1:
        raise TableError(CONFIG_BAD_VALUE, f"only one of {named} is allowed", "keep one of them", present[1])


class VariableSection(ServiceSection, frozen=True, kw_only=True):
    """A workflow variable; required unless it has a default."""

    type: Annotated[VariableType, doc("Type of the value")] = VariableType.STRING
    description: Annotated[str, doc("Purpose of the variable")] = ""
    default: Annotated[Any, doc("Default value")] = UNSET

    def __post_init__(self) -> None:
        if self.default is not UNSET and not self.type.takes(self.default):
            message = f"the default is not of type `{self.type.value}`"
            raise TableError(CONFIG_BAD_VALUE, message, "change the default or the type", "default")


class CheckSection(ServiceSection, frozen=True, kw_only=True):
    """A check of a value in a result, with exactly one of `equals`, `notEquals` and `exists`."""

    path: Annotated[NonBlankText, doc("Path of the value, such as `result.items[0].status`")]
    equals: Annotated[Any, doc("Expected value")] = UNSET
    not_equals: Annotated[Any, doc("Value that fails the check")] = UNSET
    exists: Annotated[bool | UnsetType, doc("Whether the path must exist")] = UNSET

    def __post_init__(self) -> None:
        keys = {"equals": self.equals, "notEquals": self.not_equals, "exists": self.exists}
        check_exactly_one([name for name, value in keys.items() if value is not UNSET], list(keys))


# The JSON Schema keywords for the checks of `__post_init__`.
_ONE_CHECK = {"oneOf": [{"required": [name]} for name in ("equals", "notEquals", "exists")]}
_ONE_ACTION = {
    "oneOf": [{"required": [name]} for name in ("tool", "model", "wait")],
    "dependentRequired": {"model": ["prompt"], "prompt": ["model"], "system": ["model"]},
    "not": {"required": ["wait", "params"], "properties": {"params": {"minProperties": 1}}},
}
_OF_ITS_TYPE = {
    "anyOf": [
        {"not": {"required": ["type"]}, "properties": {"default": {"type": "string"}}},
        *(
            {"properties": {"type": {"const": type.value}, "default": {"type": type.value}}, "required": ["type"]}
            for type in VariableType
        ),
    ]
}
_Check = Annotated[CheckSection, Meta(extra_json_schema=_ONE_CHECK)]
_Variable = Annotated[VariableSection, Meta(extra_json_schema=_OF_ITS_TYPE)]


class CaptureSection(ServiceSection, frozen=True, kw_only=True):
    """A value in a result to store under a name."""

    name: Annotated[Name, doc("Name of the value, used as `${captures.NAME}`")]
    path: Annotated[NonBlankText, doc("Path of the value in the result")]


class WaitSection(ServiceSection, frozen=True, kw_only=True):
    """A tool to call repeatedly until its result passes a check."""

    tool: Annotated[NonBlankText, doc("Tool to call")]
    params: Annotated[dict[str, Any], doc("Arguments of the tool")] = field(default_factory=dict)
    until: Annotated[_Check, doc("Condition that ends the wait")]
    interval_seconds: Annotated[float, doc("Seconds between calls", ge=0.5, le=3600)] = 5.0
    timeout_seconds: Annotated[Seconds, doc("Time limit of the wait, in seconds")] = 300.0


class StepSection(ServiceSection, frozen=True, kw_only=True):
    """A workflow step with exactly one of `tool`, `model` and `wait`."""

    id: Annotated[Name, doc("Id of the step, used as `${steps.ID.result}`")]
    description: Annotated[str, doc("Purpose of the step")] = ""
    tool: Annotated[NonBlankText | None, doc("Tool to call")] = None
    model: Annotated[NonBlankText | None, doc("Model to ask: PROVIDER/MODEL, PROVIDER, or a task of `routing`")] = None
    wait: Annotated[WaitSection | None, doc("Tool to call until its result passes a check")] = None
    params: Annotated[dict[str, Any], doc("Arguments of the tool, or `maxTokens` and `temperature` for a model")] = (
        field(default_factory=dict)
    )
    prompt: Annotated[NonBlankText | None, doc("Prompt for the model")] = None
    system: Annotated[NonBlankText | None, doc("System prompt for the model")] = None
    expect: Annotated[dict[str, Any], doc("Expected values in the result, by path")] = field(default_factory=dict)
    asserts: Annotated[tuple[_Check, ...], doc("Additional checks of the result")] = field(default=(), name="assert")
    capture: Annotated[tuple[CaptureSection, ...], doc("Result values to store")] = ()
    timeout_seconds: Annotated[Seconds | None, doc("Time limit of the step, in seconds")] = None

    def __post_init__(self) -> None:
        keys = {"tool": self.tool, "model": self.model, "wait": self.wait}
        check_exactly_one([name for name, value in keys.items() if value is not None], list(keys))
        if self.model is not None and self.prompt is None:
            raise TableError(
                CONFIG_MISSING_KEY, describe_missing_field("prompt"), "add a `prompt` for the model", "model"
            )
        for name, value in {"prompt": self.prompt, "system": self.system}.items():
            if value is not None and self.model is None:
                raise TableError(
                    CONFIG_BAD_VALUE, f"`{name}` requires a `model`", "add a `model`, or remove this key", name
                )
        if self.wait is not None and self.params:
            raise TableError(
                CONFIG_BAD_VALUE, "`params` can't be used with `wait`", "move the arguments to `wait.params`", "params"
            )


_Step = Annotated[StepSection, Meta(extra_json_schema=_ONE_ACTION)]


class WorkflowSection(ServiceSection, frozen=True, kw_only=True):
    """A list of steps that run in order."""

    description: Annotated[NonBlankText, doc("Description that helps agents choose the workflow")]
    variables: Annotated[dict[Name, _Variable], doc("Variables by name")] = field(default_factory=dict)
    steps: Annotated[tuple[_Step, ...], doc("Steps in order", min_length=1)]
    outputs: Annotated[dict[str, Any], doc("Result of the workflow, such as `${captures.NAME}`")] = field(
        default_factory=dict
    )
    timeout_seconds: Annotated[Seconds, doc("Time limit of the workflow, in seconds")] = 600.0
