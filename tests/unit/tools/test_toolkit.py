from __future__ import annotations

import types
from collections.abc import Callable
from typing import Annotated, Any, assert_type

import msgspec
import pytest
from pytest_snapshot.plugin import Snapshot

from duvet import PackContext, prompt, resource, tool
from duvet.tools.arguments import check_input, input_schema, output_schema
from duvet.tools.tool import ToolError
from duvet.tools.toolkit import collect_pack


class Cup(msgspec.Struct):
    size: int


def keep_all(a: int, b: str = "x", c: list[int] = [1]) -> Cup:  # noqa: B006 - copied
    """Keep everything.

    In one line.

    :param a: the first
    b: the
      second

    Returns: b: nothing
    """
    return Cup(a + len(b) + len(c))


async def fill_cups(cups: Annotated[int, msgspec.Meta(ge=1, description="how many")], ctx: PackContext) -> list[Cup]:
    return [Cup(size) for size in range(cups)]


def count() -> int:
    return 3


def rest() -> None:
    """Rest."""


def choose(kind: str | None = None) -> dict[str, int]:
    return {kind or "": 1}


def pack_of(**parts: object) -> Any:
    module = types.ModuleType("cups", "Cups.\n\nAnd more.")
    module.__dict__.update(parts)
    return collect_pack("cups", module)


DECLARED: dict[Callable[..., Any], dict[str, Any]] = {keep_all: {"a": 1}, fill_cups: {"cups": 2}, count: {}, rest: {}}
DECLARED[choose] = {"kind": None}


@pytest.mark.anyio
async def test_a_function_is_a_tool(answers: Snapshot) -> None:
    lines = []
    for function, given in DECLARED.items():
        pack = pack_of(made=tool(function))
        assert pack.description == "Cups." and tool(function) is function
        (made,) = pack.tools
        assert made.is_idempotent
        found = made.handler(msgspec.convert(given, made.input), None)
        found = await found if function is fill_cups else found
        lines.append(f"# {made.name}: {made.description}")
        lines += [str(one) for one in (input_schema(made), output_schema(made), found)]
    answers.assert_match("\n".join(lines), "functions.txt")

    (made,) = pack_of(made=tool(writes=True, name="other", title="T", labels=["x"])(count)).tools
    told = made.name, made.title, made.scope, made.is_idempotent, made.labels
    assert told == ("other", "T", "maintainer", False, ["x"])
    assert pack_of() is None


@tool
def brew(cups: int, kind: str = "green") -> float:
    return cups * len(kind)


@tool(writes=True, labels=["tea"], time_limit=5)
async def pour(cups: int) -> list[str]:
    return ["cup"] * cups


@resource(mime_type="text/plain")
def menu() -> str:
    return "green"


@prompt
def plan(guests: str) -> str:
    return guests


@tool
def wash(cups: list[Cup], by_name: dict[str, Cup] | None = None) -> int:
    return len(cups)


def test_a_wrong_field_of_an_argument_is_named() -> None:
    ##= man/spec/mcp.md#tools
    ##% The server MUST refuse an unknown, missing or invalid argument with the error `invalid_request` and the name of
    ##% the argument.
    wrong: dict[str, dict[str, Any]] = {
        "cups[1].size: expected integer, got string": {"cups": [{"size": 1}, {"size": "x"}]},
        "cups[0].size is missing": {"cups": [{}]},
        "by_name.size: expected integer, got array": {"cups": [], "by_name": {"a": {"size": []}}},
    }
    for message, arguments in wrong.items():
        with pytest.raises(ToolError) as refused:
            check_input(pack_of(wash=wash).tools[0], arguments)
        assert refused.value.message == message


@pytest.mark.anyio
async def test_type_checkers_see_the_functions_unchanged() -> None:
    """mypy checks this: an ignored error that it doesn't find is an error, too."""
    assert_type(brew(2, kind="black"), float)
    assert_type(await pour(1), list[str])
    assert_type(menu(), str)
    assert_type(plan("3"), str)
    with pytest.raises(TypeError):
        brew("2", cup=1)  # type: ignore[arg-type,call-arg]
    with pytest.raises(TypeError):
        tool(scopes="admin")(brew)  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        resource(brew)
    prompt(count)  # type: ignore[type-var]
    with pytest.raises(AttributeError):
        tool(3)  # type: ignore[call-overload]
    # A function may have several names.
    pack = pack_of(brew=brew, boil=brew, menu=menu, card=menu, plan=plan, party=plan)
    assert [len(part) for part in (pack.tools, pack.resources, pack.prompts)] == [1, 1, 1]


def untyped(a) -> int:  # type: ignore[no-untyped-def]
    return 1


def takes_anything(*words: str) -> int:
    return 1


def takes_a_function(a: Callable[[], int]) -> int:
    return 1


def returns_a_type() -> type[int]:
    return int


def with_argument(a: int) -> str:
    return ""


def test_a_function_that_is_no_tool() -> None:
    faults: list[tuple[Callable[..., Any], Callable[..., Any], str]] = [
        (tool, untyped, "the parameter a has no type"),
        (tool, takes_anything, "the parameter *words: 'str' can't be passed by name"),
        (tool, takes_a_function, "the parameter a has a type without a JSON Schema: "),
        (tool, returns_a_type, "the result has a type without a JSON Schema: "),
        (resource, with_argument, "a resource takes no parameters except a PackContext"),
        (prompt, with_argument, "the parameters of a prompt must be of type str"),
    ]
    for declare, function, message in faults:
        with pytest.raises(TypeError) as error:
            declare(function)
        assert str(error.value).startswith(f"{function.__name__}: {message}")
