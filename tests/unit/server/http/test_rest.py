import json
import logging
from typing import Any

import httpx2
import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.server.protocol.server import DuvetServer
from tests.conftest import ROOT
from tests.unit.server.http import http_server as web
from tests.unit.server.http.waiting_server import Waiting
from tests.unit.server.servers import TOOLS, server_of
from tests.unit.server.stdio_server import enveloped, request

pytestmark = pytest.mark.anyio


async def test_the_manifest_lists_the_tools_of_the_caller(server: DuvetServer, snapshot: Snapshot) -> None:
    ##= man/spec/service.md#rest
    ##% `GET /api/mcp` MUST list the tools that the caller may call, with the name, description and input schema of
    ##% each.
    async with web.serving(server, tokens=web.BOTH) as where:
        async with web.asking(where, web.READER) as client:
            answer = await client.get(web.API)
        async with web.asking(where, web.ADMIN) as client:
            everything = await web.tools_of(client)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    manifest, settings = answer.json(), server.settings
    about = [manifest[name] for name in ("name", "version", "description")]
    assert about == [settings.name, settings.version, settings.description]
    tools = {tool["name"]: tool for tool in manifest["tools"]}
    assert list(tools) == [tool.name for tool in server.dispatcher.registry if tool.only_reads]
    assert list(everything)[-1] == "fix"
    snapshot.snapshot_dir = ROOT / "tests/gold/server"
    snapshot.assert_match(json.dumps(tools["get_requirement_status"], indent=2) + "\n", "manifest.json")


@pytest.mark.parametrize(("name", "given"), [("coverage_summary", {}), ("list_uncited_requirements", {"limit": 1})])
async def test_a_tool_answers_the_same_as_by_mcp(http: httpx2.AsyncClient, name: str, given: dict[str, Any]) -> None:
    ##= man/spec/service.md#rest
    ##% `POST /api/mcp` MUST return the answer of the called tool as `result`, which is an object or a bare array.
    ##= man/spec/service.md#calls
    ##% A tool MUST return the same answer through MCP, `/api/mcp` and `duvet call`.
    found = (await http.post(web.API, json={"tool": name, "input": given})).json()
    told = (await web.call(http, name, given)).json()["result"]
    notes = " ".join(filter(None, (found.pop("warning", ""), found.pop("next_step", ""))))
    assert [notes] == [block["text"] for block in told["content"][1:]]
    result = json.loads(told["content"][0]["text"])
    rest = {key: told["structuredContent"][key] for key in ("total", "next_cursor")} if given else {}
    assert found == {"status": "ok", "result": result, **rest}
    assert isinstance(result, list) == bool(given)


SHAPE = 'send {"tool": NAME, "input": {...}}'
NO_JSON = ("Invalid JSON body: invalid request format", SHAPE)
NO_TOOL = ("Tool not found: the field 'tool' is missing or not a name", SHAPE)
NO_INPUT = ("Invalid request format: 'input' is not an object", SHAPE)
NO_QUERY = ("Missing required parameter: query", 'Keywords, "a phrase", an id, file:line or spec#section')
BODIES: list[tuple[Any, tuple[str, str]]] = [
    *((body, NO_JSON) for body in (b"{", b"", b'"\xff"')),
    (b"[]", ("Invalid request format: the body is not an object", SHAPE)),
    *((body, NO_TOOL) for body in ({}, {"tool": ""}, {"tool": 5})),
    ({"tool": "get_sektion"}, ("Tool not found: get_sektion", "did you mean get_section?")),
    *(({"tool": "coverage_summary", "input": odd}, NO_INPUT) for odd in ([1], [], 0, False, "", "{}", 1.5)),
    ({"tool": "search_requirements", "input": {}}, NO_QUERY),
]


