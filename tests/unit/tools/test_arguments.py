"""Checks before a tool runs (the caller's scope and the arguments), and the schemas for agents."""

from __future__ import annotations

import re
from typing import Any

import anyio
import jsonschema  # type: ignore[import-untyped]
import pytest
from msgspec import json
from msgspec.structs import replace

from duvet.tools.arguments import MAX_ARGUMENT_LENGTH, check_input, input_schema, make_client_schema, output_schema
from duvet.tools.call_context import Caller
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import KNOWLEDGE, TRACE, Registry
from duvet.tools.tool import EnabledPack, ErrorCode, Scope, ToolError
from tests.unit.tools.tool_calls import FILES, Fixed, ask, call, context_of, refusal, value

UNCITED, SEARCH = "list_uncited_requirements", "search_requirements"
BOTH, CONTEXT, SUGGEST = "validate_citations", "get_citation_context", "suggest_citation"
NODE, TERM, AROUND = "km-graph-node", "km-graph-search", "km-graph-subsystem"
FEEDBACK, STORE, KM = "km-feedback-submit", "km-storetext", "km-search"


@pytest.mark.parametrize("arguments", [{}, {"limit": -1}])
def test_a_caller_needs_the_scope_of_the_tool(context: ProjectSnapshot, arguments: dict[str, object]) -> None:
    ##= man/spec/gateway.md#access
    ##% The server MUST list and run tools that require the scope `maintainer` only for maintainers.
    tool = replace(Registry().require(UNCITED), scope=Scope.MAINTAINER)
    with pytest.raises(ToolError) as raised:
        call(tool, context, arguments, frozenset([Scope.READER]))
    told = "list_uncited_requirements requires the scope maintainer", "use a token with the scope maintainer"
    assert (raised.value.code, raised.value.message, raised.value.hint) == (ErrorCode.FORBIDDEN, *told)
    with pytest.raises(ToolError):
        call(Registry().require(UNCITED), context, {}, frozenset())
    assert call(tool, context, {}).page


def nested(levels: int, within: str = "") -> object:
    return json.decode("[" * levels + within + "]" * levels)


