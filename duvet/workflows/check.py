"""Checks a workflow without running it: calls, references, cycles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import FieldInfo, fields, replace

from duvet.config.check import DocumentLocation
from duvet.config.document import DataDocument
from duvet.model import Problem, Severity
from duvet.rules import CONFIG_BAD_VALUE
from duvet.text import quote_text, shorten_text
from duvet.tools.tool import Tool
from duvet.trace.names import suggest_nearest
from duvet.workflows.inputs import make_input_record, resolve_variable
from duvet.workflows.references import (
    MAX_EXPANDED_BYTES,
    Reference,
    UnresolvedError,
    ValuePath,
    WorkflowError,
    copy_plain_value,
    find_texts,
    format_path,
    is_constant,
    split_references,
)
from duvet.workflows.steps import SCOPE_ROOTS, ModelParams, find_nesting_fault, parse_scope_path
from duvet.workflows.workflow import (
    MAX_STEPS,
    RECIPE_ARGUMENT,
    RECIPE_TOOL,
    Check,
    ModelStep,
    Step,
    ToolStep,
    WaitStep,
    Workflow,
    find_called_workflow,
    tool_name,
)


class WorkflowFault(Struct, frozen=True, kw_only=True):
    """Something that is wrong, and where."""

    keys: ValuePath
    """From the workflow on, as it is written in a configuration."""
    message: str
    hint: str = ""
    is_warning: bool = False
    root: str = ""
    """What a reference that leads nowhere begins with."""

    @property
    def path(self) -> str:
        """`steps[2].params.query`"""
        return format_path(self.keys)


class WorkflowEnvironment(Struct, frozen=True, kw_only=True):
    """What the steps of a workflow can call."""

    tools: Mapping[str, Tool]
    workflows: Mapping[str, Workflow]
    """By their own name; their tools need not stand among the others."""
    models: Collection[str]
    """Providers, tasks, and models as PROVIDER/MODEL."""
    recipes: Mapping[str, Workflow] = {}
    """By their own name, those with faults as far as they are understood."""
    faulty: Collection[str] = ()
    """The recipes that can't be run, for there are faults in what stands in their files."""

    def __contains__(self, tool: str) -> bool:
        return tool in self.tools or find_called_workflow(tool) in self.workflows

    @property
    def names(self) -> list[str]:
        """What all tools are called."""
        return sorted({*self.tools, *map(tool_name, self.workflows)})

    def input(self, tool: str) -> type[Struct]:
        """The record of the arguments of a tool that there is."""
        workflow = self.workflow(tool)
        return make_input_record(workflow) if workflow else self.tools[tool].input

    def workflow(self, tool: str) -> Workflow | None:
        """The workflow that the tool is."""
        return self.workflows.get(find_called_workflow(tool))

    def inner(self, step: Step) -> Workflow | None:
        """The workflow, or the recipe, that a step calls, where that can be told before it is run."""
        tool = find_step_tool(step)
        name = step.params.get(RECIPE_ARGUMENT) if tool == RECIPE_TOOL else None
        return self.recipes.get(name) if isinstance(name, str) else self.workflow(tool)

    def writes(self, tool: str) -> bool:
        """Whether the tool changes anything, be it through others."""
        return not all(one.only_reads for one in self.reached([tool]))

    def reached(self, tools: Iterable[str]) -> Iterator[Tool]:
        """The tools that are called in the end, be it through workflows."""
        ahead, seen = [*tools], set[str]()
        while ahead:
            name = ahead.pop()
            if name in seen:
                continue
            seen.add(name)
            if inner := self.workflow(name):
                ahead += list_step_tools(inner)
            elif name in self.tools:
                yield self.tools[name]

    def has_model(self, name: str) -> bool:
        """Whether there is a model of that name; a provider has any model."""
        return name in self.models or name.partition("/")[0] in self.models


def find_step_tool(step: Step) -> str:
    """The tool that a step calls; empty where it calls none."""
    return step.tool if isinstance(step, ToolStep | WaitStep) else ""


