"""Batches over HTTP, and answers that are bare arrays."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from duvet.server.http.guards import HttpLimits
from duvet.server.protocol.server import DuvetServer
from tests.unit.server.http.http_server import MEDIA, MODERN_HEADERS, connected, greet, messages_in
from tests.unit.server.stdio_server import enveloped, hello, request

pytestmark = pytest.mark.anyio
NOTE = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}
ARRAY = [{"id": "ä\n"}, {"id": "two"}]


def refusal(message: str) -> Any:
    return 400, {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": f"Invalid Request: {message}"}}


async def test_a_batch_is_answered_with_one_array(http: httpx2.AsyncClient) -> None:
    batch = [
        request("ping", id=1),
        NOTE,
        request("resources/get", {"path": "/all"}, id="b"),
        7,
        request("no/such", id=3),
        hello(id=4),
        request("ping", id=5),
    ]
    session = await greet(http, "2025-03-26")
    answer = await http.post("/mcp", json=batch, headers=session)
    named = {**session, "mcp-protocol-version": "2025-03-26"}
    assert (await http.post("/mcp", json=[request("ping")], headers=named)).status_code == 200
    notes = await http.post("/mcp", json=[NOTE, NOTE], headers=session)
    later = await http.post("/mcp", json=batch, headers={**session, "mcp-protocol-version": "2025-06-18"})
    modern = await http.post("/mcp", json=[request("ping", enveloped())], headers=MODERN_HEADERS)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert [(one["id"], one.get("result"), one.get("error", {}).get("code")) for one in answer.json()] == [
        (1, {}, None),
        ("b", ARRAY, None),
        (None, None, -32600),
        (3, None, -32601),
        (4, None, -32600),
        (5, {}, None),
    ]
    assert (notes.status_code, notes.content) == (202, b"")
    expected = refusal("only protocol version 2025-03-26 has batches")
    assert [(one.status_code, one.json()) for one in (later, modern)] == [expected] * 2


@pytest.mark.parametrize(("session", "status"), [({"mcp-session-id": "0" * 32}, 404), ({}, 400)])
async def test_a_batch_needs_a_session(http: httpx2.AsyncClient, session: dict[str, str], status: int) -> None:
    batch = [request("ping"), request("ping", id=2)]
    assert (await http.post("/mcp", json=batch, headers={**MEDIA, **session})).status_code == status


@pytest.mark.parametrize("batch", [[], [request("ping")] * 3])
async def test_the_size_of_a_batch_is_limited(server: DuvetServer, batch: list[Any]) -> None:
    async with connected(server, limits=HttpLimits(batch=2)) as client:
        answer = await client.post("/mcp", json=batch, headers=await greet(client, "2025-03-26"))
    assert (answer.status_code, answer.json()) == refusal("a batch must have 1 to 2 messages")


async def test_an_array_is_bare_in_events(http: httpx2.AsyncClient) -> None:
    """`tests/cli/server/test_transports.py` covers plain JSON."""
    params = enveloped({"path": "/progress"})
    params["_meta"]["progressToken"] = "t"
    headers = {**MODERN_HEADERS, "mcp-method": "resources/get"}
    answer = await http.post("/mcp", json=request("resources/get", params), headers=headers)
    events = [one.get("method") or one["result"] for one in messages_in(answer.text)]
    assert events == ["notifications/progress", ARRAY]
