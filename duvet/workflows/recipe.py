"""Reads a recipe file, compiles it to a workflow, checks it against the available tools, and plans its run."""

# No `from __future__ import annotations` here: msgspec would compile the text of each annotation at every start.

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert, field, structs

from duvet import errors, rules
from duvet.config import document_formats, service_tables, settings
from duvet.config.check import check_table, find_repeated_names, list_tables, respell_keys
from duvet.config.document import DataDocument, DocumentError, DocumentLocation
from duvet.model import Place, Problem, Severity, sort_problems
from duvet.text import quote_text, shorten_text, suggest_nearest
from duvet.tools.tool import Tool
from duvet.workflows import references, workflow as records
from duvet.workflows.check import WorkflowEnvironment, WorkflowFault, check_workflow, find_step_tool, make_fault_problem

RECIPE_VERSION = 1
_TIME_LIMIT = 600.0  # Time limit of a recipe that sets none, in seconds, not counting its waits.
ORIGIN_PROJECT, ORIGIN_BUILT_IN, ORIGIN_FILE = "project", "built-in", "file"
_Table = TypeVar("_Table", bound=Struct)
_FALLBACKS = {"id": "", "tool": "", "path": "result", "name": ""}  # Placeholders for unreadable values.


class RecipeTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class WaitTable(RecipeTable, frozen=True, kw_only=True):
    tool: settings.NonBlankText
    params: dict[str, Any] = field(default_factory=dict)
    until: records.Check
    interval_seconds: Annotated[float, Meta(ge=0.5, le=3_600)] = 5.0
    timeout_seconds: Annotated[float, Meta(ge=1, le=86_400)] = 300.0


class StepTable(RecipeTable, frozen=True, kw_only=True):
    id: service_tables.Name
    description: str = ""
    tool: settings.NonBlankText | None = None
    wait: WaitTable | None = None
    params: dict[str, Any] = field(default_factory=dict)
    expect: dict[str, Any] = field(default_factory=dict)
    asserts: tuple[records.Check, ...] = field(default=(), name="assert")
    capture: tuple[service_tables.CaptureSection, ...] = ()
    timeout_seconds: service_tables.Seconds | None = None


class Recipe(RecipeTable, frozen=True, kw_only=True):
    version: int = RECIPE_VERSION
    name: service_tables.Name | None = None
    summary: str = ""
    variables: dict[service_tables.Name, Any] = field(default_factory=dict)
    steps: Annotated[tuple[StepTable, ...], Meta(min_length=1)]
    outputs: dict[str, Any] = field(default_factory=dict)
    timeout_seconds: service_tables.Seconds | None = None


def make_recipe_workflow(name: str, recipe: Recipe) -> records.Workflow:
    waits = sum(step.wait.timeout_seconds for step in recipe.steps if step.wait is not None)
    variables, kinds = {}, service_tables.VariableType
    for key, value in recipe.variables.items():
        # 1.0 is a number, not an integer.
        kind = kinds.NUMBER if isinstance(value, float) else next((kind for kind in kinds if kind.takes(value)), None)
        variables[key] = records.Variable(None) if value is None else records.Variable(kind, "", value)
    return records.Workflow(
        name=records.RECIPE_PREFIX + name,
        description=recipe.summary,
        steps=tuple(map(records.compile_step, recipe.steps)),
        variables=variables,
        outputs=recipe.outputs,
        time_limit=_TIME_LIMIT + waits if recipe.timeout_seconds is None else recipe.timeout_seconds,
    )