def list_step_tools(workflow: Workflow) -> Iterator[str]:
    """The tools that the steps call."""
    return (step.tool for step in workflow.steps if isinstance(step, ToolStep | WaitStep))


def check_step_calls(step: Step, keys: ValuePath, known: WorkflowEnvironment) -> Iterator[WorkflowFault]:
    """What is wrong with what the step calls."""
    if isinstance(step, ModelStep):
        yield from _model(step, keys, known)
        return
    at = (*keys, "wait") if isinstance(step, WaitStep) else keys
    tool = find_step_tool(step)
    if tool not in known:
        yield WorkflowFault(
            keys=(*at, "tool"), message=f"there is no tool {_named(tool)}", hint=_hint(tool, known.names)
        )
        return
    yield from _arguments(step.params, known.input(tool), (*at, "params"), tool)
    if isinstance(step, WaitStep) and known.writes(tool):
        message = f"{tool} writes, and is called again and again"
        yield WorkflowFault(keys=(*at, "tool"), message=message, hint="wait for one that only reads", is_warning=True)


def find_self_calls(workflow: Workflow, known: WorkflowEnvironment) -> Iterator[WorkflowFault]:
    """The steps through which the workflow calls itself, or goes too deep."""
    for number, step in enumerate(workflow.steps):
        fault = _deeper(step, (workflow.name,), known, set())
        if fault:
            at = ("wait", "tool") if isinstance(step, WaitStep) else ("tool",)
            yield WorkflowFault(keys=("steps", number, *at), message=fault)


def _deeper(step: Step, callers: tuple[str, ...], known: WorkflowEnvironment, seen: set[tuple[str, int]]) -> str:
    """Why the step must not be done there; what has been looked at as deep in is not looked at again."""
    workflow = known.inner(step)
    if workflow is None or (workflow.name, len(callers)) in seen:
        return ""
    fault = find_nesting_fault(workflow.name, callers)
    # A circle of others is told of them.
    if fault:
        return fault if workflow.name == callers[0] or workflow.name not in callers else ""
    seen.add((workflow.name, len(callers)))
    way = (*callers, workflow.name)
    return next(filter(None, (_deeper(one, way, known, seen) for one in workflow.steps)), "")


def _model(step: ModelStep, keys: ValuePath, known: WorkflowEnvironment) -> Iterator[WorkflowFault]:
    if not known.has_model(step.model):
        hint = _hint(step.model, sorted(known.models)) or "name a provider, or a task of routing"
        yield WorkflowFault(keys=(*keys, "model"), message=f"there is no model {_named(step.model)}", hint=hint)
    yield from _arguments(step.params, ModelParams, (*keys, "params"), "a model")


def _arguments(params: Mapping[str, Any], record: type[Struct], keys: ValuePath, tool: str) -> Iterator[WorkflowFault]:
    takes = {field.encode_name: field for field in fields(record)}
    ##= man/spec/workflows.md#checks
    ##% The check MUST find unknown names, missing and mistyped arguments, references to later steps, and waits for
    ##% tools that write.
    for name, value in params.items():
        if name not in takes:
            there = f"there are {', '.join(takes)}" if takes else "it has none"
            message = f"{tool} has no argument {_named(name)}"
            yield WorkflowFault(keys=(*keys, name), message=message, hint=_hint(name, takes) or there)
        elif value is not None and is_constant(value):
            yield from _constant(value, takes[name], (*keys, name))
    for name, field in takes.items():
        if field.required and params.get(name) is None:
            yield WorkflowFault(keys=keys, message=f"{tool} needs the argument {name}")


def _constant(value: Any, field: FieldInfo, keys: ValuePath) -> Iterator[WorkflowFault]:
    try:
        msgspec.convert(copy_plain_value(value, MAX_EXPANDED_BYTES, field.encode_name), field.type)
    except msgspec.ValidationError as error:
        what = str(error).replace("`", "").replace(" | null", "")
        yield WorkflowFault(keys=keys, message=f"{what[:1].lower()}{what[1:]}")


def _named(name: str) -> str:
    return quote_text(shorten_text(name))


