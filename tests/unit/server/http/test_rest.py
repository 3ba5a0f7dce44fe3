from __future__ import annotations

import json
import logging
from typing import Any

import httpx2
import pytest

from duvet.server.protocol.server import DuvetServer
from duvet.tools.arguments import MAX_ARGUMENT_LENGTH
from tests.unit.server.http import http_server
from tests.unit.server.http.waiting_server import Waiting
from tests.unit.server.servers import TOOLS, server_of
from tests.unit.server.stdio_server import enveloped, request

pytestmark = pytest.mark.anyio


async def test_the_manifest_lists_the_tools_of_the_caller(server: DuvetServer) -> None:
    ##= man/spec/service.md#rest
    ##% `GET /api/mcp` MUST list the tools that the caller may call, with the name, description and input schema of
    ##% each.
    async with http_server.serving(server, tokens=http_server.BOTH) as where:
        async with http_server.asking(where, http_server.READER) as client:
            answer = await client.get(http_server.API)
        async with http_server.asking(where, http_server.ADMIN) as client:
            everything = await http_server.tools_of(client)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    manifest, settings = answer.json(), server.settings
    about = [manifest[name] for name in ("name", "version", "description")]
    assert about == [settings.name, settings.version, settings.description]
    tools = {tool["name"]: tool for tool in manifest["tools"]}
    assert list(tools) == [tool.name for tool in server.dispatcher.registry if tool.only_reads]
    assert list(everything)[-1] == "fix"
    about_id = "The requirement: its id (4 or more digits), name or full_path"
    assert tools["get_requirement_status"] == {
        "name": "get_requirement_status",
        "title": "State of a requirement",
        "description": 'Return the state of a requirement, such as "needs tests" or "done". Call it again after '
        "you have cited the requirement.",
        "inputSchema": {
            "type": "object",
            "properties": {"req_identifier": {"type": "string", "description": about_id}},
            "required": ["req_identifier"],
        },
        "scope": "reader",
    }


@pytest.mark.parametrize(
    ("name", "given"), [("coverage_summary", {}), ("list_uncited_requirements", {"limit": 1})], ids=["object", "list"]
)
async def test_a_tool_answers_the_same_as_by_mcp(http: httpx2.AsyncClient, name: str, given: dict[str, Any]) -> None:
    ##= man/spec/service.md#rest
    ##% `POST /api/mcp` MUST return the answer of the called tool as `result`, which is an object or a bare array.
    ##= man/spec/service.md#calls
    ##% A tool MUST return the same answer through MCP, `/api/mcp` and `duvet call`.
    found = (await http.post(http_server.API, json={"tool": name, "input": given})).json()
    told = (await http_server.call(http, name, given)).json()["result"]
    notes = " ".join(filter(None, (found.pop("warning", ""), found.pop("next_step", ""))))
    assert [notes] == [block["text"] for block in told["content"][1:]]
    result = json.loads(told["content"][0]["text"])
    rest = {key: told["structuredContent"][key] for key in ("total", "next_cursor")} if given else {}
    assert found == {"status": "ok", "result": result, **rest}
    assert isinstance(result, list) == bool(given)


SHAPE = 'send {"tool": NAME, "input": {...}}'
NO_JSON = ("Invalid JSON body: invalid request format", SHAPE)
NO_TOOL = ("Tool not found: the field 'tool' is missing or not a name", SHAPE)
BODIES: list[tuple[Any, tuple[str, str]]] = [
    (b"{", NO_JSON),
    (b"", NO_JSON),
    (b'"\xff"', NO_JSON),
    (b"[]", ("Invalid request format: the body is not an object", SHAPE)),
    ({}, NO_TOOL),
    ({"tool": ""}, NO_TOOL),
    ({"tool": 5}, NO_TOOL),
    ({"tool": "get_sektion"}, ("Tool not found: get_sektion", "did you mean get_section?")),
    *(
        ({"tool": "coverage_summary", "input": odd}, ("Invalid request format: 'input' is not an object", SHAPE))
        for odd in ([1], [], 0, False, "", "{}", 1.5)
    ),
    (
        {"tool": "search_requirements", "input": {}},
        ("Missing required parameter: query", 'Keywords, "a phrase", an id, file:line or spec#section'),
    ),
    ({"tool": "list_uncited_requirements", "input": {"limit": "5"}}, ("limit: expected integer, got string", "")),
    (
        {"tool": "search_requirements", "input": {"query": "a" * (MAX_ARGUMENT_LENGTH + 1)}},
        ("query has 20,001 characters; the limit is 20,000", ""),
    ),
]


