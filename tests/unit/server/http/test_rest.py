"""`/api/mcp`: the tools as plain HTTP."""

from __future__ import annotations

import json
import logging
from typing import Any

import httpx2
import pytest

from duvet.server.protocol.server import DuvetServer
from duvet.tools.arguments import MAX_ARGUMENT_LENGTH
from tests.unit.server.http.serving import ADMIN, BOTH, READER, asking, call, serving
from tests.unit.server.protocol.made import made

pytestmark = pytest.mark.anyio
API = "/api/mcp"
SHAPE = 'send {"tool": NAME, "input": {...}}'


def refused(code: str, message: str, hint: str = "") -> dict[str, str]:
    return {"status": "error", "error": message, "code": code, "hint": hint}


async def test_the_manifest(server: DuvetServer) -> None:
    ##= man/spec/service.md#rest
    ##= type=test
    ##% `GET /api/mcp` MUST list the tools that the caller may call, with name, description and input schema.
    async with serving(server, tokens=BOTH) as where:
        async with asking(where, READER) as client:
            answer = await client.get(API)
        async with asking(where, ADMIN) as client:
            everything = (await client.get(API)).json()
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    manifest = answer.json()
    assert [manifest[name] for name in ("name", "version", "description")] == [
        server.identity.name,
        server.identity.version,
        server.identity.description,
    ]
    assert [tool["name"] for tool in manifest["tools"]] == [
        tool.name for tool in server.dispatcher.registry if tool.only_reads
    ]
    assert [tool["name"] for tool in everything["tools"]][-1] == "mend"
    assert next(tool for tool in manifest["tools"] if tool["name"] == "get_requirement_status") == {
        "name": "get_requirement_status",
        "title": "Status of a requirement",
        "description": 'How far a requirement has got: "done", "needs tests", "in progress" or "not started". Ask again '
        "once you have cited it.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "req_identifier": {
                    "type": "string",
                    "description": "First 4 or more digits of its id, or its full_path",
                }
            },
            "required": ["req_identifier"],
        },
        "scope": "reader",
    }


async def test_what_a_tool_answers(server: DuvetServer) -> None:
    ##= man/spec/service.md#rest
    ##= type=test
    ##% A call by `POST /api/mcp` MUST return the object or the bare array of the tool as its `result`.
    ##= man/spec/service.md#calls
    ##= type=test
    ##% A tool MUST answer the same over MCP, over `/api/mcp` and by `duvet call`, which also finds the tools of packs
    ##% that are off.
    async with serving(server) as where, asking(where) as client:
        for name, given in (("coverage_summary", {}), ("list_uncited_requirements", {"limit": 1})):
            answer = await client.post(API, json={"tool": name, "input": given})
            assert answer.status_code == 200
            found = answer.json()
            told = (await call(client, name, given)).json()["result"]
            assert found["status"] == "ok" and found["result"] == json.loads(told["content"][0]["text"])
            rest = {key: value for key, value in found.items() if key in ("total", "next_cursor")}
            assert rest.items() <= told["structuredContent"].items()
            notes = " ".join(filter(None, (found.get("warning"), found.get("next_step"))))
            assert [notes] == [block["text"] for block in told["content"][1:]]
        assert isinstance(found["result"], list) and found["next_cursor"]


BODIES: dict[str, tuple[Any, dict[str, str]]] = {
    "no JSON": (b"{", refused("invalid_request", "Invalid JSON body: invalid request format", SHAPE)),
    "nothing": (b"", refused("invalid_request", "Invalid JSON body: invalid request format", SHAPE)),
    "not UTF-8": (b'"\xff"', refused("invalid_request", "Invalid JSON body: invalid request format", SHAPE)),
    "array": (b"[]", refused("invalid_request", "Invalid request format: the body is no object", SHAPE)),
    "no tool": ({}, refused("invalid_request", "Missing 'tool' field: the tool is not found", SHAPE)),
    "empty tool": ({"tool": ""}, refused("invalid_request", "Missing 'tool' field: the tool is not found", SHAPE)),
    "odd tool": ({"tool": 5}, refused("invalid_request", "Missing 'tool' field: the tool is not found", SHAPE)),
    "unknown": (
        {"tool": "get_sektion"},
        refused("invalid_request", "Unknown tool: get_sektion. The tool is not found", "did you mean get_section?"),
    ),
    **{
        f"input {odd!r}": (
            {"tool": "coverage_summary", "input": odd},
            refused("invalid_request", "Invalid request format: 'input' is no object", SHAPE),
        )
        for odd in ([1], [], 0, False, "", "{}", 1.5)
    },
    "missing": (
        {"tool": "search_requirements", "input": {}},
        refused(
            "invalid_request",
            "Missing required parameter: query",
            'Words, "a phrase", an id, file:line or spec#section',
        ),
    ),
    "wrong": (
        {"tool": "list_uncited_requirements", "input": {"limit": "5"}},
        refused("invalid_request", "limit: expected int, got str"),
    ),
    "long": (
        {"tool": "search_requirements", "input": {"query": "a" * (MAX_ARGUMENT_LENGTH + 1)}},
        refused("invalid_request", "query has more than 20,000 characters"),
    ),
}


