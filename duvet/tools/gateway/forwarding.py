"""The pack of the tools about what is known, whose calls are forwarded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import NODEFAULT, UNSET, Struct, to_builtins
from msgspec.structs import fields, replace

from duvet.tools.ctx import Ctx
from duvet.tools.gateway.line import Line
from duvet.tools.knowledge.pack import KNOWLEDGE
from duvet.tools.tool import Answer, Pack, Tool

SEARCH = "km-search"
LOCAL = ("km-help",)
"""What is answered here: it tells of what there is here."""


def forwarding(line: Line) -> Pack:
    """The same pack, called there."""
    return replace(KNOWLEDGE, tools=partial(_tools, line))


def _tools(line: Line, settings: Mapping[str, Any]) -> Sequence[Tool]:
    found = KNOWLEDGE.tools
    ##= man/spec/gateway.md#access
    ##% With `KM_GATEWAY_URL`, `duvet mcp` over standard input and output and the shell MUST forward each call of a `km-` tool
    ##% to `POST /api/mcp` of that server, but for `km-help`, which tells of what can be called here.
    every = found(settings) if callable(found) else found
    return [tool if tool.name in LOCAL else _forwarded(tool, line) for tool in every]


def _forwarded(tool: Tool, line: Line) -> Tool:
    async def handle(asked: Struct, ctx: Ctx) -> Answer:
        found = await line.call(tool, _given(asked), ctx)
        return await _prompting(found, ctx) if tool.name == SEARCH else found

    return replace(tool, handler=handle, withheld=line.gateway.withheld(tool))


async def _prompting(found: Answer, ctx: Ctx) -> Answer:
    from duvet.knowledge.retrieval.records import Response
    from duvet.tools.knowledge.km_search import prompting

    ##= man/spec/gateway.md#access
    ##% Whether an answer of `km-search` that was forwarded says how to give feedback MUST depend on what can be called here,
    ##% whichever token was shown there.
    return replace(found, value=await prompting(found.value, ctx)) if isinstance(found.value, Response) else found


def _given(asked: Struct) -> dict[str, Any]:
    """What was said of the arguments: what wasn't is for that server to decide."""
    values = ((field, getattr(asked, field.name)) for field in fields(asked))
    return {
        field.encode_name: to_builtins(value)
        for field, value in values
        if value is not UNSET and (field.default is NODEFAULT or value != field.default)
    }
