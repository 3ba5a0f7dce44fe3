"""What the prompt about the server itself is filled with: what is switched on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, inspect, json

from duvet.config.schema import ServerRule
from duvet.prompts.library import rendered
from duvet.templates import prompt_names
from duvet.tools.registry import Registry
from duvet.tools.tool import Tool

SYSTEM = "system"
_USUAL = ServerRule().title


class Reachable(Struct, frozen=True):
    """A kind of resources."""

    path: str
    """Where they are, with names in braces for what differs."""
    holds: str


class _ToolLine(Struct, frozen=True):
    """What is said of a tool."""

    name: str
    arguments: tuple[str, ...]
    """Those that it needs."""
    example: str
    purpose: str


def system_prompt(rule: ServerRule, registry: Registry, resources: Iterable[Reachable]) -> str:
    """How to use a server that offers these tools and resources."""

    def tool_for(name: str) -> str:
        return f" (`{name}`)" if name in registry else ""

    ##= man/spec/mcp.md#handshake
    ##% The instructions MUST name every tool that is switched on, and no other, and every kind of resource.
    ##= man/spec/mcp.md#handshake
    ##% The instructions MUST name no method that the server doesn't have, and those of one version of the protocol alone
    ##% with that version.
    ##= man/spec/mcp.md#handshake
    ##% Where the size of a page is 0, the instructions MUST NOT say that lists are cut.
    return rendered(
        SYSTEM,
        {
            "title": _called(rule),
            "description": rule.description.rstrip("."),
            "page_size": rule.page_size,
            "tools": [_line(tool) for tool in registry],
            "tool_for": tool_for,
            "resources": list(resources),
            "prompts": _others(prompt_names()),
        },
    )


def _called(rule: ServerRule) -> str:
    """What the server is, where nobody has given it another name."""
    return "the Duvet MCP server" if rule.title == _USUAL else rule.title


def _others(names: Sequence[str]) -> list[str]:
    return [f"`{name}`" for name in names if name != SYSTEM]


def _line(tool: Tool) -> _ToolLine:
    kind = inspect.type_info(tool.input)
    assert isinstance(kind, inspect.StructType)
    needed = tuple(field.encode_name for field in kind.fields if field.required)
    example = json.encode(dict.fromkeys(needed, "...")).decode()
    ##= man/spec/mcp.md#limits
    ##% The list of tools and the instructions MUST be shorter than 4,000 tokens together.
    return _ToolLine(tool.name, needed, example, _first_sentence(tool.description))


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")
