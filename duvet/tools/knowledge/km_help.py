"""`km-help`"""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from duvet.knowledge.reports.shapes import Told
from duvet.text import shortened
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError
from duvet.tools.knowledge.known import TOOL_LABELS
from duvet.tools.knowledge.usage import Usage, document, usage
from duvet.tools.tool import Answer, Tool


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    tool: Annotated[
        str, Meta(description="The name of one of these tools, such as km-search; all where none is named")
    ] = ""
    include_spec: Annotated[bool, Meta(description="Whether to add the document about all of them")] = False


class Output(Told, frozen=True, kw_only=True):
    tools: dict[str, Usage] | UnsetType = UNSET
    tool: str | UnsetType = UNSET
    usage: Usage | UnsetType = UNSET
    spec: str | UnsetType = UNSET


async def help(asked: Input, ctx: Ctx) -> Answer:
    """How these tools are used."""
    tools = {tool.name: tool for tool in await ctx.pack()}
    ##= man/spec/knowledge.md#tools
    ##% `km-help` MUST tell of the tools that are switched on and of no others, in words that are made from what these
    ##% accept, and with `include_spec` the same as one document.
    spec = document(list(tools.values())) if asked.include_spec else UNSET
    name = asked.tool.strip()
    if not name:
        return Answer(value=Output(tools={one: usage(tool) for one, tool in tools.items()}, spec=spec))
    if name not in tools:
        message = f"Unknown tool '{shortened(name)}'. Available tools: {', '.join(sorted(tools))}"
        raise ToolError(Code.INVALID_REQUEST, message, "name one of them, or none for all")
    return Answer(value=Output(tool=name, usage=usage(tools[name]), spec=spec))


HELP = Tool(
    name="km-help",
    title="Help",
    description="How one of the km-tools is used, or all of them; with include_spec their whole document.",
    input=Input,
    output=Output,
    handler=help,
    labels=TOOL_LABELS,
)
