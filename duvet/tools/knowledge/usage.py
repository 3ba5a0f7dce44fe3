"""How the tools of this pack are used, in words made from their declarations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from duvet.tools.schemas import input_schema, output_schema
from duvet.tools.tool import Tool
from duvet.tools.wording import ArgumentLine, argument_lines


class Usage(Struct, frozen=True):
    """What a tool is for, and how it is called."""

    description: str
    details: str


def usage(tool: Tool) -> Usage:
    """The same of a tool."""
    return Usage(tool.description, "\n".join(_details(tool)))


def document(tools: Sequence[Tool]) -> str:
    """All of them in one document in Markdown."""
    from duvet.templates import environment, knowledge_template

    described = [
        {"tool": tool, "arguments": list(arguments(tool)), "answers": list(output_schema(tool)["properties"])}
        for tool in tools
    ]
    return environment().get_template(knowledge_template()).render(tools=described)


def _details(tool: Tool) -> Iterator[str]:
    for one in arguments(tool):
        yield f"{one.name} ({one.terms}){': ' if one.description else ''}{one.description}"
    yield f"Scope: {tool.scope}."


def arguments(tool: Tool) -> Iterator[ArgumentLine]:
    """What there is to know of its arguments."""
    return argument_lines(input_schema(tool))
