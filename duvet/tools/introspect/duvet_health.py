"""`duvet_health`"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.tools.ctx import Ctx
from duvet.tools.errors import tool_error
from duvet.tools.facts import FACTS, Facts
from duvet.tools.tool import Tool


class State(StrEnum):
    """How well the server is."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNHEALTHY = "unhealthy"


class Input(Struct, frozen=True):
    """No arguments."""


class Output(Struct, frozen=True, kw_only=True):
    status: State
    timestamp: str
    problems: tuple[str, ...]


async def health(asked: Input, ctx: Ctx) -> Output:
    """Whether the project can be read, and everything that is configured is there."""
    facts: Facts = ctx.services[FACTS]
    ##= man/spec/service.md#packs
    ##% What `duvet_health` calls healthy MUST be a server whose packs are all loaded and whose project can be read.
    problems = [f"the pack {one.name} is left out: {one.reason}" for one in facts.unloaded]
    problems += [f"the workflow {name} is faulty: `duvet mcp --check` says why" for name in facts.faulty]
    status = State.DEGRADED if problems else State.HEALTHY
    try:
        await ctx.reading()
    except DuvetError as error:
        status, problems = State.UNHEALTHY, [str(tool_error(error)), *problems]
    return Output(status=status, timestamp=facts.clock().isoformat(timespec="seconds"), problems=tuple(problems))


HEALTH = Tool(
    name="duvet_health",
    title="Health of this server",
    description='Whether this server is "healthy", "degraded" (a pack or a workflow is out of use) or "unhealthy" (the project '
    "can't be read), with the reasons.",
    input=Input,
    output=Output,
    handler=health,
    labels=("server",),
)
