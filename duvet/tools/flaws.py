"""What is wrong with a pack from elsewhere: each field of it may hold anything."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from duvet.tools.schemas import Schema, input_schema, output_schema
from duvet.tools.tool import Pack, Question, Scope, Shortcut, Tool

MOST_TOOLS = 200
LARGEST = 64 << 10
"""Bytes of JSON that say what a tool takes, or what it answers."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SHORT, _LONG, _MOST = 200, 4000, 50


def pack_flaw(pack: object) -> str:
    """Why something is no pack, its tools left aside; nothing where it is one."""
    if not isinstance(pack, Pack):
        return "it is no duvet.tools.tool.Pack, and has none as PACK"
    if not _is_name(pack.name):
        return f"its name is not {_A_NAME}"
    return next(_texts(pack, {"description": _LONG, "version": _SHORT}), "")


def tools_flaw(tools: object) -> str:
    """Why something is no list of tools; nothing where it is one."""
    if type(tools) not in (list, tuple):
        return "its tools are no list"
    if len(tools) > MOST_TOOLS:  # type: ignore[arg-type]
        return f"it has more than {MOST_TOOLS} tools"
    return next((flaw for tool in tools for flaw in _tool(tool)), "")  # type: ignore[attr-defined]


def _tool(tool: object) -> Iterator[str]:
    if type(tool) not in (Tool, Question):
        yield "not everything in it is a duvet.tools.tool.Tool"
        return
    assert isinstance(tool, Tool)
    if not _is_name(tool.name):
        yield f"the name of a tool is not {_A_NAME}"
        return
    yield from (f"{tool.name}: {flaw}" for flaw in (*_words(tool), *_terms(tool), *_shapes(tool)))


def _words(tool: Tool) -> Iterator[str]:
    """Flaws of what is told to people and agents."""
    yield from _texts(tool, {"title": _SHORT, "description": _LONG})
    for name, longest in {"labels": _SHORT, "safety_notes": _LONG, "invocation_hints": _LONG}.items():
        value = getattr(tool, name)
        if not _is_list(value) or not all(_is_text(one, longest) for one in value):
            yield f"{name} is no list of at most {_MOST} texts of {longest:,} characters"
    if not _is_list(tool.aliases) or not all(_is_name(one) for one in tool.aliases):
        yield f"aliases is no list of names, each {_A_NAME}"


def _terms(tool: Tool) -> Iterator[str]:
    """Flaws of the terms on which it is called."""
    if type(tool.scope) is not Scope:
        yield "scope is no duvet.tools.tool.Scope"
    if type(tool.is_idempotent) is not bool:
        yield "is_idempotent is neither True nor False"
    if tool.reads is not None and type(tool.reads) is not bool:
        yield "reads is none of True, False and None"
    if not _is_list(tool.shortcuts) or not all(_is_shortcut(one) for one in tool.shortcuts):
        yield f"shortcuts is no list of duvet.tools.tool.Shortcut, each of names {_A_NAME}"
    limit: object = tool.time_limit
    if limit is not None and not (type(limit) in (int, float) and 0 < limit < math.inf):  # type: ignore[operator]
        yield "time_limit is no number of seconds"
    if tool.record_of is not None and not callable(tool.record_of):
        yield "record_of can't be called"
    if not callable(tool.handler):
        yield "handler can't be called"


def _shapes(tool: Tool) -> Iterator[str]:
    """Flaws of the records that go in and come out; what can't be described raises here, and not when agents ask."""
    rows = tool.output.__args__ if tool.is_list else (tool.output,)
    if not _is_record(tool.input):
        yield "input is no record"
    elif not _is_object(input_schema(tool)):
        yield "input can't be described in JSON"
    if not all(_is_record(row) for row in rows if row is not ...):
        yield "output is no record, nor a tuple of them"
    elif not _is_object(output_schema(tool)):
        yield "output can't be described in JSON"


_A_NAME = f"like {_NAME.pattern}"


def _texts(owner: object, lengths: dict[str, int]) -> Iterator[str]:
    for name, longest in lengths.items():
        if not _is_text(getattr(owner, name), longest):
            yield f"{name} is no text of at most {longest:,} characters"


def _is_name(value: object) -> bool:
    # A subclass could be anything but a text when it is looked at again.
    return type(value) is str and _NAME.fullmatch(value) is not None


def _is_text(value: object, longest: int) -> bool:
    # Half a character can't be sent to anybody.
    return type(value) is str and len(value) <= longest and not re.search("[\ud800-\udfff]", value)


def _is_shortcut(value: object) -> bool:
    return type(value) is Shortcut and all(_is_name(one) for one in (value.flag, value.argument, value.key))


def _is_list(value: Any) -> bool:
    return type(value) in (list, tuple) and len(value) <= _MOST


def _is_record(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object" and len(msgspec.json.encode(schema)) <= LARGEST