@pytest.mark.parametrize("name", BODIES)
async def test_bodies_that_are_wrong(server: DuvetServer, name: str) -> None:
    ##= man/spec/service.md#rest
    ##= type=test
    ##% The server MUST answer 400 for a body that is not JSON, an unknown tool and a wrong input, and 500 without
    ##% details for an unexpected failure, with `code` and `hint` beside the `error`.
    body, expected = BODIES[name]
    async with serving(server) as where, asking(where) as client:
        given = {"content": body} if isinstance(body, bytes) else {"json": body}
        answer = await client.post(API, **given)
    assert (answer.status_code, answer.json()) == (400, expected)


async def test_no_input_is_an_empty_one(server: DuvetServer) -> None:
    async with serving(server) as where, asking(where) as client:
        inputs: list[dict[str, Any]] = [{}, {"input": None}, {"input": {}}]
        answers = [await client.post(API, json={"tool": "coverage_summary", **one}) for one in inputs]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert answers[0].json() == answers[1].json() == answers[2].json()


async def test_statuses(server: DuvetServer) -> None:
    ##= man/spec/service.md#rest
    ##= type=test
    ##% The server MUST answer 400 for a body that is not JSON, an unknown tool and a wrong input, and 500 without
    ##% details for an unexpected failure, with `code` and `hint` beside the `error`.
    async with serving(server, tokens=BOTH) as where:
        async with asking(where) as client:
            answer = await client.post(API, json={"tool": "mend"})
            assert (answer.status_code, answer.json()) == (
                401,
                refused("unauthorized", "A token is needed", "send Authorization: Bearer TOKEN"),
            )
        async with asking(where, READER) as client:
            answer = await client.post(API, json={"tool": "mend"})
            assert (answer.status_code, answer.json()) == (
                403,
                refused("forbidden", "mend needs the scope maintainer", "call it with a token that has it"),
            )
            missing = await client.post(
                API, json={"tool": "get_requirement_status", "input": {"req_identifier": "ffff"}}
            )
            assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
            odd = await client.put(API)
            assert (odd.status_code, odd.headers["allow"], odd.json()["code"]) == (
                405,
                "GET, HEAD, POST",
                "unsupported_operation",
            )
            large = await client.post(API, content=b"x" * (2 << 20))
            hint = "it may have 1,048,576 bytes: send less at once, and text as UTF-8, which is shorter than escapes"
            assert (large.status_code, large.json()) == (
                413,
                refused("invalid_request", "The request is too large", hint),
            )
            elsewhere = await client.post(API, json={}, headers={"origin": "http://evil.example"})
            assert (elsewhere.status_code, elsewhere.json()["code"]) == (403, "forbidden")
            assert (await client.post(f"{API}/", json={})).json() == refused("not_found", "Not Found")
        async with asking(where, ADMIN) as client:
            answer = await client.post(API, json={"tool": "mend"})
            found = answer.json()
            assert found.pop("warning").startswith("2 errors in the project, so not everything counts; ")
            assert (answer.status_code, found) == (200, {"status": "ok", "result": {"done": True}})


async def test_what_nobody_foresaw(server: DuvetServer, caplog: pytest.LogCaptureFixture) -> None:
    ##= man/spec/service.md#rest
    ##= type=test
    ##% The server MUST answer 400 for a body that is not JSON, an unknown tool and a wrong input, and 500 without
    ##% details for an unexpected failure, with `code` and `hint` beside the `error`.
    async with serving(made(server.live)) as where, asking(where) as client:
        answer = await client.post(API, json={"tool": "burst", "input": {"number": 1}})
        assert (answer.status_code, answer.json()) == (500, refused("upstream_error", "Internal server error"))
        assert (await client.post(API, json={"tool": "twice", "input": {"number": 1}})).json()["result"] == {
            "number": 2
        }
    (record,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert record.getMessage() == "/api/mcp failed"


async def test_requests_have_names(server: DuvetServer) -> None:
    async with serving(server) as where, asking(where) as client:

        async def named(**headers: str) -> httpx2.Response:
            return await client.post(API, json={"tool": "coverage_summary"}, headers=headers)

        assert (await named(**{"x-request-id": "mine-1"})).headers["x-request-id"] == "mine-1"
        for odd in ("", "x" * 200, "a\tb"):
            made_up = (await named(**{"x-request-id": odd})).headers["x-request-id"]
            assert len(made_up) == 32 and made_up.isalnum()