@pytest.mark.criterion("pages 7.1", "pages 7.2", "pages 8.1", "pages 8.3")
async def test_wrong_bodies_are_refused(http: httpx2.AsyncClient) -> None:
    for body, error in BODIES:
        answer = await http.post(
            http_server.API, content=body if isinstance(body, bytes) else json.dumps(body).encode()
        )
        assert (answer.status_code, answer.json()) == (400, http_server.refused("invalid_request", *error)), body


async def test_no_input_is_an_empty_one(http: httpx2.AsyncClient) -> None:
    inputs: list[dict[str, Any]] = [{}, {"input": None}, {"input": {}}]
    answers = [await http.post(http_server.API, json={"tool": "coverage_summary", **one}) for one in inputs]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert answers[0].json() == answers[1].json() == answers[2].json()


UNAUTHORIZED = http_server.refused(
    "unauthorized", "A token is required", "send Authorization: Bearer TOKEN, with a token of this server"
)
FORBIDDEN = http_server.refused(
    "forbidden", "fix requires the scope maintainer", "use a token with the scope maintainer"
)


async def test_a_tool_is_for_callers_with_its_scope(server: DuvetServer) -> None:
    ##= man/spec/mcp.md#http
    ##% Without tokens, the server MUST give HTTP clients only the scope `reader`.
    for tokens, token, status, answer in (
        (http_server.NOBODY, http_server.ADMIN, 403, FORBIDDEN),
        (http_server.BOTH, "", 401, UNAUTHORIZED),
        (http_server.BOTH, http_server.READER, 403, FORBIDDEN),
        (http_server.BOTH, http_server.ADMIN, 200, {"done": True}),
    ):
        async with http_server.connected(server, token, tokens=tokens) as client:
            assert await http_server.post(client, "fix") == (status, answer)
            if status == 401:
                continue
            assert ("fix" in await http_server.tools_of(client)) == (status == 200)
            called = (await http_server.call(client, "fix", {})).json()["result"]
            assert called["isError"] == (status == 403)
            headers = {**http_server.MODERN_HEADERS, "mcp-method": "tools/list"}
            listed = (await client.post("/mcp", json=request("tools/list", enveloped({})), headers=headers)).json()
            assert ("fix" in [tool["name"] for tool in listed["result"]["tools"]]) == (status == 200)


async def test_failures_have_their_http_status(http: httpx2.AsyncClient) -> None:
    status, missing = await http_server.post(http, "get_requirement_status", req_identifier="ffff")
    assert (status, missing["code"]) == (404, "not_found")
    large = await http.post(http_server.API, content=b"x" * (2 << 20))
    message = "The request has 2,097,152 bytes; the limit is 1,048,576"
    too_large = http_server.refused("invalid_request", message, "split the request")
    assert (large.status_code, large.json()) == (413, too_large)


@pytest.mark.criterion("pages 7.4")
async def test_an_unexpected_failure_has_no_details(server: DuvetServer, caplog: pytest.LogCaptureFixture) -> None:
    async with http_server.connected(server_of(server.live, TOOLS)) as client:
        failed = http_server.refused("upstream_error", "Internal server error")
        assert await http_server.post(client, "burst", number=1) == (500, failed)
        assert await http_server.post(client, "twice", number=1) == (200, {"number": 2})
    (record,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert record.getMessage() == "/api/mcp failed"


async def test_an_answer_names_its_request(http: httpx2.AsyncClient) -> None:
    for given in ([b"mine-1"], [], [b""], [b"x" * 200], [b"a\tb"], [b"\xe9"], [b"mine-1", b"mine-2"]):
        headers = [(b"x-request-id", name) for name in given]
        answer = await http.post(http_server.API, json={"tool": "coverage_summary"}, headers=headers)
        name = answer.headers["x-request-id"]
        assert name == "mine-1" if given == [b"mine-1"] else len(name) == 32 and name.isalnum()


async def test_the_interface_behind_a_gateway_is_that_of_its_client(http: httpx2.AsyncClient, waiting: Waiting) -> None:
    waiting.may_answer.set()
    for given, audience in (([], "rest"), (["mcp"], "mcp"), (["shell"], "rest"), (["mcp", "mcp"], "rest")):
        headers = [("x-duvet-audience", name) for name in given]
        assert (await http.post(http_server.API, json={"tool": "wait"}, headers=headers)).status_code == 200
        assert waiting.audience == audience
