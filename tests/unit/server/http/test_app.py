import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest

from duvet.server.http.guards import HttpLimits
from duvet.server.protocol.server import DuvetServer
from tests.cli.sample_project import SPECIFICATION
from tests.edits import create, save_by_rename
from tests.unit.server.http import http_server as web
from tests.unit.server.http.waiting_server import Waiting
from tests.unit.server.servers import server_of
from tests.unit.server.stdio_server import enveloped, hello, request

pytestmark = pytest.mark.anyio


async def ping(client: httpx2.AsyncClient, session: dict[str, str]) -> int:
    return (await client.post("/mcp", json=request("ping"), headers=session)).status_code


async def open_stream(stack: AsyncExitStack, client: httpx2.AsyncClient, session: dict[str, str]) -> int:
    return (await stack.enter_async_context(client.stream("GET", "/mcp", headers=session))).status_code


@pytest.mark.skipif(sys.platform != "linux", reason="every address of loopback")
async def test_the_client_with_most_sessions_and_its_longest_idle_session_make_room(server: DuvetServer) -> None:
    limits = HttpLimits(sessions=3)
    async with web.serving(server, limits=limits) as where, web.asking(where) as client, AsyncExitStack() as stack:
        sessions = [await web.greet(client) for _ in range(3)]
        assert await ping(client, sessions[0]) == 200
        sessions.append(await web.greet(client))
        assert [await ping(client, one) for one in sessions] == [200, 404, 200, 200]
        # Sessions with streams stay.
        sessions = [await web.greet(client) for _ in range(3)]
        assert [await open_stream(stack, client, one) for one in sessions] == [200, 200, 200]
        refused = await client.post("/mcp", json=hello(), headers=web.MEDIA)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert (await client.delete("/mcp", headers=sessions[0])).status_code == 200
        sessions.append(await web.greet(client))
        assert [await ping(client, one) for one in sessions] == [404, 200, 200, 200]
    async with web.serving(server, limits=limits) as where, web.asking(where) as client:
        async with web.asking(where, at=web.ELSEWHERE) as flood:
            session = await web.greet(client)
            sessions = [await web.greet(flood) for _ in range(10)]
            assert [await ping(flood, one) for one in sessions] == [404] * 8 + [200] * 2
        assert await ping(client, session) == 200


async def test_a_change_is_notified_once_a_stream_is_open(kettle: Path) -> None:
    async def notified(lines: AsyncIterator[str], count: int) -> set[str]:
        found: set[str] = set()
        with anyio.fail_after(web.LONGEST):
            while len(found) < count:
                found |= {one["method"].rpartition("/")[2] for one in web.messages_in(await anext(lines))}
        return found

    server = server_of(kettle)
    await server.live.context()
    async with web.connected(server) as client:
        silent, session = await web.greet(client), await web.greet(client)
        for one in (silent, session):
            asked = request("resources/subscribe", {"uri": "duvet:///specifications/spec/sections/heating"})
            (answer,) = web.messages_in((await client.post("/mcp", json=asked, headers=one)).text)
            assert answer["result"] == {}
        async with client.stream("GET", "/mcp", headers=session) as stream:
            lines = stream.aiter_lines()
            for count in range(2):
                save_by_rename("spec.md", SPECIFICATION.replace("# Heating", f"# Heating\n\n{count}."))(kettle)
                assert await notified(lines, 1) == {"updated"}
        with anyio.fail_after(web.LONGEST):
            while server.subscriptions.reaches(session["mcp-session-id"]):
                await anyio.lowlevel.checkpoint()
        create("src/b.rs", "//= spec.md#pouring\n//# The spout MAY drip.\n")(kettle)
        async with client.stream("GET", "/mcp", headers=session) as stream:
            assert await notified(stream.aiter_lines(), 1) == {"list_changed"}
        async with client.stream("GET", "/mcp", headers=silent) as stream:
            assert await notified(stream.aiter_lines(), 2) == {"updated", "list_changed"}
    server.live.close()


async def test_a_session_belongs_to_one_token(server: DuvetServer) -> None:
    ##= man/spec/mcp.md#http
    ##% The server MUST accept the requests of a session only with the token that opened the session.
    async with (
        web.serving(server, tokens=web.BOTH) as where,
        web.asking(where, web.READER) as reader,
        web.asking(where, web.ADMIN) as admin,
    ):
        for one, other in ((reader, admin), (admin, reader)):
            session = await web.greet(one)
            for method in ("GET", "DELETE"):
                assert (await other.request(method, "/mcp", headers=session)).status_code == 404
            assert [await ping(other, session), await ping(one, session)] == [404, 200]


async def begin_calls(stack: AsyncExitStack, where: web.Where, count: int, waiting: Waiting) -> None:
    """Start this many calls, which stay open until the stack closes their connections."""
    body = json.dumps({"tool": "wait"}).encode()
    for number in range(count):
        stream = await stack.enter_async_context(await anyio.connect_tcp(*where))
        head = b"POST /api/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
        await stream.send(head + body)
        while waiting.at_work <= number:
            await anyio.lowlevel.checkpoint()


