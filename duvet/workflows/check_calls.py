"""Calls that can't be right: no such tool or model, wrong arguments, and workflows that call themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from duvet.text import quoted, shortened
from duvet.workflows.acting import ModelParams
from duvet.workflows.fault import Fault
from duvet.workflows.known import Known, tool_of
from duvet.workflows.nesting import fault_of
from duvet.workflows.paths import Path
from duvet.workflows.plain import plain
from duvet.workflows.records import ModelStep, Step, WaitStep, Workflow
from duvet.workflows.references import MOST_BYTES, is_constant


def calls_of(step: Step, keys: Path, known: Known) -> Iterator[Fault]:
    """What is wrong with what the step calls."""
    if isinstance(step, ModelStep):
        yield from _model(step, keys, known)
        return
    at = (*keys, "wait") if isinstance(step, WaitStep) else keys
    tool = tool_of(step)
    if tool not in known:
        yield Fault(keys=(*at, "tool"), message=f"there is no tool {_named(tool)}", hint=_hint(tool, known.names))
        return
    yield from _arguments(step.params, known.input(tool), (*at, "params"), tool)
    ##= man/spec/workflows.md#checks
    ##% A wait for a tool that writes MUST be a warning.
    if isinstance(step, WaitStep) and known.writes(tool):
        message = f"{tool} writes, and is called again and again"
        yield Fault(keys=(*at, "tool"), message=message, hint="wait for one that only reads", is_warning=True)


def self_calls(workflow: Workflow, known: Known) -> Iterator[Fault]:
    """The steps through which the workflow calls itself, or goes too deep."""
    for number, step in enumerate(workflow.steps):
        fault = _deeper(step, (workflow.name,), known, set())
        if fault:
            at = ("wait", "tool") if isinstance(step, WaitStep) else ("tool",)
            yield Fault(keys=("steps", number, *at), message=fault)


def _deeper(step: Step, callers: tuple[str, ...], known: Known, seen: set[tuple[str, int]]) -> str:
    """Why the step must not be done there; what has been looked at as deep in is not looked at again."""
    workflow = known.inner(step)
    if workflow is None or (workflow.name, len(callers)) in seen:
        return ""
    fault = fault_of(workflow.name, callers)
    # A circle of others is told of them.
    if fault:
        return fault if workflow.name == callers[0] or workflow.name not in callers else ""
    seen.add((workflow.name, len(callers)))
    way = (*callers, workflow.name)
    return next(filter(None, (_deeper(one, way, known, seen) for one in workflow.steps)), "")


def _model(step: ModelStep, keys: Path, known: Known) -> Iterator[Fault]:
    if not known.has_model(step.model):
        hint = _hint(step.model, sorted(known.models)) or "name a provider, or a task of routing"
        yield Fault(keys=(*keys, "model"), message=f"there is no model {_named(step.model)}", hint=hint)
    yield from _arguments(step.params, ModelParams, (*keys, "params"), "a model")


def _arguments(params: Mapping[str, Any], record: type[Struct], keys: Path, tool: str) -> Iterator[Fault]:
    takes = {field.encode_name: field for field in fields(record)}
    ##= man/spec/workflows.md#checks
    ##% A tool, an argument, a variable, a step, a capture or a model that is not known MUST be named, with the nearest
    ##% one where there is one.
    for name, value in params.items():
        if name not in takes:
            there = f"there are {', '.join(takes)}" if takes else "it has none"
            message = f"{tool} has no argument {_named(name)}"
            yield Fault(keys=(*keys, name), message=message, hint=_hint(name, takes) or there)
        elif value is not None and is_constant(value):
            yield from _constant(value, takes[name], (*keys, name))
    ##= man/spec/workflows.md#checks
    ##% An argument that its tool needs and is not given, and a constant of the wrong type, MUST be named.
    for name, field in takes.items():
        if field.required and params.get(name) is None:
            yield Fault(keys=keys, message=f"{tool} needs the argument {name}")


def _constant(value: Any, field: FieldInfo, keys: Path) -> Iterator[Fault]:
    try:
        msgspec.convert(plain(value, MOST_BYTES, field.encode_name), field.type)
    except msgspec.ValidationError as error:
        what = str(error).replace("`", "").replace(" | null", "")
        yield Fault(keys=keys, message=f"{what[:1].lower()}{what[1:]}")


def _named(name: str) -> str:
    return quoted(shortened(name))


def _hint(wanted: str, known: Iterable[str]) -> str:
    from duvet.queries.names import nearest_hint

    return nearest_hint(shortened(wanted), list(known))
