"""Recipes as the workflows that they are."""

from __future__ import annotations

from typing import Any

from duvet.config.service.workflows import VariableType as Kind
from duvet.workflows.names import recipe_workflow
from duvet.workflows.recipes.sections import CheckTable, Recipe, StepTable, WaitTable
from duvet.workflows.records import Capture, Check, Step, ToolStep, Variable, WaitStep, Workflow

_TIME_LIMIT = 600.0
"""Seconds that a recipe may take, besides its waits, where it says nothing."""


def workflow_of(name: str, recipe: Recipe) -> Workflow:
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
    ##% A variable that is null MUST be given when the recipe is run, and may be of any type.
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
