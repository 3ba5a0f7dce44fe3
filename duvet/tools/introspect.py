"""The introspect pack: health and server information."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from functools import partial

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.tools import call_context, tool

_declare = partial(tool.declare_tool, labels=("server",))


class HealthState(StrEnum):
    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNHEALTHY = "unhealthy"


class NoArguments(Struct, frozen=True):
    pass


class DuvetHealthOutput(Struct, frozen=True, kw_only=True):
    status: HealthState
    timestamp: str
    problems: tuple[str, ...]


@_declare("duvet_health", "Server health", NoArguments, DuvetHealthOutput)
async def check_health(request: NoArguments, ctx: call_context.CallContext) -> DuvetHealthOutput:
    """Report whether this server is "healthy", "degraded" (a pack or a workflow could not be loaded) or "unhealthy" (the
    project can't be read), with the reasons."""
    facts: call_context.ServerFacts = ctx.services[call_context.FACTS_SERVICE]
    problems = [f"the pack {one.name} was not loaded: {one.reason}" for one in facts.unloaded]
    problems += [f"the workflow {name} is invalid: `duvet mcp --check` shows why" for name in facts.faulty]
    status = HealthState.DEGRADED if problems else HealthState.HEALTHY
    try:
        await ctx.readings.context()
    except DuvetError as error:
        status, problems = HealthState.UNHEALTHY, [str(tool.make_tool_error(error)), *problems]
    return DuvetHealthOutput(
        status=status, timestamp=datetime.now(UTC).isoformat(timespec="seconds"), problems=tuple(problems)
    )


@_declare("duvet_server_info", "Server information", NoArguments, call_context.ServerInfo)
def describe_server(request: NoArguments, ctx: call_context.CallContext) -> call_context.ServerInfo:
    """Return this server's name, version, transport and number of tools, and the enabled packs, workflows and model
    providers."""
    facts: call_context.ServerFacts = ctx.services[call_context.FACTS_SERVICE]
    return facts.info