def _find_faults(values: Mapping[str, Any], at: DocumentLocation) -> Iterator[Problem]:
    version = values.get("version", RECIPE_VERSION)
    if type(version) is int and version != RECIPE_VERSION:
        message, hint = f"unsupported recipe version {version}", f"write `version: {RECIPE_VERSION}`"
        yield (at / "version").problem(rules.CONFIG_BAD_VALUE, message, hint)
    for step, here in list_tables(values.get("steps"), at / "steps"):
        actions = ["tool", "wait"]
        try:
            service_tables.check_exactly_one([name for name in actions if step.get(name) is not None], actions)
        except settings.TableError as error:
            below = here / error.key if error.key else here
            yield below.problem(error.rule, str(error), error.hint)
        if step.get("wait") is not None and step.get("params"):
            message = "`params` can't be used with `wait`"
            yield (here / "params").problem(rules.CONFIG_BAD_VALUE, message, "move `params` into `wait`")
        for check, where in list_tables(step.get("assert"), here / "assert"):
            yield from _find_check_faults(check, where)
        match step.get("wait"):
            case {"until": dict() as until}:
                yield from _find_check_faults(until, here / "wait" / "until")


def _find_check_faults(check: Mapping[str, Any], at: DocumentLocation) -> Iterator[Problem]:
    given = {"equals", "not_equals", "exists"} & check.keys()
    if not given:
        message = "one of `equals`, `not_equals`, `exists` is required"
        yield at.problem(rules.CONFIG_MISSING_KEY, message, "add one of them")
    elif check.get("exists") is False and given != {"exists"}:
        message = "`exists: false` can't be combined with a comparison"
        hint = f"remove {' and '.join(f'`{one}`' for one in sorted(given - {'exists'}))}"
        yield (at / "exists").problem(rules.CONFIG_BAD_VALUE, message, hint)


class RecipeFile(Struct, frozen=True, kw_only=True):
    name: str
    path: str
    origin: str
    data: bytes = b""
    workflow: records.Workflow | None = None  # None if there are problems.
    problems: tuple[Problem, ...] = ()
    document: DataDocument | None = None


def read_recipe(data: bytes, path: str, origin: str) -> RecipeFile:
    found = RecipeFile(name=_find_stem(path), path=path, origin=origin, data=data)
    try:
        document = respell_keys(document_formats.read_document(data, path), Recipe)
    except DocumentError as error:
        return structs.replace(found, problems=(error.make_problem(),))
    problems = sort_problems(_find_problems(document))
    # The name in the file counts even if the rest is wrong.
    own_name = document.values.get("name")
    name = own_name if isinstance(own_name, str) and _can_be_name(own_name) else found.name
    workflow = None if problems else make_recipe_workflow(name, convert(document.values, Recipe))
    return structs.replace(found, name=name, document=document, problems=problems, workflow=workflow)


def make_broken_recipe(path: str, origin: str, error: errors.DuvetError) -> RecipeFile:
    problem = rules.find_broken_rule(error).problem(error.message, path, Place(error.line), hint=error.hint)
    return RecipeFile(name=_find_stem(path), path=path, origin=origin, problems=(problem,))


def _find_problems(document: DataDocument) -> Iterator[Problem]:
    at = document.locate()
    yield from check_table(Recipe, at)
    yield from _find_faults(document.values, at)
    yield from find_repeated_names(document.values, at)
    if "name" not in document.values and not _can_be_name(_find_stem(document.path)):
        message = "the file name is not a valid recipe name"
        yield DocumentLocation(document, {}).problem(rules.CONFIG_MISSING_KEY, message, "add `name: NAME` to the file")


def _find_stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _can_be_name(text: str) -> bool:
    return re.search(service_tables.NAME_PATTERN, text) is not None


