"""How a server ends that is at work."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest

from duvet.config.service_tables import ProviderSection
from duvet.llm.records import ModelRequest
from duvet.llm.router import StaticRouter
from duvet.server.http.guards import HttpLimits
from duvet.server.live_project import LiveProject
from duvet.server.messages import ServerIdentity
from duvet.server.protocol.server import DuvetServer
from duvet.tools.dispatcher import ToolDispatcher, ToolEnvironment
from duvet.tools.packs import Registry
from tests.unit.llm.wire import Wire, openai_says
from tests.unit.server.http.made import Waiting
from tests.unit.server.http.serving import HEAD, LONGEST, MODERN_HEADERS, asking, call, greet, running
from tests.unit.server.wire import enveloped, request
from tests.unit.specs.serving import at_work

pytestmark = pytest.mark.anyio
BODY = json.dumps({"tool": "coverage_summary"}).encode()
CALL = b"POST /api/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY


async def test_an_answer_at_work_is_finished(server: DuvetServer, waiting: Waiting) -> None:
    found: list[str] = []
    async with running(server) as (where, served), asking(where) as client:
        session = await greet(client)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_wait, client, session, found)
            await waiting.asked.wait()
            # A second connection, which is open before the server stops listening.
            answer = await client.post("/mcp", json=request("ping", id=2), headers=session)
            served.leave()
            with anyio.fail_after(LONGEST):
                while (
                    answer := await client.post("/mcp", json=request("ping", id=2), headers=session)
                ).status_code == 200:
                    pass
            waiting.may_answer.set()
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert '"waited":true' in found[0]


async def test_an_answer_that_never_comes_is_not_waited_for(server: DuvetServer, waiting: Waiting) -> None:
    found: list[str] = []
    with anyio.fail_after(LONGEST):
        async with running(server, limits=HttpLimits(stopping=0.1)) as (where, _), asking(where) as client:
            session = await greet(client)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_wait, client, session, found)
                await waiting.asked.wait()
                tasks.cancel_scope.cancel()
    assert found == []


async def test_a_call_that_takes_too_long_is_refused(server: DuvetServer, waiting: Waiting) -> None:
    ##= man/spec/service.md#rest
    ##= type=test
    ##% The server MUST cancel a call when its client disconnects, and answer calls that it cannot finish before it
    ##% stops with 503 and `Retry-After`.
    found: dict[str, httpx2.Response] = {}

    async def ask(how: str, asked: Awaitable[httpx2.Response]) -> None:
        found[how] = await asked

    with anyio.fail_after(LONGEST):
        async with (
            running(server, limits=HttpLimits(stopping=0.1)) as (where, served),
            asking(where) as client,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(ask, "rest", client.post("/api/mcp", json={"tool": "wait"}))
            tasks.start_soon(ask, "mcp", call(client, "wait", {}))
            while waiting.at_work < 2:
                await anyio.lowlevel.checkpoint()
            served.leave()
    ending = {"code": "upstream_error", "hint": "try again later"}
    sentence = "The server is about to end"
    assert found["rest"].json() == {"status": "error", "error": sentence, **ending}
    assert found["mcp"].json() == {"status": "error", "error": {"message": sentence, **ending}}
    assert [(one.status_code, one.headers["retry-after"]) for one in found.values()] == [(503, "5")] * 2
    assert waiting.given_up.is_set()


async def test_a_call_that_has_arrived_is_answered(server: DuvetServer) -> None:
    ##= man/spec/service.md#rest
    ##= type=test
    ##% The server MUST cancel a call when its client disconnects, and answer calls that it cannot finish before it
    ##% stops with 503 and `Retry-After`.
    with anyio.fail_after(LONGEST):
        async with running(server) as (where, served):
            with socket.create_connection(where) as client:
                client.setblocking(False)
                client.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert (await _received(client)).startswith(b"HTTP/1.1 200 ")
                _keep_busy()
                await anyio.lowlevel.checkpoint()
                client.send(CALL)
                served.leave()
                found = await _received(client)
    assert found.startswith(b"HTTP/1.1 200 ")


async def _received(client: socket.socket) -> bytes:
    return await asyncio.get_running_loop().sock_recv(client, 1 << 16)


def _keep_busy() -> None:
    """Make the server look next whether it is to end, as it does every tenth of a second, before it reads anything."""
    time.sleep(0.3)


async def test_streams_end_with_their_last_message(server: DuvetServer) -> None:
    asked = request("subscriptions/listen", enveloped({"notifications": {"resourcesListChanged": True}}), id="mine")
    headers = {**MODERN_HEADERS, "mcp-method": "subscriptions/listen"}
    async with running(server) as (where, served), asking(where) as client:
        session = await greet(client)
        async with (
            client.stream("GET", "/mcp", headers=session) as older,
            client.stream("POST", "/mcp", json=asked, headers=headers) as stream,
        ):
            lines = stream.aiter_lines()
            with anyio.fail_after(LONGEST):
                assert await anext(lines) == "event: message"
                served.leave()
                found = [json.loads(line[6:]) async for line in lines if line.startswith("data: ")]
                assert await older.aread() == b""
    assert [(one.get("id"), one.get("method")) for one in found] == [
        (None, "notifications/subscriptions/acknowledged"),
        ("mine", None),
    ]


async def test_what_has_not_arrived_is_not_waited_for(server: DuvetServer) -> None:
    """As long as that takes; nothing is at work."""
    limits = HttpLimits(arrival=10 * LONGEST, stopping=10 * LONGEST)
    with anyio.fail_after(LONGEST):
        async with (
            running(server, limits=limits) as (where, served),
            asking(where) as client,
            await anyio.connect_tcp(*where) as stream,
        ):
            await stream.send(HEAD + b"Content-Length: 10\r\n\r\n{")
            # The connection is taken before that of who comes later.
            assert (await client.get("/health")).status_code == 200
            served.leave()
            found = b""
            with suppress(anyio.EndOfStream):
                while True:
                    found += await stream.receive()
    assert found.startswith(b"HTTP/1.1 503 ") and b"The server is about to end" in found


async def test_models_are_hung_up_on(live: LiveProject) -> None:
    ##= man/spec/mcp.md#http
    ##= type=test
    ##% When it is stopped, the server MUST finish or cancel what it is doing and exit with 0 within 5 seconds.
    with at_work(Wire()) as wire:
        wire.plan(openai_says("Hi"))
        server, router = asking_models(live, wire)
        async with running(server):
            assert (await router.invoke(ModelRequest(prompt="Hi"))).text == "Hi"
            assert not wire.left.is_set()
        assert await anyio.to_thread.run_sync(wire.left.wait, LONGEST)


def asking_models(live: LiveProject, wire: Wire) -> tuple[DuvetServer, StaticRouter]:
    """A server whose tools may ask a model."""
    router = StaticRouter({"one": ProviderSection(base_url=f"{wire.url}/v1", default_model="small")}, {}, {})
    desk = ToolDispatcher(Registry(), live, ToolEnvironment(closers=[router.aclose]))
    return DuvetServer(ServerIdentity(), "", live, desk), router


async def _wait(client: Any, session: dict[str, str], found: list[str]) -> None:
    found.append((await client.post("/mcp", json=request("tests/wait"), headers=session)).text)
