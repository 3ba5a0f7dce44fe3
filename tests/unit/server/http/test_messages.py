"""Batches, and answers that are bare arrays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duvet.server.http.guards import HttpLimits
from duvet.server.protocol.server import DuvetServer
from tests.unit.server.http.serving import MEDIA, MODERN_HEADERS, answer_in, asking, greet, serving
from tests.unit.server.wire import enveloped, hello, request

pytestmark = pytest.mark.anyio
NOTE = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}
ARRAY = [{"id": "ä\n"}, {"id": "two"}]


##= man/spec/mcp.md#standard-input-and-output
##= type=test
##% The server MUST answer a batch with one array in versions of the protocol that have batches, and refuse it in all
##% others, over HTTP too.
async def test_a_batch(server: DuvetServer) -> None:
    batch = [
        request("ping", id=1),
        NOTE,
        request("resources/get", {"path": "/all"}, id="b"),
        7,
        request("no/such", id=3),
        hello(id=4),
        request("ping", id=5),
    ]
    async with serving(server) as where, asking(where) as client:
        session = await greet(client, "2025-03-26")
        answer = await client.post("/mcp", json=batch, headers=session)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
        named = {**session, "mcp-protocol-version": "2025-03-26"}
        assert (await client.post("/mcp", json=[request("ping")], headers=named)).status_code == 200
        notes = await client.post("/mcp", json=[NOTE, NOTE], headers=session)
        later = await client.post("/mcp", json=batch, headers={**session, "mcp-protocol-version": "2025-06-18"})
        modern = await client.post("/mcp", json=[request("ping", enveloped())], headers=MODERN_HEADERS)
    found = answer.json()
    assert [(one["id"], one.get("result"), one.get("error", {}).get("code")) for one in found] == [
        (1, {}, None),
        ("b", ARRAY, None),
        (None, None, -32600),
        (3, None, -32601),
        (4, None, -32600),
        (5, {}, None),
    ]
    assert (notes.status_code, notes.content) == (202, b"")
    refused = {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32600, "message": "Invalid Request: only 2025-03-26 has batches"},
    }
    assert [(one.status_code, one.json()) for one in (later, modern)] == [(400, refused)] * 2


async def test_a_batch_outside_of_a_session(server: DuvetServer) -> None:
    async with serving(server) as where, asking(where) as client:
        batch = [request("ping"), request("ping", id=2)]
        lost = await client.post("/mcp", json=batch, headers={**MEDIA, "mcp-session-id": "0" * 32})
        none = await client.post("/mcp", json=batch, headers=MEDIA)
    assert [one.status_code for one in (lost, none)] == [404, 400]


@pytest.mark.parametrize("batch", [[], [request("ping")] * 3])
async def test_the_size_of_a_batch(server: DuvetServer, batch: list[Any]) -> None:
    async with serving(server, limits=HttpLimits(batch=2)) as where, asking(where) as client:
        answer = await client.post("/mcp", json=batch, headers=await greet(client, "2025-03-26"))
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        400,
        "Invalid Request: a batch has 1 to 2 messages",
    )


async def test_a_batch_counts_for_as_many(server: DuvetServer) -> None:
    async with serving(server, limits=HttpLimits(rate=0.001, burst=6)) as where, asking(where) as client:
        session = await greet(client, "2025-03-26")
        answers = [await client.post("/mcp", json=[request("ping")] * 3, headers=session) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]


##= man/spec/mcp.md#resources
##= type=test
##% `resources/get` MUST return the object or the array itself, or with `?limit=` the first entries.
async def test_a_bare_array(server: DuvetServer) -> None:
    async with serving(server) as where, asking(where) as client:
        session = await greet(client)
        event = await client.post("/mcp", json=request("resources/get", {"path": "/all"}), headers=session)
        whole = await client.post("/mcp", json=request("resources/get", {"path": "/one"}), headers=session)
        named = {**MODERN_HEADERS, "mcp-method": "resources/get"}
        plain = await client.post("/mcp", json=request("resources/get", enveloped({"path": "/all"})), headers=named)
        told = enveloped({"path": "/told"})
        told["_meta"]["progressToken"] = "t"
        events = await client.post("/mcp", json=request("resources/get", told), headers=named)
    assert answer_in(event.text) == {"jsonrpc": "2.0", "id": 1, "result": ARRAY}
    assert answer_in(whole.text)["result"] == {"id": "one"}
    assert (plain.headers["content-type"], plain.json()["result"]) == ("application/json", ARRAY)
    lines = [json.loads(line[6:]) for line in events.text.splitlines() if line.startswith("data: ")]
    assert [one.get("method") or one["result"] for one in lines] == ["notifications/progress", ARRAY]