class _RecipeDraft:
    workflow: records.Workflow

    def __init__(self) -> None:
        self.unread: set[references.ValuePath] = set()  # The places at which the draft differs from the file.
        self.vague: set[str] = set()  # The first parts of references that can't be checked.

    def has(self, fault: WorkflowFault) -> bool:
        return fault.root not in self.vague and not any(fault.keys[: len(one)] == one for one in self.unread)

    def read(self, kind: type[_Table], raw: Any, keys: references.ValuePath, **inner: Any) -> _Table:
        raw, values = self._check_table(raw, keys), dict(inner)
        for key in structs.fields(kind):
            name = key.encode_name
            if key.name in inner or (name not in raw and not key.required):
                continue
            try:
                values[key.name] = convert(raw[name], key.type)
            except (KeyError, ValidationError):
                self.unread.add((*keys, name))
                if key.required:
                    values[key.name] = _FALLBACKS[key.name]
        return kind(**values)

    def read_step(self, raw: Any, keys: references.ValuePath) -> StepTable:
        table, wait = self._check_table(raw, keys), None
        # If the action is missing, it has no name to check.
        if table.get("tool") is table.get("wait") is None:
            self.unread.add((*keys, "tool"))
        if table.get("wait") is not None:
            at = (*keys, "wait")
            until = self._check_table(table["wait"], at).get("until")
            wait = self.read(WaitTable, table["wait"], at, until=self.read(records.Check, until, (*at, "until")))
        checks = [self.read(records.Check, *one) for one in self._list_items(table, keys, "assert")]
        captures = [self.read(service_tables.CaptureSection, *one) for one in self._list_items(table, keys, "capture")]
        if not isinstance(table.get("capture", []), list | dict | None) or not all(one.name for one in captures):
            self.vague.add("captures")
        return self.read(StepTable, table, keys, wait=wait, asserts=tuple(checks), capture=tuple(captures))

    def _list_items(
        self, raw: Mapping[str, Any], keys: references.ValuePath, name: str
    ) -> list[tuple[Any, references.ValuePath]]:
        value = raw.get(name)
        if isinstance(value, list):
            return [(one, (*keys, name, n)) for n, one in enumerate(value)]
        if value is not None:
            self.unread.add((*keys, name))
        # A table without a list around it is still readable.
        return [(value, (*keys, name))] if isinstance(value, dict) else []

    def _check_table(self, raw: Any, keys: references.ValuePath) -> dict[str, Any]:
        if isinstance(raw, dict):
            return raw
        self.unread.add(keys)
        return {}


def make_recipe_environment(tools: Iterable[Tool], recipes: Mapping[str, RecipeFile]) -> WorkflowEnvironment:
    workflows = {}
    for name, one in recipes.items():
        # Other recipes check their calls to a faulty recipe against its readable parts.
        draft = None if one.workflow else _read_draft(one)
        nothing = records.Workflow(name=records.RECIPE_PREFIX + one.name, description="", steps=())
        workflows[name] = one.workflow or (draft.workflow if draft else nothing)
    return WorkflowEnvironment(
        tools={tool.name: tool for tool in tools},
        workflows={},
        recipes=workflows,
        faulty=[name for name, one in recipes.items() if one.workflow is None],
    )


def _read_draft(found: RecipeFile) -> _RecipeDraft | None:
    values = found.document.values if found.document else {}
    variables, steps = values.get("variables", {}), values.get("steps")
    if not isinstance(variables, dict) or not isinstance(steps, list):
        return None
    draft = _RecipeDraft()
    tables = tuple(draft.read_step(step, ("steps", number)) for number, step in enumerate(steps))
    recipe = draft.read(Recipe, values, (), variables=variables, steps=tables)
    draft.workflow = make_recipe_workflow(found.name, recipe)
    return draft


def check_recipe(found: RecipeFile, known: WorkflowEnvironment) -> tuple[Problem, ...]:
    if found.document is None:
        return found.problems
    draft = None if found.workflow else _read_draft(found)
    workflow = found.workflow or (draft.workflow if draft else None)
    faults = [*check_workflow(workflow, known), *_check_called_recipes(workflow, known)] if workflow else []
    at = found.document.locate()
    ##= man/spec/gateway.md#recipes
    ##% duvet MUST list every problem of a recipe with its line, and MUST NOT run a recipe that has problems.
    problems = [*found.problems]
    for fault in faults:
        if draft is None or draft.has(fault):
            # The keys of a workflow, as a recipe spells them.
            match keys := fault.keys:
                case ("variables", name, "default", *_):
                    keys = ("variables", name)
                case (_, _, "assert", _, "notEquals", *more) | (_, _, "wait", "until", "notEquals", *more):
                    keys = (*keys[:4], "not_equals", *more)
            problems.append(make_fault_problem(fault, at._replace(keys=keys)))
    return sort_problems(problems)


