"""`km-recipe-run`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Protocol

from msgspec import UNSET, Meta, Struct, UnsetType, convert, field, to_builtins

from duvet.tools.arguments import require_argument
from duvet.tools.call_context import CallContext
from duvet.tools.knowledge.index import TOOL_LABELS
from duvet.tools.tool import RECIPES_SERVICE, ErrorCode, Scope, Tool, ToolAnswer, ToolError
from duvet.workflows.workflow import WorkflowFailure, WorkflowRun

_NAME = "The name of the recipe, such as daily-health"


class RecipeExecutor(Protocol):
    """The service that runs recipes."""

    async def run(self, name: str, given: Mapping[str, Any], ctx: CallContext) -> WorkflowRun:
        """Return the record of the run; ToolError if it can't be started."""


class KmRecipeRunInput(Struct, frozen=True, forbid_unknown_fields=True):
    recipe: Annotated[str, Meta(description=_NAME)]
    vars: Annotated[dict[str, Any], Meta(description="What its variables are, by name")] = field(default_factory=dict)


class RecipeStepResult(Struct, frozen=True, kw_only=True):
    id: str
    status: str
    duration_seconds: float
    message: str
    result: Any


class KmRecipeRunOutput(Struct, frozen=True, kw_only=True):
    status: str
    recipe: str
    outputs: Mapping[str, Any]
    steps: tuple[RecipeStepResult, ...]
    started_at: datetime
    finished_at: datetime
    duration_seconds: float
    warnings: tuple[str, ...]
    error: WorkflowFailure | UnsetType = UNSET


async def run_recipe_tool(arguments: KmRecipeRunInput, ctx: CallContext) -> ToolAnswer:
    recipes: RecipeExecutor | None = ctx.services.get(RECIPES_SERVICE)
    if recipes is None:
        raise ToolError(ErrorCode.UNSUPPORTED_OPERATION, "recipes are not run here")
    name = require_argument("recipe", arguments.recipe, _NAME)
    run = await recipes.run(name, arguments.vars, ctx)
    ##= man/spec/gateway.md#recipes
    ##% `km-recipe-run` MUST return the status, the outputs, and the id, status, duration, message and result of each
    ##% step, and record the run like a workflow's.
    done = make_recipe_output(name, run)
    if run.error is None:
        return ToolAnswer(value=done)
    ##= man/spec/gateway.md#recipes
    ##% `km-recipe-run` MUST answer `tool_failed`, `assert_failed` or `timeout` with the status of all steps for a
    ##% recipe that fails, and `recipe_not_found` with the available names for an unknown one.
    raise ToolError(
        ErrorCode(run.error.code.value), run.error.describe(name), run.error.hint, details=to_builtins(done)
    )


def make_recipe_output(name: str, run: WorkflowRun) -> KmRecipeRunOutput:
    return KmRecipeRunOutput(
        status=run.status,
        recipe=name,
        outputs=run.outputs,
        steps=tuple(convert(step, RecipeStepResult, from_attributes=True) for step in run.steps),
        started_at=run.started_at,
        finished_at=run.finished_at,
        duration_seconds=run.duration_seconds,
        warnings=tuple(run.warnings),
        error=run.error or UNSET,
    )


RECIPE_RUN = Tool(
    name="km-recipe-run",
    title="Run a recipe",
    description="Has the steps of a recipe of the project done, tool by tool, such as daily-health, release-prep, stale-audit "
    "or subsystem-freshness, and tells what came of each and of all.",
    input=KmRecipeRunInput,
    output=KmRecipeRunOutput,
    handler=run_recipe_tool,
    scope=Scope.MAINTAINER,
    is_idempotent=False,
    replaces=True,
    labels=TOOL_LABELS,
    accountable=("recipe",),
    failures=(ErrorCode.RECIPE_NOT_FOUND, ErrorCode.TOOL_FAILED, ErrorCode.ASSERT_FAILED, ErrorCode.TIMEOUT),
)
