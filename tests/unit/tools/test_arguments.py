from typing import Any

import anyio
import jsonschema  # type: ignore[import-untyped]
import pytest
from msgspec import json
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

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


def test_a_caller_needs_the_scope_of_the_tool(context: ProjectSnapshot) -> None:
    ##= man/spec/gateway.md#access
    ##% The server MUST list and run tools that require the scope `maintainer` only for maintainers.
    tool = replace(Registry().require(UNCITED), scope=Scope.MAINTAINER)
    told = (
        "list_uncited_requirements requires the scope maintainer",
        "use the maintainers' token; DUVET_ADMIN_TOKEN sets it",
    )
    for arguments in ({}, {"limit": -1}):
        with pytest.raises(ToolError) as raised:
            call(tool, context, arguments, [Scope.READER])
        assert (raised.value.code, raised.value.message, raised.value.hint) == (ErrorCode.FORBIDDEN, *told)
    with pytest.raises(ToolError):
        call(Registry().require(UNCITED), context, {}, ())
    assert call(tool, context, {}).page


def nested(levels: int, within: str = "") -> object:
    return json.decode("[" * levels + within + "]" * levels)


VOTE, CITED = {"request_id": "r", "chunk_id": "c"}, {"requirement": "a", "file": "b"}
REFUSED: dict[str, list[dict[str, Any]]] = {
    SEARCH: [
        *({}, {"query": " "}, {"query": "\0"}, {"query": 1}, {"query": nested(64, "1")}, {"query": nested(65)}),
        *(
            {"query": nested(800)},
            {"query": "x" * (MAX_ARGUMENT_LENGTH + 1)},
            {"query": "\ud800"},
            {"query": {"\ud800": 1}},
        ),
        *({"querry": "x"}, {"limit": "5", "slug": "x"}),
    ],
    UNCITED: [
        *({"limit": limit} for limit in ("5", True, 0, 10_001, 10**30)),
        *({"level": "loud"}, {"limits": 5}, {"\0\ud800": 5}),
    ],
    BOTH: [{"citations": given} for given in ([], ["a", 3], "a", ["a" * 10_001])],
    SUGGEST: [{**CITED, "type": "spec"}],
    NODE: [{"node_id": " "}, {"node_id": "a", "limit": 0}, {"node_id": "a", "relationships": "some"}],
    TERM: [{"term": " "}, {"term": "a", "limit": 0}],
    AROUND: [{"name": " "}, {"name": "a", "limit": 0}, {"name": "a", "depth": -1}],
    "km-lifecycle-report": [{"history": -1}],
    FEEDBACK: [
        *({**VOTE, "request_id": " "}, {**VOTE, "chunk_id": ""}, {**VOTE, "chunk_id": "x" * 501}, {**VOTE, "votes": 1}),
        *({**VOTE, "vote": vote} for vote in ("1", True, 1.01, -2)),
        *({**VOTE, "context": []}, {**VOTE, "context": {"a": "x" * 20_000}}),
    ],
    STORE: [
        *({"content": given} for given in (" \n\t", None, "é" * 250_001)),
        *({"content": "a", "tags": [tag]} for tag in (1, "x" * 201)),
    ],
    # It has its own messages.
    KM: [
        *({}, {"query": " "}, {"query": "a", "limit": "5"}, {"query": "\ud800"}, {"query": "a", "words": 1}),
        {"query": "a", "filters": {"tags": ["\ud800"]}},
    ],
}
DESK = ToolDispatcher(Registry([EnabledPack(TRACE), EnabledPack(KNOWLEDGE)]), Fixed(context_of(FILES)))


def test_a_wrong_argument_is_refused_by_its_name(problem_files: Snapshot) -> None:
    ##= man/spec/mcp.md#tools
    ##% The server MUST refuse an unknown, missing or invalid argument with the error `invalid_request` and the name of
    ##% the argument.
    lines = []
    for tool, several in REFUSED.items():
        for arguments in several:
            with pytest.raises(ToolError) as raised:
                anyio.run(DESK.call, tool, arguments, Caller(scopes=frozenset(Scope)))
            assert raised.value.code is ErrorCode.INVALID_REQUEST
            told = "; ".join(filter(None, (raised.value.message, raised.value.hint)))
            lines.append(f"{tool} {arguments!a:.70}: {told}")
    problem_files.assert_match("\n".join(lines), "arguments.txt")


def test_clients_may_send_null_for_an_argument_without_a_value(context: ProjectSnapshot) -> None:
    assert value(context, UNCITED, limit=None, cursor=None, spec=None, level=None) == value(context, UNCITED)
    # A long name is shortened.
    assert len(refusal(context, UNCITED, **{"x" * 100_000: 1})[1]) < 200
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
