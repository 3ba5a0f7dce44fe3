"""Reads a recipe file and compiles it to a workflow."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

import re
from collections.abc import Iterator, Mapping

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import replace

from duvet import rules
from duvet.config.check import DocumentLocation, check_table, sort_problems
from duvet.config.document import DataDocument, DocumentError
from duvet.config.document_formats import read_document
from duvet.config.project_file import build_table
from duvet.config.service_tables import NAME_PATTERN, Name, Seconds
from duvet.config.settings import NonBlankText, TableError
from duvet.config.workflow_tables import CaptureSection, check_exactly_one
from duvet.config.workflow_tables import VariableType as Kind
from duvet.errors import DuvetError
from duvet.model import Place, Problem
from duvet.rules import CONFIG_BAD_VALUE, CONFIG_MISSING_KEY
from duvet.workflows.workflow import Capture, Check, Step, ToolStep, Variable, WaitStep, Workflow, recipe_workflow

RECIPE_VERSION = 1


class RecipeTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file, with its keys as they are written there."""


class CheckTable(RecipeTable, frozen=True, kw_only=True):
    """Something that has to hold of a result: everything of it that is given."""

    path: NonBlankText
    equals: Any = UNSET
    not_equals: Any = UNSET
    exists: bool | UnsetType = UNSET


class WaitTable(RecipeTable, frozen=True, kw_only=True):
    """A tool to be called until its result is as wanted."""

    tool: NonBlankText
    params: dict[str, Any] = field(default_factory=dict)
    until: CheckTable
    ##= man/spec/gateway.md#recipes
    ##% A wait MUST repeat its call every 5 seconds for up to 300 seconds, unless `interval_seconds` and
    ##% `timeout_seconds` differ.
    interval_seconds: Annotated[float, Meta(ge=0.5, le=3_600)] = 5.0
    timeout_seconds: Annotated[float, Meta(ge=1, le=86_400)] = 300.0


class StepTable(RecipeTable, frozen=True, kw_only=True):
    """A step: one of `tool` and `wait`."""

    id: Name
    description: str = ""
    tool: NonBlankText | None = None
    wait: WaitTable | None = None
    params: dict[str, Any] = field(default_factory=dict)
    expect: dict[str, Any] = field(default_factory=dict)
    asserts: tuple[CheckTable, ...] = field(default=(), name="assert")
    capture: tuple[CaptureSection, ...] = ()
    timeout_seconds: Seconds | None = None


class Recipe(RecipeTable, frozen=True, kw_only=True):
    """The whole file."""

    version: int = RECIPE_VERSION
    name: Name | None = None
    summary: str = ""
    variables: dict[Name, Any] = field(default_factory=dict)
    steps: Annotated[tuple[StepTable, ...], Meta(min_length=1)]
    outputs: dict[str, Any] = field(default_factory=dict)
    timeout_seconds: Seconds | None = None


_TIME_LIMIT = 600.0
"""Seconds that a recipe may take, besides its waits, where it says nothing."""


def make_recipe_workflow(name: str, recipe: Recipe) -> Workflow:
    """The workflow that the recipe is."""
    waits = sum(step.wait.timeout_seconds for step in recipe.steps if step.wait is not None)
    return Workflow(
        name=recipe_workflow(name),
        description=recipe.summary,
        steps=tuple(map(_step, recipe.steps)),
        variables={key: _variable(value) for key, value in recipe.variables.items()},
        outputs=recipe.outputs,
        time_limit=_TIME_LIMIT + waits if recipe.timeout_seconds is None else recipe.timeout_seconds,
    )


def _variable(value: Any) -> Variable:
    """What can be told for a variable: what is of the type of the value that it has otherwise."""
    ##= man/spec/gateway.md#recipes
    ##% Before the first step, duvet MUST refuse a variable that is unknown or mistyped, and require one whose value in
    ##% the file is null.
    if value is None:
        return Variable(None)
    # One that is written as 1.0 is no whole number.
    kind = Kind.NUMBER if isinstance(value, float) else next(kind for kind in Kind if kind.takes(value))
    return Variable(kind, "", value)


def _step(table: StepTable) -> Step:
    common: dict[str, Any] = {
        "id": table.id,
        "description": table.description,
        "expect": table.expect,
        "asserts": tuple(map(_check, table.asserts)),
        "capture": tuple(Capture(one.name, one.path) for one in table.capture),
    }
    if table.wait is not None:
        return _wait(table.wait, table.timeout_seconds, common)
    return ToolStep(tool=table.tool or "", params=table.params, time_limit=table.timeout_seconds, **common)


def _wait(table: WaitTable, time_limit: float | None, common: dict[str, Any]) -> Step:
    return WaitStep(
        tool=table.tool,
        params=table.params,
        until=_check(table.until),
        interval=table.interval_seconds,
        time_limit=min(table.timeout_seconds, time_limit or table.timeout_seconds),
        **common,
    )


def _check(table: CheckTable) -> Check:
    return Check(path=table.path, equals=table.equals, not_equals=table.not_equals, exists=table.exists)


