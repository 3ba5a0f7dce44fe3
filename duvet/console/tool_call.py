"""Calls tools from the shell, and shows their help."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import click
import msgspec

from duvet.console.application import Application, make_application, make_tool_application
from duvet.console.output import print_list
from duvet.console.settings import current_settings
from duvet.console.streams import print_notice, write_stdout
from duvet.errors import DuvetError
from duvet.reports.cells import escape_cell
from duvet.reports.tables import Column, Listing, encode_json
from duvet.text import quote_text
from duvet.tools.call_context import Caller, ignore_progress
from duvet.tools.packs import Registry
from duvet.tools.schemas import Schema, input_schema, make_argument_lines, output_schema
from duvet.tools.tool import SHELL_SOURCE, ArgumentShortcut, ErrorCode, Tool, ToolAnswer, ToolError
from duvet.trace.names import suggest_nearest

_WIDTH = 100


def print_tool_help(tool: Tool, registry: Registry) -> None:
    """Write all of it."""
    write_stdout("".join(f"{escape_cell(line)}\n" for line in _lines(tool, registry.pack_of(tool).name)).encode())


def _lines(tool: Tool, pack: str) -> Iterator[str]:
    yield f"{tool.name}: {tool.title}"
    yield ""
    yield from textwrap.wrap(tool.description, _WIDTH)
    yield from _section("Arguments", _arguments(input_schema(tool)))
    yield from _section("Shortcuts", [f"--{one.flag} WORD,…: more {one.argument}.{one.key}" for one in tool.shortcuts])
    answers = output_schema(tool)["properties"]
    rows = answers["result"]["items"]["required"] if tool.is_list else answers
    yield from _section("Answers a list of" if tool.is_list else "Answers", [", ".join(rows)])
    yield from _section("Think of this first", tool.safety_notes)
    yield from _section("Hints", tool.invocation_hints)
    yield from _section("Example", [_example(tool)])
    yield ""
    yield f"pack {pack}, scope {tool.scope}" + (f", labels {', '.join(tool.labels)}" if tool.labels else "")


def _section(title: str, lines: Any) -> Iterator[str]:
    found = list(lines)
    if not found:
        return
    yield ""
    yield f"{title}:"
    for line in found:
        yield from textwrap.wrap(line, _WIDTH, initial_indent="  ", subsequent_indent="    ")


def _arguments(schema: Schema) -> Iterator[str]:
    for one in make_argument_lines(schema):
        # What stands in another argument is no option of its own.
        name = one.name if "." in one.name else f"--{one.name.replace('_', '-')}"
        shown = f"{name} ({one.terms})"
        yield f"{shown}: {one.description}" if one.description else shown


def _example(tool: Tool) -> str:
    schema = input_schema(tool)
    given = [f"--{name.replace('_', '-')} {_sample(schema['properties'][name])}" for name in schema.get("required", ())]
    return " ".join(["duvet call", tool.name, *given])


def _sample(schema: Schema) -> str:
    if "enum" in schema:
        return str(schema["enum"][0])
    return {"integer": "1", "number": "1", "boolean": "true", "object": "'{}'"}.get(str(schema.get("type")), "...")


_TRUTHS = {"true": True, "false": False}
_WORDS: Schema = {"type": "array", "description": "words, with commas between them"}
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?\Z")


def split_json_option(tool: Tool, words: Sequence[str]) -> tuple[list[str], str | None]:
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


def parse_arguments(tool: Tool, words: Sequence[str], given: bytes | None) -> dict[str, Any]:
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


def _append(found: dict[str, Any], short: ArgumentShortcut, words: Sequence[str]) -> None:
    """Put the words into a list of an object; ToolError where something else stands there."""
    within = found.setdefault(short.argument, {})
    before = within.get(short.key, []) if isinstance(within, dict) else None
    if not isinstance(before, list):
        message = f"--{short.flag} adds to {short.argument}.{short.key}, which is given as something else than a list"
        raise ToolError(ErrorCode.INVALID_REQUEST, message, "give one of them")
    found[short.argument] = {**within, short.key: [*before, *words]}


def _object(given: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(given)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ToolError(ErrorCode.INVALID_REQUEST, f"--json is not JSON: {error}", "give one object") from error
    if not isinstance(found, dict):
        raise ToolError(ErrorCode.INVALID_REQUEST, "--json is no object", """write it as '{"name": "value"}'""")
    return found


def _pairs(tool: Tool, known: Mapping[str, Schema], words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """The names of arguments with their values; None where an option stands alone."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--") or len(word) == 2:
            raise ToolError(ErrorCode.INVALID_REQUEST, f"{quote_text(word)} belongs to no argument", _usage(tool))
        spelled, equals, value = word[2:].partition("=")
        name = spelled if spelled in known else spelled.replace("-", "_")
        if name not in known:
            hint = suggest_nearest(spelled, tuple(known)) or _usage(tool)
            raise ToolError(ErrorCode.INVALID_REQUEST, f"{tool.name} has no argument {quote_text(spelled)}", hint)
        if equals:
            yield name, value
        elif known[name].get("type") == "boolean" and not (rest and rest[0] in _TRUTHS):
            yield name, None
        elif not rest:
            raise ToolError(
                ErrorCode.INVALID_REQUEST, f"--{spelled} needs a value", str(known[name].get("description", ""))
            )
        else:
            yield name, rest.pop(0)


