"""Checks a recipe against the available tools, and plans its steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType, ValidationError, convert
from msgspec.structs import fields, replace

from duvet import rules
from duvet.config.check import DocumentLocation, sort_problems
from duvet.config.workflow_tables import CaptureSection
from duvet.model import Problem, Severity
from duvet.text import quote_text, shorten_text
from duvet.tools.tool import Tool
from duvet.trace.names import suggest_nearest
from duvet.workflows.check import WorkflowEnvironment, WorkflowFault, check_workflow, find_step_tool
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
    Check,
    Step,
    WaitStep,
    Workflow,
    recipe_name,
    recipe_workflow,
)


class RecipeDraft(Struct, frozen=True):
    """What is understood."""

    workflow: Workflow
    unread: frozenset[ValuePath]
    """Where something else stands than is there in the file."""
    vague: frozenset[str]
    """What references begin with of which nobody can tell where they lead."""

    def has(self, fault: WorkflowFault) -> bool:
        """Whether that is wrong with what stands in the file, too."""
        return fault.root not in self.vague and not any(fault.keys[: len(one)] == one for one in self.unread)


def draft_recipe(name: str, values: Mapping[str, Any]) -> RecipeDraft | None:
    """What can be understood of the values of a file; None where nobody can tell what its steps refer to."""
    variables, steps = values.get("variables", {}), values.get("steps")
    if not isinstance(variables, dict) or not isinstance(steps, list):
        return None
    reader = _Reader()
    recipe = Recipe(
        variables=variables,
        steps=tuple(reader.step(step, ("steps", number)) for number, step in enumerate(steps)),
        outputs=reader.value(Recipe, values, "outputs", (), {}),
    )
    return RecipeDraft(make_recipe_workflow(name, recipe), frozenset(reader.unread), frozenset(reader.vague))


class _Reader:
    """Reads what can be read, and notes what can't."""

    def __init__(self) -> None:
        self.unread: set[ValuePath] = set()
        self.vague: set[str] = set()
        self._ids: set[str] = set()

    def step(self, raw: Any, keys: ValuePath) -> StepTable:
        table = self._table(raw, keys)
        # An action that is not there has no name that could be wrong.
        if table.get("tool") is None and table.get("wait") is None:
            self.unread.add((*keys, "tool"))
        return StepTable(
            id=self._id(table, keys),
            tool=self.value(StepTable, table, "tool", keys, None),
            wait=None if table.get("wait") is None else self._wait(table["wait"], (*keys, "wait")),
            params=self.value(StepTable, table, "params", keys, {}),
            expect=self.value(StepTable, table, "expect", keys, {}),
            asserts=tuple(self._check(*one) for one in self._items(table, keys, "assert")),
            capture=self._captures(table, keys),
        )

    def value(self, table: type[Struct], raw: Mapping[str, Any], name: str, keys: ValuePath, instead: Any) -> Any:
        """The value of a key, or another one where it can't be read."""
        field = next(one for one in fields(table) if one.encode_name == name)
        if name not in raw and not field.required:
            return instead
        try:
            return convert(raw[name], field.type)
        except (KeyError, ValidationError):
            self.unread.add((*keys, name))
            return instead

    def _id(self, raw: Mapping[str, Any], keys: ValuePath) -> str:
        id: str = self.value(StepTable, raw, "id", keys, "")
        if id in self._ids:
            # Which is told of the file.
            self.unread.add((*keys, "id"))
        self._ids.add(id)
        return id

    def _wait(self, raw: Any, keys: ValuePath) -> WaitTable:
        table = self._table(raw, keys)
        return WaitTable(
            tool=self.value(WaitTable, table, "tool", keys, ""),
            params=self.value(WaitTable, table, "params", keys, {}),
            until=self._check(table.get("until"), (*keys, "until")),
        )

    def _check(self, raw: Any, keys: ValuePath) -> CheckTable:
        table = self._table(raw, keys)
        return CheckTable(
            path=self.value(CheckTable, table, "path", keys, "result"),
            **{name: table[name] for name in ("equals", "not_equals") if name in table},
        )

    def _captures(self, raw: Mapping[str, Any], keys: ValuePath) -> tuple[CaptureSection, ...]:
        found = tuple(self._capture(*one) for one in self._items(raw, keys, "capture"))
        is_read = isinstance(raw.get("capture", []), list | dict | None)
        if not is_read or not all(one.name for one in found):
            self.vague.add("captures")
        return found

    def _capture(self, raw: Any, keys: ValuePath) -> CaptureSection:
        table = self._table(raw, keys)
        return CaptureSection(
            name=self.value(CaptureSection, table, "name", keys, ""),
            path=self.value(CaptureSection, table, "path", keys, "result"),
        )

    def _items(self, raw: Mapping[str, Any], keys: ValuePath, name: str) -> list[tuple[Any, ValuePath]]:
        value = raw.get(name)
        if isinstance(value, list):
            return [(one, (*keys, name, n)) for n, one in enumerate(value)]
        if value is not None:
            self.unread.add((*keys, name))
        # What is meant by one without a list around it is plain.
        return [(value, (*keys, name))] if isinstance(value, dict) else []

    def _table(self, raw: Any, keys: ValuePath) -> dict[str, Any]:
        if isinstance(raw, dict):
            return raw
        self.unread.add(keys)
        return {}