def _hint(wanted: str, known: Iterable[str]) -> str:
    return suggest_nearest(shorten_text(wanted), list(known))


_OF_A_STEP = ("result", "status")


class ReferenceScope:
    """What references may lead to, so far."""

    def __init__(self, workflow: Workflow) -> None:
        self.names = {"vars": [*workflow.variables], "steps": list[str](), "captures": list[str]()}
        self.later = {
            "vars": list[str](),
            "steps": [step.id for step in workflow.steps],
            "captures": [capture.name for step in workflow.steps for capture in step.capture],
        }

    def references_of(self, step: Step, keys: ValuePath) -> Iterator[WorkflowFault]:
        """What is wrong with those of the next step, which counts as done from then on."""
        yield from self._in_arguments(step, keys)
        for path, value in step.expect.items():
            yield from self._in_check(Check(path=path, equals=value), (*keys, "expect", path), "")
        for number, check in enumerate(step.asserts):
            yield from self._in_check(check, (*keys, "assert", number), "path")
        for number, capture in enumerate(step.capture):
            yield from self._path(capture.path, (*keys, "capture", number, "path"))
        self.names["captures"] += [capture.name for capture in step.capture]
        self.names["steps"].append(step.id)

    def in_value(self, value: Any, keys: ValuePath, *, has_result: bool = False) -> Iterator[WorkflowFault]:
        """What is wrong with the references in a value."""
        for where, text in find_texts(value, keys):
            try:
                found = dict.fromkeys(piece for piece in split_references(text) if isinstance(piece, Reference))
            except UnresolvedError as error:
                yield WorkflowFault(keys=where, message=error.message, hint=error.hint)
                continue
            for reference in found:
                yield from self._leads(reference.path, reference.text, where, has_result)

    def _in_arguments(self, step: Step, keys: ValuePath) -> Iterator[WorkflowFault]:
        waiting = isinstance(step, WaitStep)
        yield from self.in_value(step.params, (*keys, "wait", "params") if waiting else (*keys, "params"))
        if isinstance(step, WaitStep):
            yield from self._in_check(step.until, (*keys, "wait", "until"), "path")
        if isinstance(step, ModelStep):
            yield from self.in_value(step.prompt, (*keys, "prompt"))
            yield from self.in_value(step.system, (*keys, "system"))

    def _in_check(self, check: Check, keys: ValuePath, path: str) -> Iterator[WorkflowFault]:
        yield from self._path(check.path, (*keys, path) if path else keys)
        yield from self.in_value(check.equals, (*keys, "equals") if path else keys, has_result=True)
        yield from self.in_value(check.not_equals, (*keys, "notEquals"), has_result=True)

    def _path(self, text: str, keys: ValuePath) -> Iterator[WorkflowFault]:
        try:
            yield from self._leads(parse_scope_path(text), text, keys, True)
        except UnresolvedError as error:
            yield WorkflowFault(keys=keys, message=error.message, hint=error.hint)

    def _leads(self, path: ValuePath, text: str, keys: ValuePath, has_result: bool) -> Iterator[WorkflowFault]:
        root, *more = path
        told = quote_text(shorten_text(text))
        if root == "result":
            if not has_result:
                message = f"{told} is for what is expected and captured"
                yield WorkflowFault(keys=keys, message=message, hint="${steps.ID.result} is the result of a step")
        elif root not in self.names:
            yield WorkflowFault(keys=keys, message=f"{told} begins with none of {', '.join(SCOPE_ROOTS)}")
        elif more:
            yield from self._named(str(root), str(more[0]), told, keys)
            if root == "steps" and more[1:2] and more[1] not in _OF_A_STEP:
                yield WorkflowFault(keys=keys, message=f"{told}: a step has result and status")

    def _named(self, root: str, name: str, told: str, keys: ValuePath) -> Iterator[WorkflowFault]:
        known = self.names[root]
        if name in known:
            return
        if name in self.later[root]:
            what = "that step is not done then" if root == "steps" else "it is captured later"
            yield WorkflowFault(keys=keys, message=f"{told}: {what}", hint="move the step up", root=root)
        else:
            message = f"{told}: there is no {root}.{shorten_text(name)}"
            yield WorkflowFault(keys=keys, message=message, hint=_check_references_hint(name, known), root=root)


