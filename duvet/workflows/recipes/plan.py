"""What a recipe would do, without any of it being done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from duvet.workflows.known import tool_of
from duvet.workflows.names import recipe_name
from duvet.workflows.plain import as_text
from duvet.workflows.records import Check, Step, WaitStep, Workflow
from duvet.workflows.references import Reference, Scope, escaped, expand, look_up, pieces


class Until(Struct, frozen=True, kw_only=True):
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
    until: Until | UnsetType = UNSET


class Plan(Struct, frozen=True, kw_only=True):
    """All of it."""

    status: str = "dry_run"
    recipe: str
    vars: Mapping[str, Any]
    steps: Sequence[PlannedStep]


def plan(workflow: Workflow, told: Mapping[str, Any]) -> Plan:
    """What would be done with these variables."""
    ##= man/spec/gateway.md#recipes
    ##% With `--dry-run`, `duvet recipe run` MUST check the recipe and what it is told, show what each step would call with
    ##% what is known by then, and call nothing.
    scope = {"vars": told}
    return Plan(recipe=recipe_name(workflow.name), vars=told, steps=[_step(step, scope) for step in workflow.steps])


def _step(step: Step, scope: Scope) -> PlannedStep:
    until = _until(step.until, step, scope) if isinstance(step, WaitStep) else UNSET
    return PlannedStep(
        id=step.id,
        tool=tool_of(step),
        params=_filled(step.params, scope),
        description=step.description,
        until=until,
    )


def _until(check: Check, step: WaitStep, scope: Scope) -> Until:
    return Until(
        path=check.path,
        equals=check.equals if check.equals is UNSET else _filled(check.equals, scope),
        not_equals=check.not_equals if check.not_equals is UNSET else _filled(check.not_equals, scope),
        exists=check.exists,
        interval_seconds=step.interval,
        # A wait always has one.
        timeout_seconds=step.time_limit or 0.0,
    )


def _filled(value: Any, scope: Scope) -> Any:
    match value:
        case str():
            return _text(value, scope)
        case Mapping():
            # Nothing is filled in in keys.
            return {escaped(key): _filled(inner, scope) for key, inner in value.items()}
        case list() | tuple():
            return [_filled(inner, scope) for inner in value]
    return value


def _text(text: str, scope: Scope) -> Any:
    """The text with what is known by now, written so that it would be read as a recipe as what is meant."""
    found = pieces(text)
    if all(isinstance(one, str) or one.path[0] in scope for one in found):
        ##= man/spec/gateway.md#recipes
        ##% In what `--dry-run` shows of a step, `${` MUST begin a reference to what only a run brings, and a literal one,
        ##% in a key, too, MUST be written as `$${`.
        return _literal(expand(text, scope, ("params",)))
    # What is left can be read as a reference still.
    return "".join(escaped(one) if isinstance(one, str) else _known(one, scope) for one in found)


def _known(reference: Reference, scope: Scope) -> str:
    return escaped(as_text(look_up(reference, scope))) if reference.path[0] in scope else reference.text


def _literal(value: Any) -> Any:
    match value:
        case str():
            return escaped(value)
        case Mapping():
            return {escaped(key): _literal(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_literal(inner) for inner in value]
    return value