async def test_a_call_ends_when_its_client_leaves(server: DuvetServer, waiting: Waiting) -> None:
    ##= man/spec/service.md#rest
    ##% If a client disconnects during a call, the server MUST cancel the call.
    many = 20
    with anyio.fail_after(web.LONGEST):
        async with web.serving(server, limits=HttpLimits(requests=many)) as where, web.asking(where) as client:
            for _ in range(many):
                async with AsyncExitStack() as stack:
                    await begin_calls(stack, where, 1, waiting)
                while waiting.at_work:
                    await anyio.lowlevel.checkpoint()
            assert waiting.given_up.is_set()
            assert (await client.post(web.API, json={"tool": "coverage_summary"})).status_code == 200
            metrics = (await client.get("/metrics")).text
    assert web.samples(metrics, "duvet_http_requests_at_work") == {(): 1}


@pytest.mark.parametrize(("places", "most"), [(9, 8), (24, 12)])
async def test_one_client_leaves_room_to_others(server: DuvetServer, waiting: Waiting, places: int, most: int) -> None:
    with anyio.fail_after(web.LONGEST):
        async with (
            web.serving(server, limits=HttpLimits(requests=places, streams=9)) as where,
            web.asking(where) as greedy,
            web.asking(where, at=web.ELSEWHERE) as other,
            AsyncExitStack() as stack,
        ):
            found = [await open_stream(stack, greedy, await web.greet(greedy)) for _ in range(9)]
            assert found == [200] * 8 + [503]
            assert await open_stream(stack, other, await web.greet(other)) == 200
            await begin_calls(stack, where, most, waiting)
            refused = await greedy.post("/mcp", headers=web.MEDIA, json=hello())
            assert (await other.post(web.API, json={"tool": "coverage_summary"})).status_code == 200
            waiting.may_answer.set()
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    told = "Too many requests from this client at once", "try again later"
    assert refused.json() == web.error_of("upstream_error", *told)


NOTE = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}
ARRAY = [{"id": "ä\n"}, {"id": "two"}]


def refusal(message: str) -> Any:
    return 400, {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": f"Invalid Request: {message}"}}


async def test_a_batch_is_answered_with_one_array(http: httpx2.AsyncClient) -> None:
    batch = [request("ping", id=1), NOTE, request("resources/get", {"path": "/all"}, id="b"), 7]
    batch += [request("no/such", id=3), hello(id=4), request("ping", id=5)]
    session = await web.greet(http, "2025-03-26")
    answer = await http.post("/mcp", json=batch, headers=session)
    named = {**session, "mcp-protocol-version": "2025-03-26"}
    assert (await http.post("/mcp", json=[request("ping")], headers=named)).status_code == 200
    notes = await http.post("/mcp", json=[NOTE, NOTE], headers=session)
    later = await http.post("/mcp", json=batch, headers={**session, "mcp-protocol-version": "2025-06-18"})
    both = [*named.items(), ("mcp-protocol-version", "2025-06-18")]
    repeated = await http.post("/mcp", json=batch, headers=both)
    modern = await http.post("/mcp", json=[request("ping", enveloped())], headers=web.MODERN_HEADERS)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert [(one["id"], one.get("result"), one.get("error", {}).get("code")) for one in answer.json()] == [
        *((1, {}, None), ("b", ARRAY, None), (None, None, -32600)),
        *((3, None, -32601), (4, None, -32600), (5, {}, None)),
    ]
    assert (notes.status_code, notes.content) == (202, b"")
    expected = refusal("only protocol version 2025-03-26 supports batches")
    assert [(one.status_code, one.json()) for one in (later, repeated, modern)] == [expected] * 3


async def test_a_batch_needs_a_session_and_is_limited(server: DuvetServer) -> None:
    async with web.connected(server, limits=HttpLimits(batch=2)) as client:
        for session, status in (({"mcp-session-id": "0" * 32}, 404), ({}, 400)):
            answer = await client.post("/mcp", json=[request("ping")] * 2, headers={**web.MEDIA, **session})
            assert answer.status_code == status
        for batch in ([], [request("ping")] * 3):
            answer = await client.post("/mcp", json=batch, headers=await web.greet(client, "2025-03-26"))
            assert (answer.status_code, answer.json()) == refusal("a batch must have 1 to 2 messages")


async def test_an_array_is_bare_in_events(http: httpx2.AsyncClient) -> None:
    """`tests/cli/server/test_transports.py` covers plain JSON."""
    params = enveloped({"path": "/progress"})
    params["_meta"]["progressToken"] = "t"
    headers = {**web.MODERN_HEADERS, "mcp-method": "resources/get"}
    answer = await http.post("/mcp", json=request("resources/get", params), headers=headers)
    events = [one.get("method") or one["result"] for one in web.messages_in(answer.text)]
    assert events == ["notifications/progress", ARRAY]
