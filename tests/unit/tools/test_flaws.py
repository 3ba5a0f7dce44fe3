"""Anything may stand in each field of a pack from elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import force_setattr

from duvet.tools.plugins import MAX_PACK_TOOLS, find_pack_flaw, find_tools_flaw
from duvet.tools.tool import ArgumentShortcut, Pack, QueryTool, Scope
from tests.unit.tools.guests import GUESTS, Said, tool


class Text(str):
    """It looks like a text, and is none when it is asked for more."""

    def __hash__(self) -> int:
        raise RuntimeError


class Row(Struct, array_like=True):
    said: str


class Optional(Struct):
    said: str = ""


class Unheard:
    """Nothing that JSON knows."""


class Strange(Struct):
    of: Unheard


NO_NAME = "like [A-Za-z0-9_.-]{1,64}"
PACKS: dict[str, list[tuple[Any, str]]] = {
    "name": [
        ([], NO_NAME),
        (None, NO_NAME),
        ("", NO_NAME),
        ("x\n", NO_NAME),
        ("x" * 65, NO_NAME),
        (Text("x"), NO_NAME),
    ],
    "description": [(5, "text of at most 4,000"), ("x" * 4001, "text of at most 4,000")],
    "version": [((1, 2), "text of at most 200"), ("\ud800", "text of at most 200")],
}
NO_TEXTS = "no list of at most 50 texts"
TOOLS: dict[str, list[tuple[Any, str]]] = {
    "name": [(None, NO_NAME), ("a b", NO_NAME), (["x"], NO_NAME), (Text("x"), NO_NAME)],
    "title": [(None, "x: title is no text of at most 200 characters")],
    "description": [("x" * 4001, "x: description is no text"), (b"x", "x: description is no text")],
    "input": [
        (dict, "x: input is no record"),
        (None, "x: input is no record"),
        (Row, "x: input can't be described in JSON"),
    ],
    "output": [
        (str, "x: output is no record, nor a tuple of them"),
        (None, "x: output is no record, nor a tuple of them"),
        (tuple[int, ...], "x: output is no record, nor a tuple of them"),
        (Row, "x: output can't be described in JSON"),
    ],
    "handler": [(None, "x: handler can't be called")],
    "scope": [("reader", "x: scope is no duvet.tools.tool.Scope")],
    "is_idempotent": [("no", "x: is_idempotent is neither True nor False")],
    "reads": [(1, "x: reads is none of True, False and None")],
    "record_of": [({}, "x: record_of can't be called")],
    "shortcuts": [
        ("ab", "x: shortcuts is no list of duvet.tools.tool.Shortcut"),
        ([ArgumentShortcut("a b", "c", "d")], "x: shortcuts is no list of duvet.tools.tool.Shortcut"),
    ],
    "labels": [(5, NO_TEXTS), ("water", NO_TEXTS), ([5], NO_TEXTS), (["x" * 201], NO_TEXTS), (["x"] * 51, NO_TEXTS)],
    "safety_notes": [({"x": 1}, NO_TEXTS), (["\udfff"], NO_TEXTS)],
    "invocation_hints": [(None, NO_TEXTS)],
    "time_limit": [
        ("5", "no number of seconds"),
        (0, "no number of seconds"),
        (-1.0, "no number of seconds"),
        (float("nan"), "no number of seconds"),
        (float("inf"), "no number of seconds"),
        (True, "no number of seconds"),
    ],
    "aliases": [("xy", "aliases is no list of names"), ([[]], "aliases is no list of names")],
}


@pytest.mark.parametrize(("field", "value", "flaw"), [(name, *one) for name, all in PACKS.items() for one in all])
def test_what_no_pack_may_say(field: str, value: Any, flaw: str) -> None:
    pack = Pack("x", ())
    force_setattr(pack, field, value)
    assert flaw in find_pack_flaw(pack)


@pytest.mark.parametrize(("field", "value", "flaw"), [(name, *one) for name, all in TOOLS.items() for one in all])
def test_what_no_tool_may_say(field: str, value: Any, flaw: str) -> None:
    ##= man/spec/service.md#packs
    ##= type=test
    ##% The server MUST leave out an installed pack that cannot be loaded, takes too long, is malformed or repeats the
    ##% name of a tool, say so, and serve the others.
    one = tool("x", print)
    force_setattr(one, field, value)
    assert flaw in find_tools_flaw([one])


def test_records_that_are_no_json() -> None:
    one = tool("x", print)
    force_setattr(one, "input", Strange)
    with pytest.raises(TypeError, match="Unheard"):
        find_tools_flaw([one])


def test_what_is_no_list_of_tools() -> None:
    assert find_tools_flaw(None) == find_tools_flaw(iter(GUESTS)) == "its tools are no list"
    assert find_tools_flaw(GUESTS * 50) == f"it has more than {MAX_PACK_TOOLS} tools"
    assert find_tools_flaw([5]) == "not everything in it is a duvet.tools.tool.Tool"


def test_what_a_tool_may_say() -> None:
    assert find_pack_flaw(Pack("kettle-2.x", GUESTS, "Kettles", "1")) == ""
    more: dict[str, Any] = {"labels": ["a"], "aliases": ("b.c",), "time_limit": 5}
    lists = tool("lists", print, Scope.MAINTAINER, **more)
    force_setattr(lists, "output", tuple[Optional, ...])
    asks = QueryTool(name="asks", title="", description="", input=Optional, output=Said, handler=print)  # type: ignore[arg-type]
    assert find_tools_flaw([*GUESTS, lists, asks]) == ""
