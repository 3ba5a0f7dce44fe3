"""Checks a workflow without running it: its calls, references and cycles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import UNSET, Struct, ValidationError, convert, structs

from duvet.config.document import DataDocument, DocumentLocation
from duvet.model import Problem, Severity
from duvet.rules import CONFIG_BAD_VALUE
from duvet.text import quote_text, shorten_text, suggest_nearest
from duvet.tools.arguments import describe_conversion_error, find_unknown_argument
from duvet.tools.tool import Tool, ToolError
from duvet.workflows import references, steps, workflow as records


class WorkflowFault(Struct, frozen=True):
    keys: references.ValuePath  # The path below the workflow, as in a configuration.
    message: str
    hint: str = ""
    is_warning: bool = False
    root: str = ""  # The first name of a broken reference.

    @property
    def path(self) -> str:
        return references.format_path(self.keys)


class WorkflowEnvironment(Struct, frozen=True, kw_only=True):
    tools: Mapping[str, Tool]
    workflows: Mapping[str, records.Workflow]  # Workflows by their own names; `tools` may lack their tools.
    recipes: Mapping[str, records.Workflow] = {}  # Recipes by their own names; of faulty ones, the readable parts.
    faulty: Collection[str] = ()  # The recipes with problems in their own files.

    def __contains__(self, tool: str) -> bool:
        return tool in self.tools or records.find_called_workflow(tool) in self.workflows

    def workflow(self, tool: str) -> records.Workflow | None:
        return self.workflows.get(records.find_called_workflow(tool))

    def list_reachable(self, tools: Iterable[str]) -> Iterator[Tool]:
        ahead, seen = [*tools], set[str]()
        while ahead:
            name = ahead.pop()
            if name in seen:
                continue
            seen.add(name)
            if inner := self.workflow(name):
                ahead += filter(None, map(find_step_tool, inner.steps))
            elif name in self.tools:
                yield self.tools[name]


def find_step_tool(step: records.Step) -> str:
    return step.tool if isinstance(step, records.ToolStep | records.WaitStep) else ""


def check_workflow(workflow: records.Workflow, known: WorkflowEnvironment) -> list[WorkflowFault]:
    ##= man/spec/workflows.md#commands
    ##% `duvet workflow check` MUST list every problem with the path of its key, without running a step.
    faults: list[WorkflowFault] = []
    for path, value in _list_values(workflow):
        try:
            references.copy_plain_value(value, references.MAX_EXPANDED_BYTES, "it")
        except references.UnresolvedError as error:
            faults.append(WorkflowFault(path, error.message))
    if faults:
        # A value that is too deep can't be checked further.
        return faults
    for name, variable in workflow.variables.items():
        if variable.default is not UNSET:
            try:
                records.resolve_variable(name, variable, variable.default)
            except ToolError as error:
                faults.append(WorkflowFault(("variables", name, "default"), error.message))
    if len(workflow.steps) > records.MAX_STEPS:
        message = f"the {workflow.noun} has {len(workflow.steps)} steps; the limit is {records.MAX_STEPS}"
        faults.append(WorkflowFault(("steps",), message, f"move some steps to another {workflow.noun}, and call it"))
    scope = _ReferenceScope(workflow)
    for number, step in enumerate(workflow.steps):
        keys: references.ValuePath = ("steps", number)
        faults += [*_check_calls(step, keys, known), *scope.check_step(step, keys)]
    faults += scope.check_value(workflow.outputs, ("outputs",))
    for number, step in enumerate(workflow.steps):
        if message := _find_deeper_fault(step, (workflow.name,), known, set()):
            keys = (*_find_params_path(step, ("steps", number)), "tool")
            faults.append(WorkflowFault(keys, message))
    return faults


def _list_values(workflow: records.Workflow) -> Iterator[tuple[references.ValuePath, object]]:
    for name, variable in workflow.variables.items():
        if variable.default is not UNSET:
            yield ("variables", name, "default"), variable.default
    for number, step in enumerate(workflow.steps):
        at: references.ValuePath = ("steps", number)
        yield (*_find_params_path(step, at), "params"), step.params
        yield (*at, "expect"), step.expect
        checks = [((*at, "assert", place), check) for place, check in enumerate(step.asserts)]
        if isinstance(step, records.WaitStep):
            checks.append(((*at, "wait", "until"), step.until))
        for keys, check in checks:
            yield keys, [one for one in (check.equals, check.not_equals) if one is not UNSET]
        if isinstance(step, records.ModelStep):
            yield (*at, "prompt"), step.prompt
            yield (*at, "system"), step.system
    yield ("outputs",), workflow.outputs


def _find_params_path(step: records.Step, keys: references.ValuePath) -> references.ValuePath:
    return (*keys, "wait") if isinstance(step, records.WaitStep) else keys


def _check_calls(step: records.Step, keys: references.ValuePath, known: WorkflowEnvironment) -> Iterator[WorkflowFault]:
    if isinstance(step, records.ModelStep):
        yield from _check_arguments(step.params, steps.ModelParams, (*keys, "params"), "a model")
        return
    at = _find_params_path(step, keys)
    tool = find_step_tool(step)
    if tool not in known:
        hint = _suggest(tool, sorted({*known.tools, *(records.WORKFLOW_PREFIX + name for name in known.workflows)}))
        hint = hint or "run `duvet tools` to list the enabled tools"
        yield WorkflowFault((*at, "tool"), f"unknown tool {_quote(tool)}", hint)
        return
    inner = known.workflow(tool)
    record = records.make_input_record(inner) if inner else known.tools[tool].input
    yield from _check_arguments(step.params, record, (*at, "params"), tool)
    if isinstance(step, records.WaitStep) and not all(one.only_reads for one in known.list_reachable([tool])):
        message, hint = f"{tool} writes, and this wait calls it repeatedly", "in `wait`, call a tool that only reads"
        yield WorkflowFault((*at, "tool"), message, hint, is_warning=True)


def _check_arguments(
    params: Mapping[str, Any], record: type[Struct], keys: references.ValuePath, tool: str
) -> Iterator[WorkflowFault]:
    takes = {field.encode_name: field for field in structs.fields(record)}
    for name, value in params.items():
        if unknown := find_unknown_argument(tool, [name], takes, if_none="it takes no arguments"):
            yield WorkflowFault((*keys, name), unknown.message, unknown.hint)
        elif value is not None and references.is_constant(value):
            try:
                convert(references.copy_plain_value(value, references.MAX_EXPANDED_BYTES, name), takes[name].type)
            except ValidationError as error:
                yield WorkflowFault((*keys, name), describe_conversion_error(str(error)))
    for name, field in takes.items():
        if field.required and params.get(name) is None:
            yield WorkflowFault(keys, f"{tool} requires the argument {name}")


def _find_deeper_fault(
    step: records.Step, callers: tuple[str, ...], known: WorkflowEnvironment, seen: set[tuple[str, int]]
) -> str:
    tool = find_step_tool(step)
    name = step.params.get(records.RECIPE_ARGUMENT) if tool == records.RECIPE_TOOL else None
    workflow = known.recipes.get(name) if isinstance(name, str) else known.workflow(tool)
    if workflow is None or (workflow.name, len(callers)) in seen:
        return ""
    fault = steps.find_nesting_fault(workflow.name, callers)
    # A cycle among other workflows is reported for those workflows.
    if fault:
        return fault if workflow.name == callers[0] or workflow.name not in callers else ""
    seen.add((workflow.name, len(callers)))
    way = (*callers, workflow.name)
    return next(filter(None, (_find_deeper_fault(one, way, known, seen) for one in workflow.steps)), "")


class _ReferenceScope:
    def __init__(self, workflow: records.Workflow) -> None:
        self.names = {"vars": [*workflow.variables], "steps": list[str](), "captures": list[str]()}
        self.later = {
            "vars": list[str](),
            "steps": [step.id for step in workflow.steps],
            "captures": [capture.name for step in workflow.steps for capture in step.capture],
        }

    def check_step(self, step: records.Step, keys: references.ValuePath) -> Iterator[WorkflowFault]:
        yield from self.check_value(step.params, (*_find_params_path(step, keys), "params"))
        if isinstance(step, records.WaitStep):
            yield from self._check_condition(step.until, (*keys, "wait", "until"))
        if isinstance(step, records.ModelStep):
            yield from self.check_value(step.prompt, (*keys, "prompt"))
            yield from self.check_value(step.system, (*keys, "system"))
        for path, value in step.expect.items():
            yield from self._check_path(path, (*keys, "expect", path))
            yield from self.check_value(value, (*keys, "expect", path), has_result=True)
        for number, check in enumerate(step.asserts):
            yield from self._check_condition(check, (*keys, "assert", number))
        for number, capture in enumerate(step.capture):
            yield from self._check_path(capture.path, (*keys, "capture", number, "path"))
        self.names["captures"] += [capture.name for capture in step.capture]
        self.names["steps"].append(step.id)

    def check_value(
        self, value: Any, keys: references.ValuePath, *, has_result: bool = False
    ) -> Iterator[WorkflowFault]:
        for where, text in references.find_texts(value, keys):
            try:
                for piece in dict.fromkeys(references.split_references(text)):
                    if isinstance(piece, references.Reference):
                        yield from self._check_reference(piece.path, piece.text, where, has_result)
            except references.UnresolvedError as error:
                yield WorkflowFault(where, error.message, error.hint)

    def _check_condition(self, check: records.Check, keys: references.ValuePath) -> Iterator[WorkflowFault]:
        yield from self._check_path(check.path, (*keys, "path"))
        yield from self.check_value(check.equals, (*keys, "equals"), has_result=True)
        yield from self.check_value(check.not_equals, (*keys, "notEquals"), has_result=True)

    def _check_path(self, text: str, keys: references.ValuePath) -> Iterator[WorkflowFault]:
        try:
            yield from self._check_reference(steps.parse_scope_path(text), text, keys, True)
        except references.UnresolvedError as error:
            yield WorkflowFault(keys, error.message, error.hint)

    def _check_reference(
        self, path: references.ValuePath, text: str, keys: references.ValuePath, has_result: bool
    ) -> Iterator[WorkflowFault]:
        root, *more = path
        shown = _quote(text)
        if root == "result":
            if not has_result:
                message = f"{shown} can be used only in `expect`, `assert`, `until` and `capture`"
                hint = "use ${steps.ID.result} for the result of an earlier step"
                yield WorkflowFault(keys, message, hint)
        elif root not in self.names:
            roots = steps.SCOPE_ROOTS if has_result else self.names
            yield WorkflowFault(keys, f"{shown} must refer to one of {', '.join(roots)}")
        elif more:
            name, known = str(more[0]), self.names[str(root)]
            if name not in known and name in self.later[str(root)]:
                reason = "no earlier step has this id" if root == "steps" else "no earlier step captures it"
                yield WorkflowFault(keys, f"{shown}: {reason}", "refer only to earlier steps", root=str(root))
            elif name not in known:
                names = list(dict.fromkeys(filter(None, known)))
                hint = _suggest(name, names) or (f"available: {', '.join(names[:10])}" if names else "")
                message = f"{shown}: {root}.{shorten_text(name)} does not exist"
                yield WorkflowFault(keys, message, hint, root=str(root))
            if root == "steps" and more[1:2] and more[1] not in ("result", "status"):
                yield WorkflowFault(keys, f"{shown}: a step has only `result` and `status`")


def _quote(name: str) -> str:
    return quote_text(shorten_text(name))


def _suggest(name: str, known: Iterable[str]) -> str:
    return suggest_nearest(shorten_text(name), list(known))


def make_fault_problem(fault: WorkflowFault, at: DocumentLocation) -> Problem:
    problem = at.problem(CONFIG_BAD_VALUE, fault.message, fault.hint)
    return structs.replace(problem, severity=Severity.WARNING) if fault.is_warning else problem


def make_workflow_problems(document: DataDocument, faults: Mapping[str, list[WorkflowFault]]) -> Iterator[Problem]:
    for name, found in faults.items():
        for fault in found:
            yield make_fault_problem(fault, document.locate("workflows", name, *fault.keys))
