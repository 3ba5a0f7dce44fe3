"""What is checked before a tool runs."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import json
from msgspec.structs import replace

from duvet.tools.arguments import MAX_ARGUMENT_LENGTH
from duvet.tools.context import ProjectSnapshot
from duvet.tools.packs import Registry
from duvet.tools.schemas import input_schema, output_schema
from duvet.tools.tool import ErrorCode, Scope, ToolError
from tests.unit.tools.made import ask, call, refusal, value

UNCITED, SEARCH = "list_uncited_requirements", "search_requirements"


@pytest.mark.parametrize("arguments", [{}, {"limit": -1}])
def test_a_caller_needs_the_scope_of_the_tool(context: ProjectSnapshot, arguments: dict[str, object]) -> None:
    ##= man/spec/gateway.md#access
    ##= type=test
    ##% The server MUST NOT list maintainers' tools to other callers, and MUST refuse them as `forbidden`, or as
    ##% `unauthorized` without a token where tokens are configured, whatever the arguments are.
    tool = replace(Registry().require(UNCITED), scope=Scope.MAINTAINER)
    with pytest.raises(ToolError) as raised:
        call(tool, context, arguments, frozenset([Scope.READER]))
    assert (raised.value.code, raised.value.message, raised.value.hint) == (
        ErrorCode.FORBIDDEN,
        "list_uncited_requirements needs the scope maintainer",
        "call it with a token that has it",
    )
    with pytest.raises(ToolError):
        call(Registry().require(UNCITED), context, {}, frozenset())
    assert call(tool, context, {}).page


def nested(levels: int, *within: object) -> object:
    value: object = [*within]
    for _ in range(levels - 1):
        value = [value]
    return value


REFUSED: list[tuple[str, dict[str, object], str, str]] = [
    (SEARCH, {}, "query is missing", 'Words, "a phrase", an id, file:line or spec#section'),
    (SEARCH, {"query": None}, "query is missing", 'Words, "a phrase", an id, file:line or spec#section'),
    (
        SEARCH,
        {"limit": "5", "slug": "x"},
        "query is missing",
        'search_requirements has no argument "slug": there are limit, cursor, spec, level, query, status',
    ),
    (SEARCH, {"querry": "x"}, "query is missing", 'search_requirements has no argument "querry": did you mean query?'),
    (SEARCH, {"query": 1}, "query: expected str, got int", 'Words, "a phrase", an id, file:line or spec#section'),
    (SEARCH, {"query": {}}, "query: expected str, got object", 'Words, "a phrase", an id, file:line or spec#section'),
    (SEARCH, {"query": "a" * (MAX_ARGUMENT_LENGTH + 1)}, "query has more than 20,000 characters", ""),
    (SEARCH, {"query": nested(65)}, "query is nested too deeply", "64 levels are enough for anybody"),
    (SEARCH, {"query": nested(950)}, "query is nested too deeply", "64 levels are enough for anybody"),
    (
        SEARCH,
        {"query": nested(64, 1)},
        "query: expected str, got array",
        'Words, "a phrase", an id, file:line or spec#section',
    ),
    (SEARCH, {"query": "\ud800"}, "query has half a character in it", "send it as UTF-8"),
    (SEARCH, {"query": " "}, "the query has no word in it", "give a word, an id, file:line or spec#section"),
    (SEARCH, {"query": "\0"}, "the query has no word in it", "give a word, an id, file:line or spec#section"),
    (UNCITED, {"limit": 0}, "limit: expected int >= 1", ""),
    (UNCITED, {"limit": 10_001}, "limit: expected int <= 10000", ""),
    (UNCITED, {"limit": 10**30}, "limit: expected int <= 10000", ""),
    (UNCITED, {"limit": "5"}, "limit: expected int, got str", ""),
    (UNCITED, {"limit": True}, "limit: expected int, got bool", ""),
    (UNCITED, {"level": "must"}, "level: invalid enum value 'must'", "give one of MUST, SHOULD, MAY, unspecified"),
    (UNCITED, {"spec": ["a"]}, "spec: expected str, got array", "Only of this specification: id, name, URL or path"),
    (UNCITED, {"limits": 5}, 'list_uncited_requirements has no argument "limits"', "did you mean limit?"),
    (
        UNCITED,
        {"\0\ud800": 5},
        'list_uncited_requirements has no argument "\\0\\u{d800}"',
        "there are limit, cursor, spec, level",
    ),
    ("get_citation_context", {"citation_id": "a:1", "context_lines": -1}, "context_lines: expected int >= 0", "*"),
]


@pytest.mark.parametrize(("tool", "arguments", "message", "hint"), REFUSED)
def test_arguments_that_are_wrong_are_named(
    context: ProjectSnapshot, tool: str, arguments: dict[str, Any], message: str, hint: str
) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% The server MUST refuse an unknown, missing or wrong argument by its name as `invalid_request`.
    ##= man/spec/service.md#calls
    ##= type=test
    ##% The server MUST refuse arguments nested deeper than 64 levels, and stop tools that call each other without end.
    with pytest.raises(ToolError) as raised:
        ask(context, tool, arguments)
    assert (raised.value.code, raised.value.message) == (ErrorCode.INVALID_REQUEST, message)
    assert hint in ("*", raised.value.hint)


def test_a_name_of_an_argument_without_end_is_cut(context: ProjectSnapshot) -> None:
    _, message, _ = refusal(context, UNCITED, **{"x" * 100_000: 1})
    assert len(message) < 200


def test_null_is_the_same_as_nothing(context: ProjectSnapshot) -> None:
    assert value(context, UNCITED, limit=None, cursor=None, spec=None, level=None) == value(context, UNCITED)


TEXTS = [
    "\0",
    "a\0b",
    "\x1b[31m",
    "\n\r\t",
    "é" * 20_000,
    "a" * 20_000,
    "../" * 500,
    "%2e%2e%2f",
    "#",
    "://",
    "'\"",
    "*",
]
TEXTS += ["/specifications/" + "x" * 9_000, "rfc" + "0" * 5_000, "file:///etc/passwd", "a:" + "9" * 5_000, "ffff"]
STRINGS = {
    SEARCH: "query",
    "get_requirement_status": "req_identifier",
    "get_citation_context": "citation_id",
    "resolve_spec_id": "url",
    UNCITED: "spec",
    "coverage_summary": "spec",
}


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize(("tool", "name"), STRINGS.items())
def test_any_text_is_answered_or_refused(context: ProjectSnapshot, tool: str, name: str, text: str) -> None:
    try:
        answered = ask(context, tool, {name: text})
    except ToolError as error:
        assert error.code in (ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND)
        assert len(error.message) < 2_000
    else:
        assert answered.value is not None and len(answered.next_step) < 2_000


def test_what_agents_are_told_of_tools_is_short() -> None:
    """Less than 2,900 tokens, one of which is four bytes in schemas."""
    told = [(one.name, one.title, one.description, input_schema(one), output_schema(one)) for one in Registry()]
    assert len(told) == 13 and len(json.encode(told)) < 10_500
    noise = ("$ref", "$defs", '"title":"', "anyOf", "null")
    assert [word for word in noise if word in json.encode([(one[3], one[4]) for one in told]).decode()] == []


def test_descriptions_are_sentences() -> None:
    assert [one.name for one in Registry() if not one.description.endswith(".") or len(one.description) > 200] == []