def _usage(tool: Tool) -> str:
    return f"`duvet tools {tool.name}` shows its arguments"


def _words(name: str, value: str | None) -> list[str]:
    """The words of a shortcut; empty ones are slips."""
    words = [word.strip() for word in _items(value) if word.strip()]
    if not words:
        raise ToolError(
            ErrorCode.INVALID_REQUEST, f"--{name} needs a value", "a word, or several with commas between them"
        )
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
                raise ToolError(ErrorCode.INVALID_REQUEST, f"--{name} is not JSON: {error}") from error
    return value


def call_tool(name: str, words: Sequence[str], given: str | None, where: Mapping[str, Any]) -> None:
    """Call a tool with what the command line says, and write what it answers."""
    assembly = make_tool_application(name, where)
    try:
        tool = assembly.registry.require(name)
        if {"--help", "-h"} & set(words):
            print_tool_help(tool, assembly.registry)
            return
        rest, late = split_json_option(tool, words)
        if given is not None and late is not None:
            raise ToolError(ErrorCode.INVALID_REQUEST, "--json is given twice")
        arguments = parse_arguments(tool, rest, read_json_argument(late if given is None else given))
        answer = invoke_tool(assembly, tool, arguments)
    except ToolError as error:
        raise make_shell_error(error) from error
    write_stdout(encode_json(answer.value))
    _tell(answer)


def invoke_tool(
    assembly: Application, tool: Tool, arguments: Mapping[str, object], *, tells: bool = False, **services: object
) -> ToolAnswer:
    """What the tool answers to whoever is at the keyboard, who may do everything, and may want to hear how far it is."""
    import anyio

    desk = assembly.desk([assembly.log.saw], **services)
    progress = _progress if tells or current_settings().verbose else ignore_progress

    async def ask() -> ToolAnswer:
        try:
            return await desk.call(tool.name, arguments, Caller(face=SHELL_SOURCE, progress=progress))
        finally:
            await desk.aclose()

    return anyio.run(ask)


async def _progress(done: float, total: float | None, message: str) -> None:
    whole = f"/{total:g}" if total else ""
    print_notice(f"{done:g}{whole} {escape_cell(message)}\n")


def read_json_argument(given: str | None) -> bytes | None:
    """The JSON that stands on the command line, or comes from standard input."""
    if given != "-":
        return None if given is None else given.encode(errors="surrogateescape")
    return b"" if sys.stdin is None else sys.stdin.buffer.read()


def _tell(answer: ToolAnswer) -> None:
    if current_settings().quiet:
        return
    for words in filter(None, (answer.warning, answer.next_step)):
        print_notice(f"{escape_cell(words)}\n")


def make_shell_error(error: ToolError) -> Exception:
    """The same as every command tells it: what was asked wrongly is wrong usage."""
    ##= man/spec/service.md#calls
    ##% `duvet call` MUST refuse an argument that it does not understand, or that conflicts with another, by its name.
    if error.code in (ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_IDENTIFIER):
        return click.UsageError("\n".join(filter(None, [escape_cell(error.message), escape_cell(error.hint)])))
    return DuvetError(error.message, hint=error.hint)


_COLUMNS = (
    Column("name", lambda row: row["name"]),
    Column("pack", lambda row: row["pack"]),
    Column("scope", lambda row: row["scope"]),
    Column("description", lambda row: row["description"], wraps=True),
)


def list_tools(format: str | None, where: Mapping[str, Any]) -> None:
    """Write the tools that are switched on."""
    assembly = make_application(where, mode=SHELL_SOURCE)
    registry = assembly.registry
    rows = [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "pack": registry.pack_of(tool).name,
            "scope": tool.scope.value,
            "labels": list(tool.labels),
        }
        for tool in assembly.shown_tools
    ]
    print_list(Listing(_COLUMNS, rows), format)


def show_tool(name: str, where: Mapping[str, Any]) -> None:
    """Write what a tool takes and answers."""
    registry = make_tool_application(name, where).registry
    try:
        tool = registry.require(name)
    except ToolError as error:
        raise make_shell_error(error) from error
    print_tool_help(tool, registry)
