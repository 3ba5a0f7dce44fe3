"""Arguments of tools: their JSON Schemas, and the checks before a tool runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache

from msgspec import Struct, ValidationError, convert, structs

from duvet.text import quote_text, shorten_text, suggest_nearest
from duvet.tools.schemas import input_schema
from duvet.tools.tool import ErrorCode, MissingArgumentError, Scope, Tool, ToolError

_MAX_DEPTH = 64
MAX_ARGUMENT_LENGTH = 20_000  # The most characters of a text, unless the tool has a limit of its own.
_CONVERSION_ERROR = re.compile(r"(?P<what>.*?)(?: - at `\$\.(?P<name>\w+)[^`]*`)?\Z", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_MISSING = re.compile(r"Object missing required field `(\w+)`")


def check_scope(tool: Tool, scopes: Collection[Scope]) -> None:
    """Raise a ToolError if a caller with these scopes may not call the tool."""
    ##= man/spec/gateway.md#access
    ##% The server MUST NOT list maintainers' tools to other callers, and MUST refuse them as `forbidden`, or as
    ##% `unauthorized` without a token where tokens are configured, whatever the arguments are.
    if tool.withheld is not None:
        raise ToolError(tool.withheld.code, tool.withheld.message, tool.withheld.hint)
    if tool.scope not in scopes:
        hint = "call it with a token that has it"
        raise ToolError(ErrorCode.FORBIDDEN, f"{tool.name} needs the scope {tool.scope}", hint)


def check_input(tool: Tool, arguments: Mapping[str, object]) -> object:
    """Return the record of the arguments; ToolError if they are unknown, missing or wrong."""
    ##= man/spec/mcp.md#tools
    ##% The server MUST refuse an unknown, missing or wrong argument by its name as `invalid_request`.
    # Some clients leave out an argument, others send null.
    values = {name: value for name, value in arguments.items() if value is not None}
    if tool.record_of is not None:
        _check_texts(values, None)
        return tool.record_of(values)
    names, required = list_arguments(tool.input)
    for name in required:
        if name not in values:
            unknown = find_unknown_argument(tool.name, values, names)
            hint = f"{unknown.message}: {unknown.hint}" if unknown else _describe_argument(tool, name)
            raise MissingArgumentError(name, hint)
    if unknown := find_unknown_argument(tool.name, arguments, names):
        raise unknown
    _check_texts(values, tool.longest or MAX_ARGUMENT_LENGTH)
    try:
        return convert(values, tool.input)
    except ValidationError as error:
        if missing := _MISSING.match(str(error)):
            raise MissingArgumentError(missing[1], _describe_argument(tool, missing[1])) from error
        found = _CONVERSION_ERROR.match(str(error))
        assert found is not None
        name, message = found["name"] or "", describe_conversion_error(found["what"])
        raise ToolError(ErrorCode.INVALID_REQUEST, f"{name}: {message}", _describe_argument(tool, name)) from error


@cache
def list_arguments(record: type[Struct]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of all arguments and of the required ones; looking these up takes longer than many a call."""
    found = structs.fields(record)
    return tuple(one.encode_name for one in found), tuple(one.encode_name for one in found if one.required)


def find_unknown_argument(
    owner: str, names: Iterable[str], known: Collection[str], *, noun: str = "argument", if_none: str = "there are "
) -> ToolError | None:
    """Return an error about the first name that the owner doesn't know, with the nearest name or else all names."""
    name = next((name for name in names if name not in known), None)
    if name is None:
        return None
    hint = suggest_nearest(shorten_text(name), list(known)) or (f"there are {', '.join(known)}" if known else if_none)
    return ToolError(ErrorCode.INVALID_REQUEST, f"{owner} has no {noun} {quote_text(shorten_text(name))}", hint)


def describe_conversion_error(text: str) -> str:
    """Reword an error of msgspec as the end of a sentence."""
    text = text.replace("`", "").replace(" | null", "")
    return text[:1].lower() + text[1:]


def require_argument(name: str, value: str, hint: str) -> str:
    """Return the text without white space around it; MissingArgumentError if it is blank."""
    if not value.strip():
        raise MissingArgumentError(name, hint)
    return value.strip()


def _check_texts(values: Mapping[str, object], most: int | None) -> None:
    """Raise a ToolError for a value that is too deep, and for a text in it that is malformed or too long."""
    texts = [(name, text) for name, value in values.items() for text in _list_texts(name, value)]
    for name, text in texts:
        if _SURROGATE.search(text):
            raise ToolError(ErrorCode.INVALID_REQUEST, f"{name} has half a character in it", "send it as UTF-8")
    for name, text in texts:
        if most is not None and len(text) > most:
            raise ToolError(ErrorCode.INVALID_REQUEST, f"{name} has more than {most:,} characters")


def _list_texts(name: str, value: object) -> list[str]:
    texts: list[str] = []
    level = [value]
    for _ in range(_MAX_DEPTH + 1):
        texts += [one for one in level if isinstance(one, str)]
        containers = [one for one in level if isinstance(one, (dict, list))]
        if not containers:
            return texts
        texts += [key for one in containers if isinstance(one, dict) for key in one]
        level = [inner for one in containers for inner in (one.values() if isinstance(one, dict) else one)]
    ##= man/spec/service.md#calls
    ##% The server MUST refuse arguments nested deeper than 64 levels, and stop tools that call each other without end.
    hint = f"{_MAX_DEPTH} levels are enough for anybody"
    raise ToolError(ErrorCode.INVALID_REQUEST, f"{name} is nested too deeply", hint)


def _describe_argument(tool: Tool, name: str) -> str:
    """Return the choices of an argument, or else its description."""
    schema = input_schema(tool)["properties"].get(name, {})
    if "enum" in schema:
        return f"give one of {', '.join(schema['enum'])}"
    return str(schema.get("description", ""))
