"""Checks a caller's scope and arguments before a tool runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache

import msgspec

from duvet.text import quote_text, shorten_text
from duvet.tools.schemas import input_schema
from duvet.tools.tool import ErrorCode, MissingArgumentError, Scope, Tool, ToolError
from duvet.trace.names import suggest_nearest

_DEEPEST = 64
MAX_ARGUMENT_LENGTH = 20_000
"""No argument has more characters, unless the tool itself looks at that."""
_FAULT = re.compile(r"(?P<what>.*?)(?: - at `\$\.(?P<name>\w+)[^`]*`)?\Z", re.DOTALL)
_HALF = re.compile("[\ud800-\udfff]")
_MISSING = re.compile(r"Object missing required field `(\w+)`")


def check_scope(tool: Tool, scopes: Collection[Scope]) -> None:
    """ToolError where a caller with these scopes may not call the tool."""
    ##= man/spec/gateway.md#access
    ##% The server MUST NOT list maintainers' tools to other callers, and MUST refuse them as `forbidden`, or as
    ##% `unauthorized` without a token where tokens are configured, whatever the arguments are.
    if tool.withheld is not None:
        raise ToolError(tool.withheld.code, tool.withheld.message, tool.withheld.hint)
    if tool.scope not in scopes:
        raise ToolError(
            ErrorCode.FORBIDDEN, f"{tool.name} needs the scope {tool.scope}", "call it with a token that has it"
        )


def check_input(tool: Tool, arguments: Mapping[str, object]) -> object:
    """The record of the arguments; ToolError where they are none."""
    ##= man/spec/mcp.md#tools
    ##% The server MUST refuse an unknown, missing or wrong argument by its name as `invalid_request`.
    # What is left out by one client is null by another.
    given = {name: value for name, value in arguments.items() if value is not None}
    if tool.record_of is not None:
        _check_depths(given)
        _check_characters(given)
        return tool.record_of(given)
    _check_required(tool, given)
    _check_names(tool, arguments)
    _check_depths(given)
    _check_characters(given)
    _check_lengths(given, tool.longest or MAX_ARGUMENT_LENGTH)
    try:
        return msgspec.convert(given, tool.input)
    except msgspec.ValidationError as error:
        raise _refused(tool, str(error)) from error


def _check_required(tool: Tool, given: Mapping[str, object]) -> None:
    for name in _required(tool.input):
        if name not in given:
            unknown = _unknown(tool, given)
            said = f"{unknown.message}: {unknown.hint}" if unknown else _hint(tool, name)
            raise MissingArgumentError(name, said)


@cache
def _required(input: type[msgspec.Struct]) -> tuple[str, ...]:
    """The arguments that can't be left out; to look that up takes longer than many a call."""
    return tuple(field.encode_name for field in msgspec.structs.fields(input) if field.required)


def _check_names(tool: Tool, arguments: Mapping[str, object]) -> None:
    if unknown := _unknown(tool, arguments):
        raise unknown


def _unknown(tool: Tool, arguments: Mapping[str, object]) -> ToolError | None:
    known = tool.input.__struct_encode_fields__
    name = next((name for name in arguments if name not in known), None)
    if name is None:
        return None
    hint = suggest_nearest(shorten_text(name), known) or f"there are {', '.join(known)}"
    return ToolError(ErrorCode.INVALID_REQUEST, f"{tool.name} has no argument {quote_text(shorten_text(name))}", hint)


def _check_lengths(given: Mapping[str, object], longest: int) -> None:
    for name, value in given.items():
        if any(len(text) > longest for text in _texts(value)):
            raise ToolError(ErrorCode.INVALID_REQUEST, f"{name} has more than {longest:,} characters")


def _check_characters(given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if any(_HALF.search(text) for text in _texts(value)):
            raise ToolError(ErrorCode.INVALID_REQUEST, f"{name} has half a character in it", "send it as UTF-8")


def _texts(value: object) -> Iterator[str]:
    """The texts in a value that is not nested deeply."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        yield from _texts([*value, *value.values()])


def _check_depths(given: Mapping[str, object]) -> None:
    ##= man/spec/service.md#calls
    ##% The server MUST refuse arguments nested deeper than 64 levels, and stop tools that call each other without end.
    for name, value in given.items():
        level = [value]
        for _ in range(_DEEPEST):
            level = [inner for one in level for inner in _within(one)]
        if any(isinstance(one, (dict, list)) for one in level):
            hint = f"{_DEEPEST} levels are enough for anybody"
            raise ToolError(ErrorCode.INVALID_REQUEST, f"{name} is nested too deeply", hint)


def _within(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _refused(tool: Tool, message: str) -> ToolError:
    missing = _MISSING.match(message)
    if missing:
        return MissingArgumentError(missing[1], _hint(tool, missing[1]))
    found = _FAULT.match(message)
    assert found is not None
    what, name = found["what"].replace("`", "").replace(" | null", ""), found["name"] or ""
    return ToolError(ErrorCode.INVALID_REQUEST, f"{name}: {what[:1].lower()}{what[1:]}", _hint(tool, name))


def _hint(tool: Tool, name: str) -> str:
    """What the argument may be."""
    schema = input_schema(tool)["properties"].get(name, {})
    if "enum" in schema:
        return f"give one of {', '.join(schema['enum'])}"
    return str(schema.get("description", ""))
