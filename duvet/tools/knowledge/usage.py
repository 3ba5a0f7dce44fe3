"""How the tools of this pack are used, in words made from their declarations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from duvet.tools.schemas import Schema, input_schema, output_schema
from duvet.tools.tool import Tool


class Usage(Struct, frozen=True):
    """What a tool is for, and how it is called."""

    description: str
    details: str


class ArgumentLine(Struct, frozen=True):
    """What there is to know of an argument."""

    name: str
    terms: str
    """Its type, whether it is needed, and what it is otherwise."""
    description: str


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
    """Its arguments, those that it needs first."""
    by_name = {field.encode_name: field for field in fields(tool.input)}
    for name, schema in input_schema(tool)["properties"].items():
        yield ArgumentLine(name, ", ".join(_terms(schema, by_name[name])), str(schema.get("description", "")))


def _terms(schema: Schema, field: FieldInfo) -> Iterator[str]:
    yield " or ".join(schema["enum"]) if "enum" in schema else str(schema.get("type", "value"))
    if field.required:
        yield "required"
    elif field.default not in (NODEFAULT, None):
        yield f"default {_plain(field.default)}"
    else:
        yield "optional"
    yield from (f"{words} {schema[key]}" for key, words in _BOUNDS.items() if key in schema)


_BOUNDS = {"minimum": "at least", "maximum": "at most"}


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