NO_WORD, SHALLOW = "give a word, a requirement id, FILE:LINE or SPEC#SECTION", "reduce its nesting"
IN_PARTS = "split it, or upload it as a file with km-upload"
TYPES = "use one of implementation, test, exception, todo, implication"
WAYS = "use one of outgoing, incoming, all, none"
ALL = "available: limit, cursor, spec, level"
VOTE, CITED = {"request_id": "r", "chunk_id": "c"}, {"requirement": "a", "file": "b"}
NO_SLUG = 'search_requirements has no argument "slug"'
KM_ARGUMENTS = "available: query, limit, include_graph, filters, sort_by_vector"
LONG = "x" * (MAX_ARGUMENT_LENGTH + 1)
DESCRIBED = "the description of the argument"
REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    # Missing, null and blank.
    (SEARCH, {}, "query is missing", DESCRIBED),
    (NODE, {"node_id": " "}, "node_id is missing", DESCRIBED),
    (TERM, {"term": " "}, "term is missing", DESCRIBED),
    (AROUND, {"name": " "}, "name is missing", DESCRIBED),
    (FEEDBACK, {**VOTE, "request_id": " "}, "request_id is missing", DESCRIBED),
    (FEEDBACK, {**VOTE, "chunk_id": ""}, "chunk_id is missing", DESCRIBED),
    *((STORE, {"content": blank}, "content is missing", DESCRIBED) for blank in (" \n\t", None)),
    *((SEARCH, {"query": blank}, "the query contains no words", NO_WORD) for blank in (" ", "\0")),
    (BOTH, {"citations": []}, "citations: expected array of length >= 1", DESCRIBED),
    # Of another type.
    (SEARCH, {"query": 1}, "query: expected string, got integer", DESCRIBED),
    (SEARCH, {"query": nested(64, "1")}, "query: expected string, got array", DESCRIBED),
    (UNCITED, {"limit": "5"}, "limit: expected integer, got string", ""),
    (UNCITED, {"limit": True}, "limit: expected integer, got boolean", ""),
    (BOTH, {"citations": ["a", 3]}, "citations[1]: expected string, got integer", DESCRIBED),
    (BOTH, {"citations": "a"}, "citations: expected array, got string", DESCRIBED),
    (FEEDBACK, {**VOTE, "vote": "1"}, "vote: expected number, got string", DESCRIBED),
    (FEEDBACK, {**VOTE, "vote": True}, "vote: expected number, got boolean", DESCRIBED),
    (FEEDBACK, {**VOTE, "context": []}, "context: expected object, got array", DESCRIBED),
    (STORE, {"content": "a", "tags": [1]}, "tags[0]: expected string, got integer", DESCRIBED),
    # Too little or too much.
    (UNCITED, {"limit": 0}, "limit: expected integer >= 1", ""),
    *((UNCITED, {"limit": limit}, "limit: expected integer <= 10000", "") for limit in (10_001, 10**30)),
    (BOTH, {"citations": ["a" * 10_001]}, "citations[0]: expected string of length <= 10000", DESCRIBED),
    (NODE, {"node_id": "a", "limit": 0}, "limit: expected integer >= 1", DESCRIBED),
    (TERM, {"term": "a", "limit": 0}, "limit: expected integer >= 1", DESCRIBED),
    (AROUND, {"name": "a", "limit": 0}, "limit: expected integer >= 1", DESCRIBED),
    (AROUND, {"name": "a", "depth": -1}, "depth: expected integer >= 0", DESCRIBED),
    ("km-lifecycle-report", {"history": -1}, "history: expected integer >= 0", DESCRIBED),
    (FEEDBACK, {**VOTE, "vote": 1.01}, "vote: expected number <= 1.0", DESCRIBED),
    (FEEDBACK, {**VOTE, "vote": -2}, "vote: expected number >= -1.0", DESCRIBED),
    (FEEDBACK, {**VOTE, "chunk_id": "x" * 501}, "chunk_id has 501 characters; the limit is 500", DESCRIBED),
    (
        FEEDBACK,
        {**VOTE, "context": {"a": "x" * 20_000}},
        "context has 20,008 bytes of JSON; the limit is 16,384",
        "shorten it",
    ),
    (STORE, {"content": "a", "tags": ["x" * 201]}, "tags[0]: expected string of length <= 200", DESCRIBED),
    (STORE, {"content": "é" * 250_001}, "content has 500,002 bytes; the limit is 500,000", IN_PARTS),
    (SEARCH, {"query": LONG}, "query has 20,001 characters; the limit is 20,000", ""),
    *((SEARCH, {"query": nested(levels)}, "query is nested more than 64 levels deep", SHALLOW) for levels in (65, 800)),
    # Not among the choices, and not a text.
    (UNCITED, {"level": "loud"}, "level: invalid enum value 'loud'", "use one of MUST, SHOULD, MAY, unspecified"),
    (SUGGEST, {**CITED, "type": "spec"}, "type: invalid enum value 'spec'", TYPES),
    (NODE, {"node_id": "a", "relationships": "some"}, "relationships: invalid enum value 'some'", WAYS),
    (SEARCH, {"query": "\ud800"}, "query contains half a surrogate pair", "send it as valid UTF-8"),
    # Unknown.
    (SEARCH, {"querry": "x"}, "query is missing", 'search_requirements has no argument "querry": did you mean query?'),
    (SEARCH, {"limit": "5", "slug": "x"}, "query is missing", f"{NO_SLUG}: {ALL}, status, query"),
    (UNCITED, {"limits": 5}, 'list_uncited_requirements has no argument "limits"', "did you mean limit?"),
    (UNCITED, {"\0\ud800": 5}, 'list_uncited_requirements has no argument "\\0\\u{d800}"', ALL),
    (FEEDBACK, {**VOTE, "votes": 1}, 'km-feedback-submit has no argument "votes"', "did you mean vote or note?"),
    # `km-search` has its own messages.
    *((KM, given, "Field 'query' is required", "pass the words to search for") for given in ({}, {"query": " "})),
    (KM, {"query": "a", "limit": "5"}, "Field 'limit' must be an integer", ""),
    (KM, {"query": "\ud800"}, "query contains half a surrogate pair", "send it as valid UTF-8"),
    (
        KM,
        {"query": "a", "filters": {"tags": ["\ud800"]}},
        "filters contains half a surrogate pair",
        "send it as valid UTF-8",
    ),
    (KM, {"query": "a", "words": 1}, "Unknown field 'words'", KM_ARGUMENTS),
]
DESK = ToolDispatcher(Registry([EnabledPack(TRACE), EnabledPack(KNOWLEDGE)]), Fixed(context_of(FILES)))