def is_runnable(problems: Iterable[Problem]) -> bool:
    return all(problem.severity is Severity.WARNING for problem in problems)


def _check_called_recipes(workflow: records.Workflow, known: WorkflowEnvironment) -> Iterator[WorkflowFault]:
    for number, step in enumerate(workflow.steps):
        name = step.params.get(records.RECIPE_ARGUMENT) if find_step_tool(step) == records.RECIPE_TOOL else None
        if not isinstance(name, str) or not references.is_constant(name):
            continue
        at = ("wait", "params") if isinstance(step, records.WaitStep) else ("params",)
        keys: references.ValuePath = ("steps", number, *at, records.RECIPE_ARGUMENT)
        shown = quote_text(shorten_text(name))
        if name not in known.recipes:
            hint = suggest_nearest(shorten_text(name), list(known.recipes))
            yield WorkflowFault(keys, f"unknown recipe {shown}", hint)
        # A recipe that calls itself has a separate error.
        elif name in known.faulty and records.RECIPE_PREFIX + name != workflow.name:
            message, hint = f"the recipe {shown} has errors", "run `duvet recipe check` to list them"
            yield WorkflowFault(keys, message, hint)


class WaitCondition(Struct, frozen=True, kw_only=True):
    path: str
    equals: Any = UNSET
    not_equals: Any = UNSET
    exists: bool | UnsetType = UNSET
    interval_seconds: float
    timeout_seconds: float


class PlannedStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """References to results stay unresolved."""

    id: str
    tool: str
    params: Mapping[str, Any]
    description: str = ""
    until: WaitCondition | UnsetType = UNSET


class RecipePlan(Struct, frozen=True, kw_only=True):
    status: str = "dry_run"
    recipe: str
    vars: Mapping[str, Any]
    steps: Sequence[PlannedStep]


def plan_recipe_run(workflow: records.Workflow, variables: Mapping[str, Any]) -> RecipePlan:
    ##= man/spec/gateway.md#recipes
    ##% With `--dry-run`, `duvet recipe run` MUST print the call that each step would make, and call nothing.
    steps, scope = [], {"vars": variables}
    for step in workflow.steps:
        until: WaitCondition | UnsetType = UNSET
        if isinstance(step, records.WaitStep):
            until = WaitCondition(
                path=step.until.path,
                equals=_expand_known(step.until.equals, scope),
                not_equals=_expand_known(step.until.not_equals, scope),
                exists=step.until.exists,
                interval_seconds=step.interval,
                # A compiled wait always has a limit.
                timeout_seconds=step.time_limit or 0.0,
            )
        params, tool = _expand_known(step.params, scope), find_step_tool(step)
        steps.append(PlannedStep(id=step.id, tool=tool, params=params, description=step.description, until=until))
    return RecipePlan(recipe=workflow.name.removeprefix(records.RECIPE_PREFIX), vars=variables, steps=steps)


def _expand_known(value: Any, scope: references.ValueScope) -> Any:
    def expand(text: str) -> Any:
        found = references.split_references(text)
        if all(isinstance(one, str) or one.path[0] in scope for one in found):
            whole = references.expand_references(text, scope, ("params",))
            return references.map_texts(whole, references.escape_references)
        return "".join(
            one.text
            if isinstance(one, references.Reference) and one.path[0] not in scope
            else references.escape_references(
                one if isinstance(one, str) else references.format_value(references.look_up_reference(one, scope))
            )
            for one in found
        )

    # Keys contain no references.
    return references.map_texts(value, expand, references.escape_references)
