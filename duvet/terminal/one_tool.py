"""What one tool takes and answers, for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from duvet.reports.cells import visible
from duvet.terminal.streams import pour
from duvet.tools.registry import Registry
from duvet.tools.schemas import Schema, input_schema, output_schema
from duvet.tools.tool import Tool
from duvet.tools.wording import argument_lines

_WIDTH = 100


def pour_help(tool: Tool, registry: Registry) -> None:
    """Write all of it."""
    pour("".join(f"{visible(line)}\n" for line in _lines(tool, registry.pack_of(tool).name)).encode())


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
    for one in argument_lines(schema):
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
