"""Recipes being run, for the tool that does that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from duvet.model import Problem, Severity
from duvet.runs import Run
from duvet.text import plural, quoted, shortened
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError
from duvet.tools.services import RUNS
from duvet.workflows.doing import nowhere
from duvet.workflows.errors import WorkflowError
from duvet.workflows.inputs import variables
from duvet.workflows.recipes.checking import is_sound, known_of, problems_of
from duvet.workflows.recipes.reading import Found
from duvet.workflows.recipes.shelf import Shelf
from duvet.workflows.records import Workflow
from duvet.workflows.through import Through
from duvet.workflows.tool import run_workflow

if TYPE_CHECKING:
    from duvet.tree.disk import DiskTree

_NAMED = 20


class Recipes:
    """The recipes of a project, as they are on disk whenever one is run."""

    def __init__(self, disk: DiskTree) -> None:
        self._shelf = Shelf(disk)

    async def run(self, name: str, given: Mapping[str, Any], ctx: Ctx) -> Run:
        """What comes of the recipe; ToolError where it can't be begun."""
        from anyio import to_thread

        ##= man/spec/gateway.md#recipes
        ##% An edit of a recipe MUST be in force with the next run.
        recipes = await to_thread.run_sync(self._shelf.every)
        found = require(name, recipes)
        registry = await ctx.calls.tools()
        workflow = _sound(found, problems_of(found, known_of(registry.every(), recipes)))
        try:
            ##= man/spec/gateway.md#recipes
            ##% What a recipe is told for a variable that it doesn't have, or that is of another type than what stands in its
            ##% file, MUST be refused before any step.
            variables(workflow, given)
        except WorkflowError as error:
            raise ToolError(Code.INVALID_REQUEST, error.message, error.hint) from error
        ##= man/spec/gateway.md#recipes
        ##% The record of a run of a recipe MUST go where those of workflows go.
        log = ctx.services.get(RUNS, nowhere)
        ##= man/spec/gateway.md#recipes
        ##% The tools of a recipe MUST be called as whoever runs it: nobody may do more by a recipe than without.
        return await run_workflow(workflow, given, Through(ctx), ctx.progress, log, ctx.caller.journal)


def require(name: str, recipes: Mapping[str, Found]) -> Found:
    """The recipe of that name; ToolError where there is none."""
    found = recipes.get(name)
    if found is None:
        from duvet.queries.names import nearest_hint

        ##= man/spec/gateway.md#recipes
        ##% A recipe that there isn't MUST be refused as `recipe_not_found`, with the names of those that there are, which
        ##% files that are no recipes are not.
        hint = nearest_hint(shortened(name), list(recipes))
        names = [name for name, one in recipes.items() if one.workflow]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        there = f"there are {', '.join(names[:_NAMED])}{more}"
        message = f"there is no recipe {quoted(shortened(name))}"
        raise ToolError(Code.RECIPE_NOT_FOUND, message, " ".join(filter(None, [hint, there])))
    return found


def _sound(found: Found, problems: Sequence[Problem]) -> Workflow:
    if found.workflow is not None and is_sound(problems):
        return found.workflow
    ##= man/spec/gateway.md#recipes
    ##% Everything that is wrong with a recipe MUST be listed with its file, its line and the path of its key, and no step
    ##% of it MUST be begun.
    first, more = next(one for one in problems if one.severity is Severity.ERROR), len(problems) - 1
    where = f"{first.path}:{first.place.line}" if first.place.line else first.path
    rest = f", and {plural(more, 'more problem')}" if more else ""
    details = {"problems": [_told(problem) for problem in problems]}
    raise ToolError(Code.INVALID_REQUEST, f"{where}: {first.message}{rest}", first.hint, details)


def _told(problem: Problem) -> dict[str, object]:
    return {
        "path": problem.path,
        "line": problem.place.line,
        "column": problem.place.column,
        "message": problem.message,
        "hint": problem.hint,
        "severity": problem.severity.value,
    }
