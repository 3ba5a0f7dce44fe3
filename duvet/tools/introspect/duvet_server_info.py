"""`duvet_server_info`"""

from __future__ import annotations

from msgspec import Struct

from duvet.tools.ctx import Ctx
from duvet.tools.facts import FACTS, Facts
from duvet.tools.tool import Tool


class Input(Struct, frozen=True):
    """No arguments."""


class Output(Struct, frozen=True, kw_only=True):
    name: str
    version: str
    mode: str
    enabled_tool_packs: tuple[str, ...]
    tool_count: int
    workflows: tuple[str, ...]
    providers: tuple[str, ...]
    provider_count: int


def info(asked: Input, ctx: Ctx) -> Output:
    """What is switched on."""
    facts: Facts = ctx.services[FACTS]
    return Output(
        name=facts.name,
        version=facts.version,
        mode=facts.mode,
        enabled_tool_packs=tuple(facts.packs),
        tool_count=facts.tools,
        workflows=tuple(facts.workflows),
        providers=tuple(facts.providers),
        provider_count=len(facts.providers),
    )


SERVER_INFO = Tool(
    name="duvet_server_info",
    title="About this server",
    description="What this server is called, its version, how it is reached, and which packs of tools, workflows and "
    "providers of models are switched on.",
    input=Input,
    output=Output,
    handler=info,
    labels=("server",),
)