@pytest.mark.parametrize(("tool", "arguments", "message", "hint"), REFUSED, ids=range(len(REFUSED)))
def test_a_wrong_argument_is_refused_by_its_name(tool: str, arguments: dict[str, Any], message: str, hint: str) -> None:
    ##= man/spec/mcp.md#tools
    ##% The server MUST refuse an unknown, missing or invalid argument with the error `invalid_request` and the name of
    ##% the argument.
    if hint == DESCRIBED:
        name = re.split(r"[ :.[]", message)[0]
        hint = input_schema(DESK.registry.require(tool))["properties"][name]["description"]
    with pytest.raises(ToolError) as raised:
        anyio.run(DESK.call, tool, arguments, Caller(scopes=frozenset(Scope)))
    told = raised.value.code, raised.value.message, raised.value.hint
    assert told == (ErrorCode.INVALID_REQUEST, message, hint)


def test_null_is_the_same_as_a_missing_argument_and_a_long_name_is_shortened(context: ProjectSnapshot) -> None:
    assert value(context, UNCITED, limit=None, cursor=None, spec=None, level=None) == value(context, UNCITED)
    assert len(refusal(context, UNCITED, **{"x" * 100_000: 1})[1]) < 200


def test_clients_may_send_null_for_an_argument_without_a_value() -> None:
    given: dict[str, dict[str, Any]] = {
        AROUND: {"name": "Kettle", "cursor": None, "include_artifacts": None},
        "km-backup-trigger": {"destination": None},
        KM: {"query": "a", "filters": {"updated_after": None, "max_age_days": None}},
        UNCITED: {"level": None, "limit": None, "cursor": None},
    }
    for name, arguments in given.items():
        tool = DESK.registry.require(name)
        jsonschema.validate(arguments, make_client_schema(tool))
        assert check_input(tool, arguments)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"name": None}, make_client_schema(DESK.registry.require(AROUND)))


TEXTS = [
    *["\0", "a\0b", "\x1b[31m", "\n\r\t", "é" * 20_000, "a" * 20_000, "../" * 500, "%2e%2e%2f", "#", "://", "'\"", "*"],
    *["/specifications/" + "x" * 9_000, "rfc" + "0" * 5_000, "file:///etc/passwd", "a:" + "9" * 5_000, "ffff"],
]
STRINGS = {SEARCH: "query", "get_requirement_status": "req_identifier", CONTEXT: "citation_id"}
STRINGS |= {"resolve_spec_id": "url", UNCITED: "spec", "coverage_summary": "spec"}


@pytest.mark.parametrize(("tool", "name"), STRINGS.items())
def test_any_text_is_answered_or_refused(context: ProjectSnapshot, tool: str, name: str) -> None:
    for text in TEXTS:
        try:
            answered = ask(context, tool, {name: text})
        except ToolError as error:
            assert error.code in (ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND)
            assert len(error.message) < 2_000
        else:
            assert answered.value is not None and len(answered.next_step) < 2_000


def test_the_descriptions_of_tools_are_short_sentences() -> None:
    """All schemas together have fewer than 2,900 tokens of about four bytes."""
    told = [(one.name, one.title, one.description, input_schema(one), output_schema(one)) for one in Registry()]
    assert len(told) == 13 and len(json.encode(told)) < 10_500
    noise = ("$ref", "$defs", '"title":"', "anyOf", "null")
    assert [word for word in noise if word in json.encode([(one[3], one[4]) for one in told]).decode()] == []
    assert [one.name for one in Registry() if not one.description.endswith(".") or len(one.description) > 200] == []
