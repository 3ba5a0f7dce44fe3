"""`km-help`: usage of the tools of this pack."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from duvet.templates import KNOWLEDGE_TEMPLATE, environment
from duvet.text import shorten_text
from duvet.tools import arguments, call_context
from duvet.tools.knowledge.index import declare_knowledge_tool
from duvet.tools.tool import ErrorCode, Tool, ToolAnswer, ToolError


class ToolUsage(Struct, frozen=True):
    description: str
    details: str


def describe_usage(tool: Tool) -> ToolUsage:
    lines = [
        f"{one.name} ({one.terms}){': ' if one.description else ''}{one.description}"
        for one in arguments.make_argument_lines(arguments.input_schema(tool))
    ]
    return ToolUsage(tool.description, "\n".join([*lines, f"Scope: {tool.scope}."]))


class KmHelpInput(Struct, frozen=True, forbid_unknown_fields=True):
    tool: Annotated[str, Meta(description="The name of a tool, such as km-search [default: all]")] = ""
    include_spec: Annotated[bool, Meta(description="Also return the full reference of all enabled tools")] = False


class KmHelpOutput(Struct, frozen=True, kw_only=True):
    status: str = "ok"
    tools: dict[str, ToolUsage] | UnsetType = UNSET
    tool: str | UnsetType = UNSET
    usage: ToolUsage | UnsetType = UNSET
    spec: str | UnsetType = UNSET


@declare_knowledge_tool("km-help", "Help", KmHelpInput, KmHelpOutput)
async def show_help(request: KmHelpInput, ctx: call_context.CallContext) -> ToolAnswer:
    """Return usage notes for one km- tool or for all of them; include_spec adds the full reference of all enabled tools."""
    registry = await ctx.calls.tools()
    own = registry.pack_of(registry.require(ctx.tool))
    tools = {tool.name: tool for tool in registry.list_usable() if registry.pack_of(tool) is own}
    spec: str | UnsetType = UNSET
    if request.include_spec:
        described = [
            {
                "tool": tool,
                "arguments": list(arguments.make_argument_lines(arguments.input_schema(tool))),
                "answers": list(arguments.output_schema(tool)["properties"]),
            }
            for tool in tools.values()
        ]
        spec = environment().get_template(KNOWLEDGE_TEMPLATE).render(tools=described)
    name = request.tool.strip()
    if not name:
        usages = {name: describe_usage(tool) for name, tool in tools.items()}
        return ToolAnswer(value=KmHelpOutput(tools=usages, spec=spec))
    if name not in tools:
        message = f"Unknown tool '{shorten_text(name)}'. Available tools: {', '.join(sorted(tools))}"
        raise ToolError(ErrorCode.INVALID_REQUEST, message, "use one of these names, or omit tool for all")
    return ToolAnswer(value=KmHelpOutput(tool=name, usage=describe_usage(tools[name]), spec=spec))
