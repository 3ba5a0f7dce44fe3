"""Checks a recipe against the available tools, and plans its steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType, ValidationError, convert
from msgspec.structs import fields

from duvet.config.check import DocumentLocation, sort_problems
from duvet.config.workflow_tables import CaptureSection
from duvet.model import Problem, Severity
from duvet.text import quote_text, shorten_text
from duvet.tools.tool import Tool
from duvet.trace.names import suggest_nearest
from duvet.workflows.check import (
    WorkflowEnvironment,
    WorkflowFault,
    check_workflow,
    find_step_tool,
    make_fault_problem,
)
from duvet.workflows.recipe import CheckTable, Recipe, RecipeFile, StepTable, WaitTable, make_recipe_workflow
from duvet.workflows.references import (
    Reference,
    ValuePath,
    ValueScope,
    escape_references,
    expand_references,
    format_value,
    is_constant,
    look_up_reference,
    split_references,
)
from duvet.workflows.workflow import (
    RECIPE_ARGUMENT,
    RECIPE_TOOL,
    Step,
    WaitStep,
    Workflow,
    recipe_name,
    recipe_workflow,
)


class RecipeDraft(Struct, frozen=True):
    """The readable parts of a recipe with problems."""

    workflow: Workflow
    unread: frozenset[ValuePath]
    """The places where the draft differs from the file."""
    vague: frozenset[str]
    """The first names of references that can't be checked."""

    def has(self, fault: WorkflowFault) -> bool:
        """Return True if a fault of the draft is one of the file, too."""
        return fault.root not in self.vague and not any(fault.keys[: len(one)] == one for one in self.unread)


def draft_recipe(name: str, values: Mapping[str, Any]) -> RecipeDraft | None:
    """Return the readable parts of a file; None if references can't be checked at all."""
    variables, steps = values.get("variables", {}), values.get("steps")
    if not isinstance(variables, dict) or not isinstance(steps, list):
        return None
    reader = _DraftReader()
    recipe = Recipe(
        variables=variables,
        steps=tuple(reader.read_step(step, ("steps", number)) for number, step in enumerate(steps)),
        outputs=reader.read(Recipe, values, "outputs", (), {}),
    )
    return RecipeDraft(make_recipe_workflow(name, recipe), frozenset(reader.unread), frozenset(reader.vague))


class _DraftReader:
    """Reads the readable values of a recipe, and notes the places of the others."""

    def __init__(self) -> None:
        self.unread: set[ValuePath] = set()
        self.vague: set[str] = set()
        self._ids: set[str] = set()

    def read(self, table: type[Struct], raw: Mapping[str, Any], name: str, keys: ValuePath, fallback: Any) -> Any:
        """Return the value of a key, or the fallback for a missing or wrong one."""
        field = next(one for one in fields(table) if one.encode_name == name)
        if name not in raw and not field.required:
            return fallback
        try:
            return convert(raw[name], field.type)
        except (KeyError, ValidationError):
            self.unread.add((*keys, name))
            return fallback

    def read_step(self, raw: Any, keys: ValuePath) -> StepTable:
        table = self._read_table(raw, keys)
        # A missing action has no name that could be wrong.
        if table.get("tool") is None and table.get("wait") is None:
            self.unread.add((*keys, "tool"))
        id: str = self.read(StepTable, table, "id", keys, "")
        if id in self._ids:
            # The file has a problem for that already.
            self.unread.add((*keys, "id"))
        self._ids.add(id)
        return StepTable(
            id=id,
            tool=self.read(StepTable, table, "tool", keys, None),
            wait=None if table.get("wait") is None else self._read_wait(table["wait"], (*keys, "wait")),
            params=self.read(StepTable, table, "params", keys, {}),
            expect=self.read(StepTable, table, "expect", keys, {}),
            asserts=tuple(self._read_check(*one) for one in self._list_items(table, keys, "assert")),
            capture=self._read_captures(table, keys),
        )

    def _read_wait(self, raw: Any, keys: ValuePath) -> WaitTable:
        table = self._read_table(raw, keys)
        return WaitTable(
            tool=self.read(WaitTable, table, "tool", keys, ""),
            params=self.read(WaitTable, table, "params", keys, {}),
            until=self._read_check(table.get("until"), (*keys, "until")),
        )

    def _read_check(self, raw: Any, keys: ValuePath) -> CheckTable:
        table = self._read_table(raw, keys)
        return CheckTable(
            path=self.read(CheckTable, table, "path", keys, "result"),
            **{name: table[name] for name in ("equals", "not_equals") if name in table},
        )

    def _read_captures(self, raw: Mapping[str, Any], keys: ValuePath) -> tuple[CaptureSection, ...]:
        found = []
        for item, where in self._list_items(raw, keys, "capture"):
            table = self._read_table(item, where)
            name = self.read(CaptureSection, table, "name", where, "")
            found.append(CaptureSection(name=name, path=self.read(CaptureSection, table, "path", where, "result")))
        is_read = isinstance(raw.get("capture", []), list | dict | None)
        if not is_read or not all(one.name for one in found):
            self.vague.add("captures")
        return tuple(found)

    def _list_items(self, raw: Mapping[str, Any], keys: ValuePath, name: str) -> list[tuple[Any, ValuePath]]:
        value = raw.get(name)
        if isinstance(value, list):
            return [(one, (*keys, name, n)) for n, one in enumerate(value)]
        if value is not None:
            self.unread.add((*keys, name))
        # A table without a list around it is readable all the same.
        return [(value, (*keys, name))] if isinstance(value, dict) else []

    def _read_table(self, raw: Any, keys: ValuePath) -> dict[str, Any]:
        if isinstance(raw, dict):
            return raw
        self.unread.add(keys)
        return {}