def _check_references_hint(wanted: str, known: Iterable[str]) -> str:
    names = list(dict.fromkeys(filter(None, known)))
    return suggest_nearest(shorten_text(wanted), names) or (f"there are {', '.join(names[:10])}" if names else "")


def check_workflow(workflow: Workflow, known: WorkflowEnvironment) -> list[WorkflowFault]:
    """All of it, as it stands in the workflow."""
    ##= man/spec/workflows.md#checks
    ##% duvet MUST check a workflow without running it, and list every problem with the path of its key.
    sizes = list(_sizes(workflow))
    # What is too deep can't be looked through.
    return sizes or [*_defaults(workflow), *_ids(workflow), *_steps(workflow, known), *find_self_calls(workflow, known)]


def _steps(workflow: Workflow, known: WorkflowEnvironment) -> Iterator[WorkflowFault]:
    seen = ReferenceScope(workflow)
    for number, step in enumerate(workflow.steps):
        keys: ValuePath = ("steps", number)
        yield from check_step_calls(step, keys, known)
        yield from seen.references_of(step, keys)
    yield from seen.in_value(workflow.outputs, ("outputs",))


def _defaults(workflow: Workflow) -> Iterator[WorkflowFault]:
    for name, variable in workflow.variables.items():
        if variable.default is not UNSET:
            try:
                resolve_variable(name, variable, variable.default)
            except WorkflowError as error:
                yield WorkflowFault(keys=("variables", name, "default"), message=error.message)


def _ids(workflow: Workflow) -> Iterator[WorkflowFault]:
    if len(workflow.steps) > MAX_STEPS:
        message = f"there are {len(workflow.steps)} steps; {MAX_STEPS} is the most"
        yield WorkflowFault(keys=("steps",), message=message, hint="let one workflow call another")
    ids = Counter[str]()
    for number, step in enumerate(workflow.steps):
        if ids[step.id]:
            yield WorkflowFault(keys=("steps", number, "id"), message=f"another step is called {step.id}, too")
        ids[step.id] += 1


def _sizes(workflow: Workflow) -> Iterator[WorkflowFault]:
    for keys, value in _values(workflow):
        try:
            copy_plain_value(value, MAX_EXPANDED_BYTES, "it")
        except UnresolvedError as error:
            yield WorkflowFault(keys=keys, message=error.message)


def _values(workflow: Workflow) -> Iterator[tuple[ValuePath, object]]:
    for name, variable in workflow.variables.items():
        if variable.default is not UNSET:
            yield ("variables", name, "default"), variable.default
    for number, step in enumerate(workflow.steps):
        yield from (((*("steps", number), *keys), value) for keys, value in _values_of(step))
    yield ("outputs",), workflow.outputs


def _values_of(step: Step) -> Iterator[tuple[ValuePath, object]]:
    yield ("wait", "params") if isinstance(step, WaitStep) else ("params",), step.params
    yield ("expect",), step.expect
    for number, check in enumerate(step.asserts):
        yield ("assert", number), [one for one in (check.equals, check.not_equals) if one is not UNSET]
    if isinstance(step, WaitStep):
        yield ("wait", "until"), [one for one in (step.until.equals, step.until.not_equals) if one is not UNSET]
    if isinstance(step, ModelStep):
        yield ("prompt",), step.prompt
        yield ("system",), step.system


def make_workflow_problems(document: DataDocument, faults: Mapping[str, list[WorkflowFault]]) -> Iterator[Problem]:
    """The faults of each workflow as problems of its file."""
    for name, found in faults.items():
        for fault in found:
            at = DocumentLocation(document, {}, keys=("workflows", name, *fault.keys), is_private=True)
            problem = at.problem(CONFIG_BAD_VALUE, fault.message, fault.hint)
            yield replace(problem, severity=Severity.WARNING) if fault.is_warning else problem
