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
    """What a variable can be."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"

    def takes(self, value: Any) -> bool:
        """Check a value against this type of JSON Schema."""
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
    """Raise TableError unless exactly one of the keys is present."""
    named = ", ".join(f"`{name}`" for name in known)
    if not present:
        raise TableError(CONFIG_MISSING_KEY, f"one of {named} has to be here", "")
    if len(present) > 1:
        raise TableError(CONFIG_BAD_VALUE, f"only one of {named} can be here", "keep one of them", present[1])


class VariableSection(ServiceSection, frozen=True, kw_only=True):
    """What a workflow is told. Without a default it has to be."""

    type: Annotated[VariableType, doc("What it can be")] = VariableType.STRING
    description: Annotated[str, doc("What it is for")] = ""
    default: Annotated[Any, doc("What it is where nothing is said")] = UNSET

    def __post_init__(self) -> None:
        if self.default is not UNSET and not self.type.takes(self.default):
            message = f"the default is not of the type `{self.type.value}`"
            raise TableError(CONFIG_BAD_VALUE, message, "change the one or the other", "default")


class CheckSection(ServiceSection, frozen=True, kw_only=True):
    """Something that has to hold of a result; one of the three is given."""

    path: Annotated[NonBlankText, doc("Where to look, as in `result.items[0].status`")]
    equals: Annotated[Any, doc("What stands there")] = UNSET
    not_equals: Annotated[Any, doc("What doesn't stand there")] = UNSET
    exists: Annotated[bool | UnsetType, doc("Whether anything stands there")] = UNSET

    def __post_init__(self) -> None:
        ##= man/spec/workflows.md#checks
        ##% duvet MUST check a workflow without running it, and list every problem with the path of its key.
        keys = {"equals": self.equals, "notEquals": self.not_equals, "exists": self.exists}
        check_exactly_one([name for name, value in keys.items() if value is not UNSET], list(keys))


# The keywords of JSON Schema for what `__post_init__` checks.
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
    """Something to keep of a result."""

    name: Annotated[Name, doc("What it is called from then on, as in `${captures.NAME}`")]
    path: Annotated[NonBlankText, doc("Where it stands")]


class WaitSection(ServiceSection, frozen=True, kw_only=True):
    """A tool to be called until its result is as wanted."""

    tool: Annotated[NonBlankText, doc("Which tool")]
    params: Annotated[dict[str, Any], doc("Its arguments")] = field(default_factory=dict)
    until: Annotated[_Check, doc("What has to hold")]
    interval_seconds: Annotated[float, doc("Seconds from the end of a call to the next", ge=0.5, le=3600)] = 5.0
    timeout_seconds: Annotated[Seconds, doc("Seconds after which the step has failed")] = 300.0


class StepSection(ServiceSection, frozen=True, kw_only=True):
    """A step: one of `tool`, `model` and `wait`."""

    id: Annotated[Name, doc("What later steps call it, as in `${steps.ID.result}`")]
    description: Annotated[str, doc("What it is for")] = ""
    tool: Annotated[NonBlankText | None, doc("The tool to call")] = None
    model: Annotated[NonBlankText | None, doc("The model to ask: PROVIDER/MODEL, PROVIDER, or a task of `routing`")] = (
        None
    )
    wait: Annotated[WaitSection | None, doc("The tool to call until its result is as wanted")] = None
    params: Annotated[dict[str, Any], doc("Arguments of the tool, or `maxTokens` and `temperature` for a model")] = (
        field(default_factory=dict)
    )
    prompt: Annotated[NonBlankText | None, doc("What the model is asked")] = None
    system: Annotated[NonBlankText | None, doc("What the model is told before")] = None
    expect: Annotated[dict[str, Any], doc("By path, what has to stand in the result")] = field(default_factory=dict)
    asserts: Annotated[tuple[_Check, ...], doc("What else has to hold of it")] = field(default=(), name="assert")
    capture: Annotated[tuple[CaptureSection, ...], doc("What to keep of it")] = ()
    timeout_seconds: Annotated[Seconds | None, doc("Seconds after which the step has failed")] = None

    def __post_init__(self) -> None:
        keys = {"tool": self.tool, "model": self.model, "wait": self.wait}
        check_exactly_one([name for name, value in keys.items() if value is not None], list(keys))
        if self.model is not None and self.prompt is None:
            raise TableError(
                CONFIG_MISSING_KEY, describe_missing_field("prompt"), "say what the model is asked", "model"
            )
        for name, value in {"prompt": self.prompt, "system": self.system}.items():
            if value is not None and self.model is None:
                raise TableError(CONFIG_BAD_VALUE, "this is for a step with a `model`", "leave it out", name)
        if self.wait is not None and self.params:
            raise TableError(CONFIG_BAD_VALUE, "the arguments of the tool stand in `wait`", "move them there", "params")


_Step = Annotated[StepSection, Meta(extra_json_schema=_ONE_ACTION)]


class WorkflowSection(ServiceSection, frozen=True, kw_only=True):
    """Steps, one after another."""

    description: Annotated[NonBlankText, doc("What it does, for who chooses it")]
    variables: Annotated[dict[Name, _Variable], doc("What it is told, by name")] = field(default_factory=dict)
    steps: Annotated[tuple[_Step, ...], doc("What it does, in this order", min_length=1)]
    outputs: Annotated[dict[str, Any], doc("What it answers, such as `${captures.NAME}`")] = field(default_factory=dict)
    timeout_seconds: Annotated[Seconds, doc("Seconds after which it has failed")] = 600.0
