"""Finds the project's and the built-in recipes, and runs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from duvet import errors, model, rules, text
from duvet.config.document import MAX_DOCUMENT_BYTES
from duvet.config.settings import RECIPE_FOLDERS
from duvet.templates import recipe_file, recipe_names
from duvet.tools.call_context import CallContext, run_blocking
from duvet.tools.tool import RUNS_SERVICE, ErrorCode, ToolError
from duvet.tree.files import DiskTree, FolderMembership
from duvet.workflows import pack, recipe, steps, workflow

MAX_RECIPE_FILES = 1_000


class RecipeCatalogue:
    """Recipes are read again for every call."""

    def __init__(self, disk: DiskTree) -> None:
        self._disk = disk

    def read_all(self) -> dict[str, recipe.RecipeFile]:
        found: dict[str, recipe.RecipeFile] = {}
        for one in self._read_project():
            before = found.setdefault(one.name, one)
            if before is not one:
                place = before.document.value_place("name") if before.document else model.Place()
                message = f"duplicate recipe name {text.quote_text(before.name)}, also in {one.path}"
                problem = rules.CONFIG_BAD_VALUE.problem(
                    message, before.path, place, hint="give one of the recipes another `name`"
                )
                found[one.name] = replace(before, workflow=None, problems=(*before.problems, problem))
        built_in = (
            recipe.read_recipe(recipe_file(name), f"duvet:{name}.yaml", recipe.ORIGIN_BUILT_IN)
            for name in recipe_names()
        )
        return dict(sorted({**{one.name: one for one in built_in}, **found}.items()))

    async def run(self, name: str, given: Mapping[str, Any], ctx: CallContext) -> workflow.WorkflowRun:
        recipes = await run_blocking(self.read_all)
        found = require_recipe(name, recipes)
        registry = await ctx.calls.tools()
        problems = recipe.check_recipe(found, recipe.make_recipe_environment(registry.list_all(), recipes))
        if found.workflow is None or not recipe.is_runnable(problems):
            first, more = next(one for one in problems if one.severity is model.Severity.ERROR), len(problems) - 1
            where = f"{first.path}:{first.place.line}" if first.place.line else first.path
            rest = f", and {text.format_count(more, 'more problem')}" if more else ""
            details = [
                {
                    "path": problem.path,
                    "line": problem.place.line,
                    "column": problem.place.column,
                    "message": problem.message,
                    "hint": problem.hint,
                    "severity": problem.severity.value,
                }
                for problem in problems
            ]
            message = f"{where}: {first.message}{rest}"
            raise ToolError(ErrorCode.INVALID_REQUEST, message, first.hint, {"problems": details})
        workflow.resolve_variables(found.workflow, given)
        log = ctx.services.get(RUNS_SERVICE, steps.discard_run)
        from duvet.workflows.engine import run_workflow

        ##= man/spec/gateway.md#recipes
        ##% A recipe MUST have the rights of its caller, and no others.
        return await run_workflow(
            found.workflow, given, pack.CallerBackend(ctx), ctx.caller.progress, log, ctx.caller.journal
        )

    def _read_project(self) -> Iterator[recipe.RecipeFile]:
        inside = FolderMembership(self._disk.root or ".", self._disk)
        ##= man/spec/gateway.md#recipes
        ##% duvet MUST read the recipes of the project from `recipes` and `.duvet/recipes`, and prefer them to built-in
        ##% recipes with the same name.
        for folder in RECIPE_FOLDERS:
            # Backup files of editors begin with a dot.
            names = [one.name for one in self._disk.entries(folder) if not one.name.startswith(".")]
            paths = sorted(f"{folder}/{name}" for name in names if name.endswith((".yaml", ".yml")))
            if len(paths) > MAX_RECIPE_FILES:
                message = f"the folder has more than {MAX_RECIPE_FILES:,} recipes"
                raise errors.DuvetError(message, path=folder, hint="move some of them to another folder")
            for path in paths:
                if inside.has(path):
                    yield self.read(path, recipe.ORIGIN_PROJECT)
                else:
                    message, hint = "the link points outside the project", "copy the recipe into the project"
                    error = errors.UnreadableError(message, path=path, hint=hint)
                    yield recipe.make_broken_recipe(path, recipe.ORIGIN_PROJECT, error)

    def read(self, path: str, origin: str = recipe.ORIGIN_FILE) -> recipe.RecipeFile:
        try:
            if self._disk.status(path).st_size > MAX_DOCUMENT_BYTES:
                raise errors.UnreadableError("the file is larger than 1 MiB", path=path)
            return recipe.read_recipe(self._disk.read(path), path, origin)
        except errors.UnreadableError as error:
            return recipe.make_broken_recipe(path, origin, error)


def require_recipe(name: str, recipes: Mapping[str, recipe.RecipeFile]) -> recipe.RecipeFile:
    found = recipes.get(name)
    if found is None:
        hint = text.suggest_nearest(text.shorten_text(name), list(recipes))
        names = [name for name, one in recipes.items() if one.workflow]
        available = f"available: {text.join_names(names, 20)}"
        message = f"unknown recipe {text.quote_text(text.shorten_text(name))}"
        raise ToolError(ErrorCode.RECIPE_NOT_FOUND, message, " ".join(filter(None, [hint, available])))
    return found