def find_recipe_faults(values: Mapping[str, Any], at: DocumentLocation) -> Iterator[Problem]:
    """All of it, whatever else is wrong with the file."""
    version = values.get("version", RECIPE_VERSION)
    if type(version) is int and version != RECIPE_VERSION:
        message, hint = (
            f"version {version} of recipes is not known here",
            f"write it as one of version {RECIPE_VERSION}",
        )
        yield (at / "version").problem(CONFIG_BAD_VALUE, message, hint)
    for step, here in _tables(values.get("steps"), at / "steps"):
        yield from _in_step(step, here)
        for check, where in _tables(step.get("assert"), here / "assert"):
            yield from _in_check(check, where)
        wait = step.get("wait")
        until = wait.get("until") if isinstance(wait, dict) else None
        if isinstance(until, dict):
            yield from _in_check(until, here / "wait" / "until")


def _tables(value: Any, at: DocumentLocation) -> Iterator[tuple[dict[str, Any], DocumentLocation]]:
    for number, inner in enumerate(value) if isinstance(value, list) else ():
        if isinstance(inner, dict):
            yield inner, at / number


def _in_step(step: Mapping[str, Any], at: DocumentLocation) -> Iterator[Problem]:
    actions = ["tool", "wait"]
    try:
        ##= man/spec/gateway.md#recipes
        ##% duvet MUST list every problem of a recipe with file, line and path of the key, and run no step of it or of a
        ##% recipe that calls it.
        check_exactly_one([name for name in actions if step.get(name) is not None], actions)
    except TableError as error:
        below = at / error.key if error.key else at
        yield below.problem(error.rule, str(error), error.hint)
    if step.get("wait") is not None and step.get("params"):
        message = "the arguments of the tool stand in `wait`"
        yield (at / "params").problem(CONFIG_BAD_VALUE, message, "move them there")


def _in_check(check: Mapping[str, Any], at: DocumentLocation) -> Iterator[Problem]:
    given = {"equals", "not_equals", "exists"} & check.keys()
    if not given:
        message = "one of `equals`, `not_equals`, `exists` has to be here"
        yield at.problem(CONFIG_MISSING_KEY, message, "say what has to hold")
    elif check.get("exists") is False and given != {"exists"}:
        message = "what is not there can't be compared"
        yield (at / "exists").problem(CONFIG_BAD_VALUE, message, "keep `exists` alone")


ORIGIN_PROJECT, ORIGIN_SHIPPED, ORIGIN_FILE = "project", "shipped", "file"
"""Where a recipe comes from: the folders of the project, duvet itself, or a file that somebody has named."""


class RecipeFile(Struct, frozen=True, kw_only=True):
    """A recipe, or a file that was to be one."""

    name: str
    path: str
    origin: str
    data: bytes = b""
    workflow: Workflow | None = None
    """None where there are problems."""
    problems: tuple[Problem, ...] = ()
    document: DataDocument | None = None
    """To find places in."""

    @property
    def steps(self) -> int:
        return len(self.workflow.steps) if self.workflow else 0


def read_recipe(data: bytes, path: str, origin: str) -> RecipeFile:
    """The recipe in a file, or what is wrong with it."""
    found = RecipeFile(name=_stem(path), path=path, origin=origin, data=data)
    try:
        ##= man/spec/service.md#configuration
        ##% duvet MUST refuse a configuration or recipe that is larger than 1 MiB, is nested deeper than 64 levels, or
        ##% expands to more than 100,000 values or 4 Mi characters.
        document = read_document(data, path)
    except DocumentError as error:
        rule = rules.CONFIG_SYNTAX if error.is_text else rules.FILE_NOT_UTF8
        return replace(found, problems=(rule.problem(error.message, path, error.place, hint=error.hint),))
    return _checked(replace(found, document=document), document)


def make_broken_recipe(path: str, origin: str, error: DuvetError) -> RecipeFile:
    """A file that can't be read."""
    problem = rules.find_broken_rule(error).problem(error.message, path, Place(error.line), hint=error.hint)
    return RecipeFile(name=_stem(path), path=path, origin=origin, problems=(problem,))


def _checked(found: RecipeFile, document: DataDocument) -> RecipeFile:
    problems = sort_problems(_problems(document))
    called = document.values.get("name")
    # A file may say what it is called and be wrong all the same.
    name = called if isinstance(called, str) and _can_be_name(called) else found.name
    if problems:
        return replace(found, name=name, problems=problems)
    return replace(found, name=name, workflow=make_recipe_workflow(name, build_table(document.values, Recipe)))


def _problems(document: DataDocument) -> Iterator[Problem]:
    from duvet.config.service_schema import find_repeated_names

    at = DocumentLocation(document, {}, is_private=True)
    yield from check_table(Recipe, at)
    yield from find_recipe_faults(document.values, at)
    yield from find_repeated_names(document.values, at)
    if "name" not in document.values and not _can_be_name(_stem(document.path)):
        message = "the name of this file can't be that of a recipe"
        yield DocumentLocation(document, {}).problem(
            rules.CONFIG_MISSING_KEY, message, "say what it is called: `name: ...`"
        )


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _can_be_name(text: str) -> bool:
    return re.search(NAME_PATTERN, text) is not None
