"""`km-recipe-run`"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Protocol

from msgspec import UNSET, Meta, Struct, UnsetType, field, to_builtins

from duvet.runs import Failure, Run
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError
from duvet.tools.knowledge.known import TOOL_LABELS, require_text
from duvet.tools.services import RECIPES
from duvet.tools.tool import Answer, Scope, Tool

_NAME = "The name of the recipe, such as daily-health"


class Recipes(Protocol):
    """Runs recipes."""

    async def run(self, name: str, given: Mapping[str, Any], ctx: Ctx) -> Run:
        """What comes of the recipe; ToolError where it can't be begun."""


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    recipe: Annotated[str, Meta(description=_NAME)]
    vars: Annotated[dict[str, Any], Meta(description="What its variables are, by name")] = field(default_factory=dict)


class StepDone(Struct, frozen=True, kw_only=True):
    """What came of a step."""

    id: str
    status: str
    duration_seconds: float
    message: str
    result: Any


class Output(Struct, frozen=True, kw_only=True):
    status: str
    recipe: str
    outputs: Mapping[str, Any]
    steps: tuple[StepDone, ...]
    started_at: datetime
    finished_at: datetime
    duration_seconds: float
    warnings: tuple[str, ...]
    error: Failure | UnsetType = UNSET


async def recipe_run(asked: Input, ctx: Ctx) -> Answer:
    """What comes of a recipe."""
    recipes: Recipes | None = ctx.services.get(RECIPES)
    if recipes is None:
        raise ToolError(Code.UNSUPPORTED_OPERATION, "recipes are not run here")
    name = require_text("recipe", asked.recipe, _NAME)
    run = await recipes.run(name, asked.vars, ctx)
    ##= man/spec/gateway.md#recipes
    ##% `km-recipe-run` MUST answer the status `success`, the outputs, and of each step its id, its status, how many
    ##% seconds it took, a message and its result.
    done = told(name, run)
    if run.error is None:
        return Answer(value=done)
    ##= man/spec/gateway.md#recipes
    ##% A recipe that fails MUST be answered with `tool_failed`, `assert_failed` or `timeout`, with the step that failed, and
    ##% with what became of every step as the details, those that were not begun as `skipped`.
    where = f" in the step {run.error.step}" if run.error.step else ""
    message = f"{name} failed{where}: {run.error.message}"
    raise ToolError(Code(run.error.code.value), message, run.error.hint, details=to_builtins(done))


def told(name: str, run: Run) -> Output:
    """What is told of a run."""
    return Output(
        status=run.status,
        recipe=name,
        outputs=run.outputs,
        steps=tuple(
            StepDone(
                id=step.id,
                status=step.status,
                duration_seconds=step.duration_seconds,
                message=step.message,
                result=step.result,
            )
            for step in run.steps
        ),
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
    input=Input,
    output=Output,
    handler=recipe_run,
    scope=Scope.MAINTAINER,
    is_idempotent=False,
    ##= man/spec/gateway.md#recipes
    ##% Clients MUST be told of `km-recipe-run`, and of a workflow with a tool in it that may replace something, that it may
    ##% replace something.
    replaces=True,
    labels=TOOL_LABELS,
    accountable=("recipe",),
    failures=(Code.RECIPE_NOT_FOUND, Code.TOOL_FAILED, Code.ASSERT_FAILED, Code.TIMEOUT),
)