def make_recipe_environment(tools: Iterable[Tool], recipes: Mapping[str, RecipeFile]) -> WorkflowEnvironment:
    """Return the tools and recipes that recipes can call; workflows are tools here."""
    workflows = {}
    for name, one in recipes.items():
        # Others check their calls of a faulty recipe against its readable parts.
        draft = None if one.workflow else _draft(one)
        nothing = Workflow(name=recipe_workflow(one.name), description="", steps=())
        workflows[name] = one.workflow or (draft.workflow if draft else nothing)
    ##= man/spec/gateway.md#recipes
    ##% A recipe MUST be able to call every enabled tool and workflow, with the rights of its caller.
    return WorkflowEnvironment(
        tools={tool.name: tool for tool in tools},
        workflows={},
        models=(),
        recipes=workflows,
        faulty=[name for name, one in recipes.items() if one.workflow is None],
    )


def _draft(found: RecipeFile) -> RecipeDraft | None:
    return draft_recipe(found.name, found.document.values) if found.document else None


def check_recipe(found: RecipeFile, known: WorkflowEnvironment) -> tuple[Problem, ...]:
    """Return all problems of a recipe, in the order of its file."""
    if found.document is None:
        return found.problems
    draft = None if found.workflow else _draft(found)
    workflow = found.workflow or (draft.workflow if draft else None)
    faults = [*check_workflow(workflow, known), *_check_called_recipes(workflow, known)] if workflow else []
    at = DocumentLocation(found.document, {}, is_private=True)
    ##= man/spec/gateway.md#recipes
    ##% duvet MUST list every problem of a recipe with file, line and path of the key, and run no step of it or of a
    ##% recipe that calls it.
    problems = (
        make_fault_problem(fault, at._replace(keys=_spell_keys(fault.keys)))
        for fault in faults
        if draft is None or draft.has(fault)
    )
    return sort_problems([*found.problems, *problems])


def is_runnable(problems: Iterable[Problem]) -> bool:
    """Return True if the problems are only warnings."""
    return all(problem.severity is Severity.WARNING for problem in problems)


def _spell_keys(keys: ValuePath) -> ValuePath:
    """Return the path of a workflow's value as recipes spell it."""
    match keys:
        case ("variables", name, "default", *_):
            return ("variables", name)
        case (_, _, "assert", _, "notEquals", *more) | (_, _, "wait", "until", "notEquals", *more):
            return (*keys[:4], "not_equals", *more)
    return keys


