"""One call of a tool: the caller and its arguments checked, its handler run, every failure told in one way."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

import msgspec

from duvet.errors import DuvetError
from duvet.queries.names import nearest_hint
from duvet.text import quoted, shortened
from duvet.tools.context import Context
from duvet.tools.errors import Code, ToolError, tool_error
from duvet.tools.schemas import input_schema
from duvet.tools.soundness import candid
from duvet.tools.tool import Answer, Scope, Tool

LONGEST = 20_000
"""No argument has more characters."""
_FAULT = re.compile(r"(?P<what>.*?)(?: - at `\$\.(?P<name>\w+)[^`]*`)?\Z", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(\w+)`")


def call(tool: Tool, context: Context, arguments: Mapping[str, object], scopes: Collection[Scope]) -> Answer:
    """What the tool answers to a caller with these scopes; ToolError where it can't."""
    check_scope(tool, scopes)
    try:
        asked = _input(tool, arguments)
        return candid(context, lambda: tool.handler(context, asked))
    except DuvetError as error:
        raise tool_error(error) from error


def check_scope(tool: Tool, scopes: Collection[Scope]) -> None:
    """ToolError where a caller with these scopes may not call the tool."""
    ##= man/spec/mcp.md#tools
    ##% A tool MUST be refused as `forbidden` to a caller without its scope, whatever its arguments are.
    if tool.scope not in scopes:
        raise ToolError(Code.FORBIDDEN, f"{tool.name} needs the scope {tool.scope}", "call it with a token that has it")


def _input(tool: Tool, arguments: Mapping[str, object]) -> object:
    ##= man/spec/mcp.md#tools
    ##% Arguments that a tool doesn't understand MUST be refused as `invalid_request`, with the name of the argument.
    _check_names(tool, arguments)
    # What is left out by one client is null by another.
    given = {name: value for name, value in arguments.items() if value is not None}
    for name, value in given.items():
        _check_text(name, value)
    try:
        return msgspec.convert(given, tool.input)
    except msgspec.ValidationError as error:
        raise _refused(tool, str(error)) from error


def _check_names(tool: Tool, arguments: Mapping[str, object]) -> None:
    known = tool.input.__struct_fields__
    for name in arguments:
        if name not in known:
            hint = nearest_hint(shortened(name), known) or f"there are {', '.join(known)}"
            raise ToolError(Code.INVALID_REQUEST, f"{tool.name} has no argument {quoted(shortened(name))}", hint)


def _check_text(name: str, value: object) -> None:
    for text in _texts(value):
        if len(text) > LONGEST:
            raise ToolError(Code.INVALID_REQUEST, f"{name} has more than {LONGEST:,} characters")
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            raise ToolError(Code.INVALID_REQUEST, f"{name} has half a character in it", "send it as UTF-8")


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _refused(tool: Tool, message: str) -> ToolError:
    missing = _MISSING.match(message)
    if missing:
        return ToolError(Code.INVALID_REQUEST, f"{missing[1]} is missing", _hint(tool, missing[1]))
    found = _FAULT.match(message)
    assert found is not None
    what, name = found["what"].replace("`", "").replace(" | null", ""), found["name"] or ""
    return ToolError(Code.INVALID_REQUEST, f"{name}: {what[:1].lower()}{what[1:]}", _hint(tool, name))


def _hint(tool: Tool, name: str) -> str:
    """What the argument may be."""
    schema = input_schema(tool)["properties"].get(name, {})
    if "enum" in schema:
        return f"give one of {', '.join(schema['enum'])}"
    return str(schema.get("description", ""))