def make_recipe_environment(tools: Iterable[Tool], recipes: Mapping[str, RecipeFile]) -> WorkflowEnvironment:
    """What there is around recipes; workflows are tools here."""
    ##= man/spec/gateway.md#recipes
    ##% A recipe MUST be able to call every enabled tool and workflow, with the rights of its caller.
    return WorkflowEnvironment(
        tools={tool.name: tool for tool in tools},
        workflows={},
        models=(),
        recipes={name: _understood(one) for name, one in recipes.items()},
        faulty=[name for name, one in recipes.items() if one.workflow is None],
    )


def _understood(found: RecipeFile) -> Workflow:
    """The recipe as far as it is understood: what others find when they call it."""
    draft = None if found.workflow else _draft(found)
    nothing = Workflow(name=recipe_workflow(found.name), description="", steps=())
    return found.workflow or (draft.workflow if draft else nothing)


def _draft(found: RecipeFile) -> RecipeDraft | None:
    return draft_recipe(found.name, found.document.values) if found.document else None


def check_recipe(found: RecipeFile, known: WorkflowEnvironment) -> tuple[Problem, ...]:
    """Everything that is wrong with it, in the order of the file."""
    if found.document is None:
        return found.problems
    at = DocumentLocation(found.document, {}, is_private=True)
    ##= man/spec/gateway.md#recipes
    ##% duvet MUST list every problem of a recipe with file, line and path of the key, and run no step of it or of a
    ##% recipe that calls it.
    return sort_problems([*found.problems, *(_problem(at, fault) for fault in _faults(found, known))])


def _faults(found: RecipeFile, known: WorkflowEnvironment) -> list[WorkflowFault]:
    """What is wrong with what it says, as far as that can be understood."""
    if found.workflow is not None:
        return _faults_of(found.workflow, known)
    draft = _draft(found)
    return [fault for fault in _faults_of(draft.workflow, known) if draft.has(fault)] if draft else []


def _faults_of(workflow: Workflow, known: WorkflowEnvironment) -> list[WorkflowFault]:
    return [*check_workflow(workflow, known), *_no_recipes(workflow, known)]


def is_runnable(problems: Iterable[Problem]) -> bool:
    """Whether nothing of it keeps the recipe from being run."""
    return all(problem.severity is Severity.WARNING for problem in problems)


def _problem(at: DocumentLocation, fault: WorkflowFault) -> Problem:
    problem = at._replace(keys=_written(fault.keys)).problem(rules.CONFIG_BAD_VALUE, fault.message, fault.hint)
    return replace(problem, severity=Severity.WARNING) if fault.is_warning else problem


def _written(keys: ValuePath) -> ValuePath:
    """The keys as recipes have them, which spell some in another way than workflows do."""
    match keys:
        case ("variables", name, "default", *_):
            return ("variables", name)
        case (_, _, "assert", _, "notEquals", *more) | (_, _, "wait", "until", "notEquals", *more):
            return (*keys[:4], "not_equals", *more)
    return keys


