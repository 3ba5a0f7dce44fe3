"""Arguments of tools as options of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from duvet.queries.names import nearest_hint
from duvet.text import quoted
from duvet.tools.errors import Code, ToolError
from duvet.tools.schemas import Schema, input_schema
from duvet.tools.tool import Shortcut, Tool

_TRUTHS = {"true": True, "false": False}
_WORDS: Schema = {"type": "array", "description": "words, with commas between them"}
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?\Z")


def without_json(tool: Tool, words: Sequence[str]) -> tuple[list[str], str | None]:
    """The words without `--json OBJECT`, and that object, where the tool has no argument of this name itself."""
    rest = list(words)
    if "json" in input_schema(tool)["properties"]:
        return rest, None
    for place, word in enumerate(rest):
        if word == "--json" and place + 1 < len(rest):
            return [*rest[:place], *rest[place + 2 :]], rest[place + 1]
        if word.startswith("--json="):
            return [*rest[:place], *rest[place + 1 :]], word.partition("=")[2]
    return rest, None


def arguments_from(tool: Tool, words: Sequence[str], given: bytes | None) -> dict[str, Any]:
    """What `--name value` pairs say, on top of an object of JSON; ToolError where they can't be understood."""
    known = input_schema(tool)["properties"]
    found = _object(given) if given is not None else {}
    short = {one.flag: one for one in tool.shortcuts if one.flag not in known}
    words_of: dict[str, list[str]] = {}
    for name, value in _pairs(tool, known | dict.fromkeys(short, _WORDS), words):
        if name in short:
            words_of.setdefault(name, []).extend(_words(name, value))
            continue
        schema = known[name]
        kind = schema.get("type")
        if kind == "array" and not (value or "").startswith("["):
            found.setdefault(name, []).extend(_items(value))
        else:
            found[name] = _value(name, kind, value)
    for flag, more in words_of.items():
        _append(found, short[flag], more)
    return found


def _append(found: dict[str, Any], short: Shortcut, words: Sequence[str]) -> None:
    """Put the words into a list of an object; ToolError where something else stands there."""
    ##= man/spec/knowledge.md#tools
    ##% What stands in `filters` already MUST stay beside the words of `--symbol`, `--kind` and `--lang`; where no list
    ##% can stand there, the call MUST be refused with the option and the argument that are in each other's way.
    within = found.setdefault(short.argument, {})
    before = within.get(short.key, []) if isinstance(within, dict) else None
    if not isinstance(before, list):
        message = f"--{short.flag} adds to {short.argument}.{short.key}, which is given as something else than a list"
        raise ToolError(Code.INVALID_REQUEST, message, "give one of them")
    found[short.argument] = {**within, short.key: [*before, *words]}


def _object(given: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(given)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ToolError(Code.INVALID_REQUEST, f"--json is not JSON: {error}", "give one object") from error
    if not isinstance(found, dict):
        raise ToolError(Code.INVALID_REQUEST, "--json is no object", """write it as '{"name": "value"}'""")
    return found


def _pairs(tool: Tool, known: Mapping[str, Schema], words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """The names of arguments with their values; None where an option stands alone."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--") or len(word) == 2:
            raise ToolError(Code.INVALID_REQUEST, f"{quoted(word)} belongs to no argument", _usage(tool))
        spelled, equals, value = word[2:].partition("=")
        name = spelled if spelled in known else spelled.replace("-", "_")
        if name not in known:
            hint = nearest_hint(spelled, tuple(known)) or _usage(tool)
            raise ToolError(Code.INVALID_REQUEST, f"{tool.name} has no argument {quoted(spelled)}", hint)
        if equals:
            yield name, value
        elif known[name].get("type") == "boolean" and not (rest and rest[0] in _TRUTHS):
            yield name, None
        elif not rest:
            raise ToolError(Code.INVALID_REQUEST, f"--{spelled} needs a value", str(known[name].get("description", "")))
        else:
            yield name, rest.pop(0)


def _usage(tool: Tool) -> str:
    return f"`duvet tools {tool.name}` shows its arguments"


def _words(name: str, value: str | None) -> list[str]:
    """The words of a shortcut; empty ones are slips."""
    words = [word.strip() for word in _items(value) if word.strip()]
    if not words:
        raise ToolError(Code.INVALID_REQUEST, f"--{name} needs a value", "a word, or several with commas between them")
    return words


def _items(value: str | None) -> list[str]:
    return [] if value is None else value.split(",")


def _value(name: str, kind: object, value: str | None) -> object:
    """The value that is meant. What doesn't fit is left as it is, for the tool to refuse in its own words."""
    if value is None:
        return True
    match kind:
        case "boolean":
            return _TRUTHS.get(value, value)
        case "integer" | "number" if _NUMBER.match(value):
            with suppress(msgspec.MsgspecError):
                return msgspec.json.decode(value)
        case "object" | "array" | None:
            try:
                return msgspec.json.decode(value)
            except msgspec.MsgspecError as error:
                raise ToolError(Code.INVALID_REQUEST, f"--{name} is not JSON: {error}") from error
    return value
