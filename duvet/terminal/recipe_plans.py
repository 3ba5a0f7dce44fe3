"""What a recipe would do, for people."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET, json

from duvet.reports.blocks import Block, Facts, Rows, Title
from duvet.reports.listing import Column, Listing, Look
from duvet.reports.show_text import render
from duvet.workflows.recipes.plan import Plan, PlannedStep, Until

_STEPS = (
    Column("step", lambda step: step.id),
    Column("tool", lambda step: step.tool),
    Column("arguments", lambda step: _json(step.params) if step.params else "", wraps=True),
    Column("until", lambda step: _until(step), wraps=True),
)


def plan_text(planned: Plan, look: Look) -> bytes:
    """The steps, in the order in which they would be done."""
    return render(_blocks(planned), look)


def _blocks(planned: Plan) -> Iterator[Block]:
    yield Title(planned.recipe, ("dry run",))
    yield Rows(Listing(_STEPS, planned.steps))
    if planned.vars:
        yield Title("Variables", rank=2)
        yield Facts([(name, _json(value)) for name, value in planned.vars.items()])


def _until(step: PlannedStep) -> str:
    if step.until is UNSET:
        return ""
    return f"{step.until.path} {_wanted(step.until)}, every {step.until.interval_seconds:g} s, for {_limit(step.until)}"


def _wanted(until: Until) -> str:
    found = [] if until.exists is UNSET else ["is there" if until.exists else "is not there"]
    found += [] if until.equals is UNSET else [f"is {_json(until.equals)}"]
    found += [] if until.not_equals is UNSET else [f"is not {_json(until.not_equals)}"]
    return " and ".join(found)


def _limit(until: Until) -> str:
    return f"{until.timeout_seconds:g} s at most"


def _json(value: object) -> str:
    return json.encode(value).decode()
