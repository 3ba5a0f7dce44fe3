import asyncio
import json
import socket
import time
from collections.abc import Awaitable
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest

from duvet.config.service_tables import ProviderSection
from duvet.errors import DuvetError, QueryError
from duvet.llm.records import ModelRequest
from duvet.llm.router import StaticRouter
from duvet.server.http.guards import HttpLimits
from duvet.server.http.listener import CoalescingTransport, ServerAddress, open_listener, parse_address
from duvet.server.live_project import LiveProject
from duvet.server.protocol.server import DuvetServer
from tests.unit.llm.provider_server import Wire, openai_says
from tests.unit.server.http import http_server as web
from tests.unit.server.http.waiting_server import Waiting
from tests.unit.server.servers import server_of
from tests.unit.server.stdio_server import enveloped, request
from tests.unit.specs.download_server import at_work

pytestmark = pytest.mark.anyio


def test_an_address_is_a_port_or_a_host_and_a_port() -> None:
    addresses = {
        "8931": ("127.0.0.1", 8931, "127.0.0.1:8931"),
        "0": ("127.0.0.1", 0, "127.0.0.1:0"),
        "localhost:80": ("localhost", 80, "localhost:80"),
        "[::1]:8080": ("::1", 8080, "[::1]:8080"),
        "0.0.0.0:65535": ("0.0.0.0", 65535, "0.0.0.0:65535"),
    }
    found = {text: parse_address(text) for text in addresses}
    assert {text: (one.host, one.port, one.authority) for text, one in found.items()} == addresses
    wrong = ["", ":", ":80", "localhost", "localhost:", "::1:80", "[::1]", "[localhost]:80", "a b:80", "1:65536", "-1"]
    for text in (*wrong, "٣"):
        with pytest.raises(QueryError) as caught:
            parse_address(text)
        assert str(caught.value) == f"{text!r} is not an address"


def test_an_address_that_others_can_reach_needs_tokens() -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        ##= man/spec/mcp.md#http
        ##% Without tokens, `duvet mcp --http` MUST refuse to listen on an address that other machines can reach.
        with pytest.raises(DuvetError) as caught:
            open_listener(ServerAddress(host, 0), anywhere=False)
        assert str(caught.value) == f"other machines can reach {host}, but no token is set"
        assert caught.value.hint == "set DUVET_READER_TOKEN or DUVET_ADMIN_TOKEN, or listen on 127.0.0.1"
    for host, anywhere in (("127.0.0.1", False), ("localhost", False), ("127.8.9.1", False), ("0.0.0.0", True)):
        with open_listener(ServerAddress(host, 0), anywhere=anywhere) as listening:
            found, port = listening.getsockname()
        assert port > 0 and found == ("127.0.0.1" if host == "localhost" else host)


def test_an_address_that_is_not_free_is_an_error() -> None:
    other_host = "choose an address of this machine, such as 127.0.0.1"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for host, reason, hint in (
            ("192.0.2.1", "Cannot assign requested address", other_host),
            ("no-such-host.invalid", "unknown host", other_host),
            ("127.0.0.1", "Address already in use", "choose another port"),
        ):
            with pytest.raises(DuvetError) as caught:
                open_listener(ServerAddress(host, port), anywhere=True)
            assert str(caught.value) == f"can't listen on {host}:{port}: {reason}"
            assert caught.value.hint == hint


class RecordingTransport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.told: list[Any] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.told.append(data)

    def close(self) -> None:
        self.told.append("closed")


async def test_writes_of_one_iteration_are_sent_together() -> None:
    transport = RecordingTransport()
    coalescing = CoalescingTransport(transport)
    coalescing.write(b"head")
    coalescing.write(b"body")
    assert transport.told == []
    await anyio.lowlevel.checkpoint()
    coalescing.write(b"more")
    coalescing.close()
    await anyio.lowlevel.checkpoint()
    assert transport.told == [b"headbody", b"more", "closed"]


async def test_an_open_request_is_finished(server: DuvetServer, waiting: Waiting) -> None:
    found: list[str] = []

    async def wait(client: httpx2.AsyncClient, session: dict[str, str]) -> None:
        found.append((await client.post("/mcp", json=request("tests/wait"), headers=session)).text)

    async with web.running(server) as (where, served), web.asking(where) as client:
        session = await web.greet(client)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait, client, session)
            await waiting.asked.wait()
            # A second connection, which is open before the server stops listening.
            answer = await client.post("/mcp", json=request("ping", id=2), headers=session)
            served.leave()
            with anyio.fail_after(web.LONGEST):
                while answer.status_code == 200:
                    answer = await client.post("/mcp", json=request("ping", id=2), headers=session)
            waiting.may_answer.set()
    assert (answer.status_code, answer.headers["retry-after"], answer.headers["connection"]) == (503, "5", "close")
    assert '"waited":true' in found[0]