@pytest.mark.criterion("pages 7.1", "pages 7.2", "pages 8.1", "pages 8.3")
async def test_wrong_bodies_are_refused(http: httpx2.AsyncClient) -> None:
    for body, error in BODIES:
        answer = await http.post(web.API, content=body if isinstance(body, bytes) else json.dumps(body).encode())
        assert (answer.status_code, answer.json()) == (400, web.refused("invalid_request", *error)), body
    # No input is an empty one.
    inputs: list[dict[str, Any]] = [{}, {"input": None}, {"input": {}}]
    answers = [await http.post(web.API, json={"tool": "coverage_summary", **one}) for one in inputs]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert answers[0].json() == answers[1].json() == answers[2].json()


SEND_TOKEN = "send Authorization: Bearer TOKEN, with a token of this server"
UNAUTHORIZED = web.refused("unauthorized", "A token is required", SEND_TOKEN)
NOT_ALLOWED = "fix requires the scope maintainer", "use the maintainers' token; DUVET_ADMIN_TOKEN sets it"
FORBIDDEN = web.refused("forbidden", *NOT_ALLOWED)


async def test_a_tool_is_for_callers_with_its_scope(server: DuvetServer) -> None:
    ##= man/spec/mcp.md#http
    ##% Without tokens, the server MUST give HTTP clients only the scope `reader`.
    for tokens, token, status, answer in (
        (web.NOBODY, web.ADMIN, 403, FORBIDDEN),
        (web.BOTH, "", 401, UNAUTHORIZED),
        (web.BOTH, web.READER, 403, FORBIDDEN),
        (web.BOTH, web.ADMIN, 200, {"done": True}),
    ):
        async with web.connected(server, token, tokens=tokens) as client:
            assert await web.post(client, "fix") == (status, answer)
            if status == 401:
                continue
            assert ("fix" in await web.tools_of(client)) == (status == 200)
            called = (await web.call(client, "fix", {})).json()["result"]
            assert called["isError"] == (status == 403)
            headers = {**web.MODERN_HEADERS, "mcp-method": "tools/list"}
            listed = (await client.post("/mcp", json=request("tools/list", enveloped({})), headers=headers)).json()
            assert ("fix" in [tool["name"] for tool in listed["result"]["tools"]]) == (status == 200)


async def test_failures_have_their_http_status(http: httpx2.AsyncClient) -> None:
    status, missing = await web.post(http, "get_requirement_status", req_identifier="ffff")
    assert (status, missing["code"]) == (404, "not_found")
    large = await http.post(web.API, content=b"x" * (2 << 20))
    message = "The request has 2,097,152 bytes; the limit is 1,048,576"
    too_large = web.refused("invalid_request", message, "split the request")
    assert (large.status_code, large.json()) == (413, too_large)


@pytest.mark.criterion("pages 7.4")
async def test_an_unexpected_failure_has_no_details(server: DuvetServer, caplog: pytest.LogCaptureFixture) -> None:
    async with web.connected(server_of(server.live, TOOLS)) as client:
        failed = web.refused("upstream_error", "Internal server error")
        assert await web.post(client, "burst", number=1) == (500, failed)
        assert await web.post(client, "twice", number=1) == (200, {"number": 2})
    (record,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert record.getMessage() == "/api/mcp failed"


async def test_an_answer_names_its_request(http: httpx2.AsyncClient) -> None:
    for given in ([b"mine-1"], [], [b""], [b"x" * 200], [b"a\tb"], [b"\xe9"], [b"mine-1", b"mine-2"]):
        headers = [(b"x-request-id", name) for name in given]
        answer = await http.post(web.API, json={"tool": "coverage_summary"}, headers=headers)
        name = answer.headers["x-request-id"]
        assert name == "mine-1" if given == [b"mine-1"] else len(name) == 32 and name.isalnum()


async def test_the_interface_behind_a_gateway_is_that_of_its_client(http: httpx2.AsyncClient, waiting: Waiting) -> None:
    waiting.may_answer.set()
    for given, audience in (([], "rest"), (["mcp"], "mcp"), (["shell"], "rest"), (["mcp", "mcp"], "rest")):
        headers = [("x-duvet-audience", name) for name in given]
        assert (await http.post(web.API, json={"tool": "wait"}, headers=headers)).status_code == 200
        assert waiting.audience == audience
