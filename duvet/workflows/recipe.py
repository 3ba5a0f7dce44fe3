"""Reads a recipe file and compiles it to a workflow."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

import re
from collections.abc import Iterator, Mapping
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
from duvet.workflows.inputs import compile_step
from duvet.workflows.workflow import Variable, Workflow, recipe_workflow

RECIPE_VERSION = 1


class RecipeTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a recipe file, with its keys in snake case."""


class CheckTable(RecipeTable, frozen=True, kw_only=True):
    """A condition on a result, of all parts that are given."""

    path: NonBlankText
    equals: Any = UNSET
    not_equals: Any = UNSET
    exists: bool | UnsetType = UNSET


class WaitTable(RecipeTable, frozen=True, kw_only=True):
    """A tool to call until its result meets a condition."""

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
"""Seconds for a recipe without a limit, besides its waits."""


def make_recipe_workflow(name: str, recipe: Recipe) -> Workflow:
    """Compile a recipe."""
    waits = sum(step.wait.timeout_seconds for step in recipe.steps if step.wait is not None)
    return Workflow(
        name=recipe_workflow(name),
        description=recipe.summary,
        steps=tuple(map(compile_step, recipe.steps)),
        variables={key: _make_variable(value) for key, value in recipe.variables.items()},
        outputs=recipe.outputs,
        time_limit=_TIME_LIMIT + waits if recipe.timeout_seconds is None else recipe.timeout_seconds,
    )


def _make_variable(default: Any) -> Variable:
    """Return a variable of the type of its default."""
    ##= man/spec/gateway.md#recipes
    ##% Before the first step, duvet MUST refuse a variable that is unknown or mistyped, and require one whose value in
    ##% the file is null.
    if default is None:
        return Variable(None)
    # 1.0 is no integer here.
    kind = Kind.NUMBER if isinstance(default, float) else next(kind for kind in Kind if kind.takes(default))
    return Variable(kind, "", default)


def _find_faults(values: Mapping[str, Any], at: DocumentLocation) -> Iterator[Problem]:
    """Find the problems that the schema doesn't express, also in a file with other problems."""
    version = values.get("version", RECIPE_VERSION)
    if type(version) is int and version != RECIPE_VERSION:
        message, hint = (
            f"version {version} of recipes is not known here",
            f"write it as one of version {RECIPE_VERSION}",
        )
        yield (at / "version").problem(CONFIG_BAD_VALUE, message, hint)
    for step, here in _list_tables(values.get("steps"), at / "steps"):
        yield from _find_step_faults(step, here)
        for check, where in _list_tables(step.get("assert"), here / "assert"):
            yield from _find_check_faults(check, where)
        wait = step.get("wait")
        until = wait.get("until") if isinstance(wait, dict) else None
        if isinstance(until, dict):
            yield from _find_check_faults(until, here / "wait" / "until")


def _list_tables(value: Any, at: DocumentLocation) -> Iterator[tuple[dict[str, Any], DocumentLocation]]:
    for number, inner in enumerate(value) if isinstance(value, list) else ():
        if isinstance(inner, dict):
            yield inner, at / number


def _find_step_faults(step: Mapping[str, Any], at: DocumentLocation) -> Iterator[Problem]:
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


def _find_check_faults(check: Mapping[str, Any], at: DocumentLocation) -> Iterator[Problem]:
    given = {"equals", "not_equals", "exists"} & check.keys()
    if not given:
        message = "one of `equals`, `not_equals`, `exists` has to be here"
        yield at.problem(CONFIG_MISSING_KEY, message, "say what has to hold")
    elif check.get("exists") is False and given != {"exists"}:
        message = "what is not there can't be compared"
        yield (at / "exists").problem(CONFIG_BAD_VALUE, message, "keep `exists` alone")


ORIGIN_PROJECT, ORIGIN_SHIPPED, ORIGIN_FILE = "project", "shipped", "file"
"""The origins of recipes: the folders of the project, duvet itself, or a file named by the user."""


class RecipeFile(Struct, frozen=True, kw_only=True):
    """A recipe file, which may have problems."""

    name: str
    path: str
    origin: str
    data: bytes = b""
    workflow: Workflow | None = None
    """None if there are problems."""
    problems: tuple[Problem, ...] = ()
    document: DataDocument | None = None
    """The values with their places."""

    @property
    def steps(self) -> int:
        return len(self.workflow.steps) if self.workflow else 0


def read_recipe(data: bytes, path: str, origin: str) -> RecipeFile:
    """Return the recipe in a file, or its problems."""
    name = _stem(path)
    found = RecipeFile(name=name, path=path, origin=origin, data=data)
    try:
        ##= man/spec/service.md#configuration
        ##% duvet MUST refuse a configuration or recipe that is larger than 1 MiB, is nested deeper than 64 levels, or
        ##% expands to more than 100,000 values or 4 Mi characters.
        document = read_document(data, path)
    except DocumentError as error:
        rule = rules.CONFIG_SYNTAX if error.is_text else rules.FILE_NOT_UTF8
        return replace(found, problems=(rule.problem(error.message, path, error.place, hint=error.hint),))
    problems = sort_problems(_find_problems(document))
    # The name in the file counts even if the rest is wrong.
    own_name = document.values.get("name")
    if isinstance(own_name, str) and _can_be_name(own_name):
        name = own_name
    workflow = None if problems else make_recipe_workflow(name, build_table(document.values, Recipe))
    return replace(found, name=name, document=document, problems=problems, workflow=workflow)


def make_broken_recipe(path: str, origin: str, error: DuvetError) -> RecipeFile:
    """Return the recipe of a file that can't be read."""
    problem = rules.find_broken_rule(error).problem(error.message, path, Place(error.line), hint=error.hint)
    return RecipeFile(name=_stem(path), path=path, origin=origin, problems=(problem,))


def _find_problems(document: DataDocument) -> Iterator[Problem]:
    from duvet.config.service_schema import find_repeated_names

    at = DocumentLocation(document, {}, is_private=True)
    yield from check_table(Recipe, at)
    yield from _find_faults(document.values, at)
    yield from find_repeated_names(document.values, at)
    if "name" not in document.values and not _can_be_name(_stem(document.path)):
        message, hint = "the name of this file can't be that of a recipe", "say what it is called: `name: ...`"
        yield DocumentLocation(document, {}).problem(rules.CONFIG_MISSING_KEY, message, hint)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _can_be_name(text: str) -> bool:
    return re.search(NAME_PATTERN, text) is not None