async def test_a_call_that_takes_too_long_is_refused(server: DuvetServer, waiting: Waiting) -> None:
    found: dict[str, httpx2.Response] = {}

    async def ask(how: str, asked: Awaitable[httpx2.Response]) -> None:
        found[how] = await asked

    with anyio.fail_after(web.LONGEST):
        async with (
            web.running(server, limits=HttpLimits(stopping=0.1)) as (where, served),
            web.asking(where) as client,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(ask, "rest", client.post(web.API, json={"tool": "wait"}))
            tasks.start_soon(ask, "mcp", web.call(client, "wait", {}))
            while waiting.at_work < 2:
                await anyio.lowlevel.checkpoint()
            served.leave()
    ending = ("upstream_error", "The server is shutting down", "try again later")
    told = {"rest": web.refused(*ending), "mcp": web.error_of(*ending)}
    assert {how: one.json() for how, one in found.items()} == told
    assert [(one.status_code, one.headers["retry-after"]) for one in found.values()] == [(503, "5")] * 2
    assert waiting.given_up.is_set()


async def test_a_call_that_has_arrived_is_answered(server: DuvetServer) -> None:
    body = json.dumps({"tool": "coverage_summary"}).encode()
    call = b"POST /api/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    loop = asyncio.get_running_loop()
    with anyio.fail_after(web.LONGEST):
        async with web.running(server) as (where, served):
            with socket.create_connection(where) as client:
                client.setblocking(False)
                client.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert (await loop.sock_recv(client, 1 << 16)).startswith(b"HTTP/1.1 200 ")
                # The server then checks whether to stop before it reads anything, as it does every 0.1 s.
                time.sleep(0.3)  # noqa: ASYNC251
                await anyio.lowlevel.checkpoint()
                client.send(call)
                served.leave()
                assert (await loop.sock_recv(client, 1 << 16)).startswith(b"HTTP/1.1 200 ")


async def test_streams_end_with_their_last_message(server: DuvetServer) -> None:
    asked = request("subscriptions/listen", enveloped({"notifications": {"resourcesListChanged": True}}), id="mine")
    headers = {**web.MODERN_HEADERS, "mcp-method": "subscriptions/listen"}
    async with web.running(server) as (where, served), web.asking(where) as client:
        session = await web.greet(client)
        async with (
            client.stream("GET", "/mcp", headers=session) as older,
            client.stream("POST", "/mcp", json=asked, headers=headers) as stream,
        ):
            lines = stream.aiter_lines()
            with anyio.fail_after(web.LONGEST):
                assert await anext(lines) == "event: message"
                served.leave()
                found = web.messages_in("\n".join([line async for line in lines]))
                assert await older.aread() == b""
    acknowledged = (None, "notifications/subscriptions/acknowledged")
    assert [(one.get("id"), one.get("method")) for one in found] == [acknowledged, ("mine", None)]


async def test_the_rest_of_a_request_is_not_waited_for(server: DuvetServer) -> None:
    limits = HttpLimits(arrival=10 * web.LONGEST, stopping=10 * web.LONGEST)
    with anyio.fail_after(web.LONGEST):
        async with (
            web.running(server, limits=limits) as (where, served),
            web.asking(where) as client,
            await anyio.connect_tcp(*where) as stream,
        ):
            await stream.send(web.HEAD + b"Content-Length: 10\r\n\r\n{")
            # The connection is accepted before that of a later client.
            assert (await client.get("/health")).status_code == 200
            served.leave()
            found = b"".join([part async for part in stream])
    assert found.startswith(b"HTTP/1.1 503 ") and b"The server is shutting down" in found
    assert b"connection: close\r\n" in found


async def test_connections_to_models_are_closed(live: LiveProject) -> None:
    with at_work(Wire()) as wire:
        wire.plan(openai_says("Hi"))
        router = StaticRouter({"one": ProviderSection(base_url=f"{wire.url}/v1", default_model="small")}, {}, {})
        async with web.running(server_of(live, closers=[router.aclose])):
            assert (await router.invoke(ModelRequest(prompt="Hi"))).text == "Hi"
            assert not wire.left.is_set()
        assert await anyio.to_thread.run_sync(wire.left.wait, web.LONGEST)