def _no_recipes(workflow: Workflow, known: WorkflowEnvironment) -> Iterator[WorkflowFault]:
    """The recipes that are called and that there aren't, or that can't be run."""
    for number, step in enumerate(workflow.steps):
        name = step.params.get(RECIPE_ARGUMENT) if find_step_tool(step) == RECIPE_TOOL else None
        if isinstance(name, str) and is_constant(name):
            at = ("wait", "params") if isinstance(step, WaitStep) else ("params",)
            is_own = recipe_workflow(name) == workflow.name
            yield from _no_recipe(name, ("steps", number, *at, RECIPE_ARGUMENT), known, is_own)


def _no_recipe(name: str, keys: ValuePath, known: WorkflowEnvironment, is_own: bool) -> Iterator[WorkflowFault]:
    told = quote_text(shorten_text(name))
    if name not in known.recipes:
        hint = suggest_nearest(shorten_text(name), list(known.recipes))
        yield WorkflowFault(keys=keys, message=f"there is no recipe {told}", hint=hint)
    # That a recipe calls itself is told in other words.
    elif name in known.faulty and not is_own:
        hint = "`duvet recipe validate` tells them"
        yield WorkflowFault(keys=keys, message=f"there are faults in the recipe {told}", hint=hint)


class WaitCondition(Struct, frozen=True, kw_only=True):
    """What a step waits for."""

    path: str
    equals: Any = UNSET
    not_equals: Any = UNSET
    exists: bool | UnsetType = UNSET
    interval_seconds: float
    timeout_seconds: float


class PlannedStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What would be called; references to what only a run brings stand as they are written."""

    id: str
    tool: str
    params: Mapping[str, Any]
    description: str = ""
    until: WaitCondition | UnsetType = UNSET


class RecipePlan(Struct, frozen=True, kw_only=True):
    """All of it."""

    status: str = "dry_run"
    recipe: str
    vars: Mapping[str, Any]
    steps: Sequence[PlannedStep]


def plan_recipe_run(workflow: Workflow, told: Mapping[str, Any]) -> RecipePlan:
    """What would be done with these variables."""
    ##= man/spec/gateway.md#recipes
    ##% With `--dry-run`, `duvet recipe run` MUST show what each step would call, with `${` for values that only a run
    ##% brings, and call nothing.
    scope = {"vars": told}
    return RecipePlan(
        recipe=recipe_name(workflow.name), vars=told, steps=[_step(step, scope) for step in workflow.steps]
    )


def _step(step: Step, scope: ValueScope) -> PlannedStep:
    until = _until(step.until, step, scope) if isinstance(step, WaitStep) else UNSET
    return PlannedStep(
        id=step.id,
        tool=find_step_tool(step),
        params=_filled(step.params, scope),
        description=step.description,
        until=until,
    )


def _until(check: Check, step: WaitStep, scope: ValueScope) -> WaitCondition:
    return WaitCondition(
        path=check.path,
        equals=check.equals if check.equals is UNSET else _filled(check.equals, scope),
        not_equals=check.not_equals if check.not_equals is UNSET else _filled(check.not_equals, scope),
        exists=check.exists,
        interval_seconds=step.interval,
        # A wait always has one.
        timeout_seconds=step.time_limit or 0.0,
    )


def _filled(value: Any, scope: ValueScope) -> Any:
    match value:
        case str():
            return _text(value, scope)
        case Mapping():
            # Nothing is filled in in keys.
            return {escape_references(key): _filled(inner, scope) for key, inner in value.items()}
        case list() | tuple():
            return [_filled(inner, scope) for inner in value]
    return value


def _text(text: str, scope: ValueScope) -> Any:
    """The text with what is known by now, written so that it would be read as a recipe as what is meant."""
    found = split_references(text)
    if all(isinstance(one, str) or one.path[0] in scope for one in found):
        return _literal(expand_references(text, scope, ("params",)))
    # What is left can be read as a reference still.
    return "".join(escape_references(one) if isinstance(one, str) else _known(one, scope) for one in found)


def _known(reference: Reference, scope: ValueScope) -> str:
    return (
        escape_references(format_value(look_up_reference(reference, scope)))
        if reference.path[0] in scope
        else reference.text
    )


def _literal(value: Any) -> Any:
    match value:
        case str():
            return escape_references(value)
        case Mapping():
            return {escape_references(key): _literal(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_literal(inner) for inner in value]
    return value