def _check_called_recipes(workflow: Workflow, known: WorkflowEnvironment) -> Iterator[WorkflowFault]:
    """Find calls of missing and faulty recipes."""
    for number, step in enumerate(workflow.steps):
        name = step.params.get(RECIPE_ARGUMENT) if find_step_tool(step) == RECIPE_TOOL else None
        if not isinstance(name, str) or not is_constant(name):
            continue
        at = ("wait", "params") if isinstance(step, WaitStep) else ("params",)
        keys: ValuePath = ("steps", number, *at, RECIPE_ARGUMENT)
        shown = quote_text(shorten_text(name))
        if name not in known.recipes:
            hint = suggest_nearest(shorten_text(name), list(known.recipes))
            yield WorkflowFault(keys=keys, message=f"there is no recipe {shown}", hint=hint)
        # A recipe that calls itself has a fault of its own for that.
        elif name in known.faulty and recipe_workflow(name) != workflow.name:
            hint = "`duvet recipe validate` tells them"
            yield WorkflowFault(keys=keys, message=f"there are faults in the recipe {shown}", hint=hint)


class WaitCondition(Struct, frozen=True, kw_only=True):
    """The condition that a step waits for."""

    path: str
    equals: Any = UNSET
    not_equals: Any = UNSET
    exists: bool | UnsetType = UNSET
    interval_seconds: float
    timeout_seconds: float


class PlannedStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call that a step would make; references to results of the run are kept."""

    id: str
    tool: str
    params: Mapping[str, Any]
    description: str = ""
    until: WaitCondition | UnsetType = UNSET


class RecipePlan(Struct, frozen=True, kw_only=True):
    """The calls that a recipe would make."""

    status: str = "dry_run"
    recipe: str
    vars: Mapping[str, Any]
    steps: Sequence[PlannedStep]


def plan_recipe_run(workflow: Workflow, variables: Mapping[str, Any]) -> RecipePlan:
    """Return the calls that the recipe would make with these variables."""
    ##= man/spec/gateway.md#recipes
    ##% With `--dry-run`, `duvet recipe run` MUST show what each step would call, with `${` for values that only a run
    ##% brings, and call nothing.
    scope = {"vars": variables}
    steps = [_plan_step(step, scope) for step in workflow.steps]
    return RecipePlan(recipe=recipe_name(workflow.name), vars=variables, steps=steps)


def _plan_step(step: Step, scope: ValueScope) -> PlannedStep:
    until: WaitCondition | UnsetType = UNSET
    if isinstance(step, WaitStep):
        until = WaitCondition(
            path=step.until.path,
            equals=_expand_known(step.until.equals, scope),
            not_equals=_expand_known(step.until.not_equals, scope),
            exists=step.until.exists,
            interval_seconds=step.interval,
            # A compiled wait always has a limit.
            timeout_seconds=step.time_limit or 0.0,
        )
    return PlannedStep(
        id=step.id,
        tool=find_step_tool(step),
        params=_expand_known(step.params, scope),
        description=step.description,
        until=until,
    )


def _expand_known(value: Any, scope: ValueScope) -> Any:
    """Expand the references into the scope; the result reads as a recipe with the same meaning."""
    match value:
        case str():
            found = split_references(value)
            if all(isinstance(one, str) or one.path[0] in scope for one in found):
                return _escape(expand_references(value, scope, ("params",)))
            return "".join(
                one.text
                if isinstance(one, Reference) and one.path[0] not in scope
                else escape_references(one if isinstance(one, str) else format_value(look_up_reference(one, scope)))
                for one in found
            )
        case Mapping():
            # Keys contain no references.
            return {escape_references(key): _expand_known(inner, scope) for key, inner in value.items()}
        case list() | tuple():
            return [_expand_known(inner, scope) for inner in value]
    return value


def _escape(value: Any) -> Any:
    match value:
        case str():
            return escape_references(value)
        case Mapping():
            return {escape_references(key): _escape(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_escape(inner) for inner in value]
    return value
