"""The recipes of a project and the built-in ones, and their runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from duvet import rules
from duvet.config.document import MAX_DOCUMENT_BYTES
from duvet.errors import DuvetError, UnreadableError
from duvet.model import Place, Problem, Severity
from duvet.templates import recipe_file, recipe_names
from duvet.text import format_count, quote_text, shorten_text
from duvet.tools.call_context import CallContext
from duvet.tools.tool import RUNS_SERVICE, ErrorCode, ToolError
from duvet.trace.names import suggest_nearest
from duvet.tree.files import FolderMembership
from duvet.workflows.engine import run_workflow
from duvet.workflows.inputs import resolve_variables
from duvet.workflows.pack import CallerBackend
from duvet.workflows.recipe import (
    ORIGIN_FILE,
    ORIGIN_PROJECT,
    ORIGIN_SHIPPED,
    RecipeFile,
    make_broken_recipe,
    read_recipe,
)
from duvet.workflows.recipe_check import check_recipe, is_runnable, make_recipe_environment
from duvet.workflows.references import WorkflowError
from duvet.workflows.steps import discard_run
from duvet.workflows.workflow import Workflow, WorkflowRun

if TYPE_CHECKING:
    from duvet.tree.files import DiskTree


RECIPE_FOLDERS = ("recipes", ".duvet/recipes")
MAX_RECIPE_FILES = 1_000
_ENDINGS = (".yaml", ".yml")
_OURS = "duvet:"
"""Stands before the names of files that come with duvet."""


class RecipeCatalogue:
    """Reads them anew whenever it is asked."""

    def __init__(self, disk: DiskTree) -> None:
        self._disk = disk

    def every(self) -> dict[str, RecipeFile]:
        """All by their names, in the order of these."""
        found: dict[str, RecipeFile] = {}
        for one in self._of_project():
            before = found.setdefault(one.name, one)
            if before is not one:
                found[one.name] = replace(before, workflow=None, problems=(*before.problems, _clash(before, one)))
        return dict(sorted({**{one.name: one for one in _shipped()}, **found}.items()))

    def file(self, path: str) -> RecipeFile:
        """The recipe in a file that somebody has named, wherever it is."""
        return self._read(path, ORIGIN_FILE)

    def _of_project(self) -> Iterator[RecipeFile]:
        inside = FolderMembership(self._disk.root or ".", self._disk)
        for path in self._paths():
            yield (
                self._read(path, ORIGIN_PROJECT)
                if inside.has(path)
                else make_broken_recipe(path, ORIGIN_PROJECT, _outside(path))
            )

    def _paths(self) -> Iterator[str]:
        ##= man/spec/gateway.md#recipes
        ##% For each run, duvet MUST read the recipes in `recipes` and `.duvet/recipes`, except through links out of the
        ##% project, and prefer them to its own recipes of the same name.
        for folder in RECIPE_FOLDERS:
            names = sorted(one.name for one in self._disk.entries(folder) if _is_recipe(one.name))
            if len(names) > MAX_RECIPE_FILES:
                raise DuvetError(
                    f"more than {MAX_RECIPE_FILES:,} recipes in a folder", path=folder, hint="move some elsewhere"
                )
            yield from (f"{folder}/{name}" for name in names)

    def _read(self, path: str, origin: str) -> RecipeFile:
        try:
            if self._disk.marks(path).st_size > MAX_DOCUMENT_BYTES:
                return make_broken_recipe(path, origin, UnreadableError("larger than 1 MiB", path=path))
            return read_recipe(self._disk.read(path), path, origin)
        except UnreadableError as error:
            return make_broken_recipe(path, origin, error)


def _is_recipe(name: str) -> bool:
    # What editors keep for themselves begins with a dot.
    return name.endswith(_ENDINGS) and not name.startswith(".")


def _shipped() -> Iterator[RecipeFile]:
    for name in recipe_names():
        yield read_recipe(recipe_file(name), f"{_OURS}{name}.yaml", ORIGIN_SHIPPED)


def _outside(path: str) -> UnreadableError:
    return UnreadableError("this leads out of the project", path=path, hint="put the recipe itself there")


def _clash(one: RecipeFile, other: RecipeFile) -> Problem:
    """Nobody could tell which of the two is meant."""
    place = one.document.value_place("name") if one.document else Place()
    message = f"{quote_text(one.name)} is the name of the recipe in {other.path}, too"
    return rules.CONFIG_BAD_VALUE.problem(message, one.path, place, hint="give one of them another `name`")


_NAMED = 20


class RecipeRunner:
    """The recipes of a project, as they are on disk whenever one is run."""

    def __init__(self, disk: DiskTree) -> None:
        self._shelf = RecipeCatalogue(disk)

    async def run(self, name: str, given: Mapping[str, Any], ctx: CallContext) -> WorkflowRun:
        """What comes of the recipe; ToolError where it can't be begun."""
        from anyio import to_thread

        recipes = await to_thread.run_sync(self._shelf.every)
        found = require_recipe(name, recipes)
        registry = await ctx.calls.tools()
        workflow = _sound(found, check_recipe(found, make_recipe_environment(registry.every(), recipes)))
        try:
            ##= man/spec/gateway.md#recipes
            ##% Before the first step, duvet MUST refuse a variable that is unknown or mistyped, and require one whose
            ##% value in the file is null.
            resolve_variables(workflow, given)
        except WorkflowError as error:
            raise ToolError(ErrorCode.INVALID_REQUEST, error.message, error.hint) from error
        ##= man/spec/gateway.md#recipes
        ##% `km-recipe-run` MUST return the status, the outputs, and the id, status, duration, message and result of
        ##% each step, and record the run like a workflow's.
        log = ctx.services.get(RUNS_SERVICE, discard_run)
        ##= man/spec/gateway.md#recipes
        ##% A recipe MUST be able to call every enabled tool and workflow, with the rights of its caller.
        return await run_workflow(workflow, given, CallerBackend(ctx), ctx.progress, log, ctx.caller.journal)


def require_recipe(name: str, recipes: Mapping[str, RecipeFile]) -> RecipeFile:
    """The recipe of that name; ToolError where there is none."""
    found = recipes.get(name)
    if found is None:
        ##= man/spec/gateway.md#recipes
        ##% `km-recipe-run` MUST answer `tool_failed`, `assert_failed` or `timeout` with the status of all steps for a
        ##% recipe that fails, and `recipe_not_found` with the available names for an unknown one.
        hint = suggest_nearest(shorten_text(name), list(recipes))
        names = [name for name, one in recipes.items() if one.workflow]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        there = f"there are {', '.join(names[:_NAMED])}{more}"
        message = f"there is no recipe {quote_text(shorten_text(name))}"
        raise ToolError(ErrorCode.RECIPE_NOT_FOUND, message, " ".join(filter(None, [hint, there])))
    return found


def _sound(found: RecipeFile, problems: Sequence[Problem]) -> Workflow:
    if found.workflow is not None and is_runnable(problems):
        return found.workflow
    first, more = next(one for one in problems if one.severity is Severity.ERROR), len(problems) - 1
    where = f"{first.path}:{first.place.line}" if first.place.line else first.path
    rest = f", and {format_count(more, 'more problem')}" if more else ""
    details = {"problems": [_told(problem) for problem in problems]}
    raise ToolError(ErrorCode.INVALID_REQUEST, f"{where}: {first.message}{rest}", first.hint, details)


def _told(problem: Problem) -> dict[str, object]:
    return {
        "path": problem.path,
        "line": problem.place.line,
        "column": problem.place.column,
        "message": problem.message,
        "hint": problem.hint,
        "severity": problem.severity.value,
    }
