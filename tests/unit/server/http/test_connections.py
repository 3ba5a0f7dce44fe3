"""Connections that are slow, strange or many."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack

import anyio
import pytest

from duvet.server.http.guards import HttpLimits
from duvet.server.messages import encode_message
from duvet.server.protocol.server import DuvetServer
from tests.unit.server.http.serving import HEAD, LONGEST, MEDIA, asking, error_of, exchange, greet, serving
from tests.unit.server.wire import hello

pytestmark = pytest.mark.anyio

LARGE = b'{"jsonrpc":"2.0","id":1,"method":"tests/large"}'


##= man/spec/mcp.md#limits
##= type=test
##% The server MUST disconnect clients that send or read too slowly, and MUST NOT let them block others.
@pytest.mark.parametrize(
    "parts", [(), (b"GET /health HT",), (b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /")]
)
async def test_a_head_that_never_ends(server: DuvetServer, parts: tuple[bytes, ...]) -> None:
    async with serving(server, limits=HttpLimits(arrival=0.1)) as where:
        found = await exchange(where, *parts)
    assert found.count(b"HTTP/1.1 200 OK") == len(parts) // 2


async def test_a_body_that_never_ends(server: DuvetServer) -> None:
    async with serving(server, limits=HttpLimits(arrival=0.1)) as where:
        found = await exchange(where, HEAD + b"Content-Length: 10\r\n\r\n{")
    head, _, body = found.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body) == error_of("invalid_request", "The request came too slowly")


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 5000, 431, "The headers are too large"),
        (b"\x16\x03\x01 hello\r\n\r\n", 400, "This is not HTTP"),
        (b"GET / HTTP/1.1\r\n\r\n", 400, "This is not HTTP"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400, "This is not HTTP"),
        (
            HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n",
            400,
            "This is not HTTP",
        ),
    ],
)
async def test_what_is_not_http(server: DuvetServer, sent: bytes, status: int, message: str) -> None:
    async with serving(server, limits=HttpLimits(head=2000)) as where:
        head, _, body = (await exchange(where, sent)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert json.loads(body) == error_of("invalid_request", message)


async def test_a_host_is_needed(server: DuvetServer) -> None:
    async with serving(server) as where:
        found = await exchange(where, b"GET /health HTTP/1.0\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 421 ")


async def test_a_large_body_is_not_asked_for(server: DuvetServer) -> None:
    async with serving(server, limits=HttpLimits(body=10)) as where:
        found = await exchange(where, HEAD + b"Expect: 100-continue\r\nContent-Length: 9999\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 413 ")


##= man/spec/mcp.md#limits
##= type=test
##% The server MUST close connections beyond the limit and, beyond that of sessions, end the longest idle one of the
##% client that has the most.
async def test_too_many_connections(server: DuvetServer) -> None:
    asked = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    async with serving(server, limits=HttpLimits(connections=1)) as where, await anyio.connect_tcp(*where) as first:
        await first.send(asked[:10])
        with anyio.fail_after(LONGEST):
            assert await exchange(where) == b""
        await first.send(asked[10:])
        assert (await first.receive()).startswith(b"HTTP/1.1 200 OK")


##= man/spec/mcp.md#limits
##= type=test
##% The server MUST disconnect clients that send or read too slowly, and MUST NOT let them block others.
async def test_a_client_that_never_reads(server: DuvetServer) -> None:
    async with serving(server, limits=HttpLimits(unread=0.1, rate=0)) as where, asking(where) as client:
        session = await greet(client)
        async with await anyio.connect_tcp(*where) as deaf:
            named = b"Mcp-Session-Id: " + session["mcp-session-id"].encode()
            await deaf.send(HEAD + named + b"\r\nContent-Length: %d\r\n\r\n" % len(LARGE) + LARGE)
            with anyio.fail_after(LONGEST), pytest.raises(anyio.BrokenResourceError):
                while True:
                    assert (await client.get("/health")).status_code == 200
                    await deaf.send(b"x")


async def test_what_has_not_arrived_takes_nobody_s_place(server: DuvetServer) -> None:
    async with serving(server, limits=HttpLimits(requests=1)) as where, AsyncExitStack() as stack:
        for _ in range(3):
            stream = await stack.enter_async_context(await anyio.connect_tcp(*where))
            await stream.send(HEAD + b"Content-Length: 10\r\n\r\n{")
        async with asking(where) as client:
            await greet(client)


##= man/spec/mcp.md#limits
##= type=test
##% The server MUST disconnect clients that send or read too slowly, and MUST NOT let them block others.
async def test_too_much_is_arriving(server: DuvetServer) -> None:
    async with (
        serving(server, limits=HttpLimits(arriving=1500)) as where,
        await anyio.connect_tcp(*where) as slow,
        asking(where) as client,
    ):
        await slow.send(HEAD + b"Content-Length: 2000\r\n\r\n" + b" " * 1000)
        assert (await client.get("/health")).status_code == 200
        answer = await client.post("/mcp", content=b" " * 1000 + encode_message(hello()), headers=MEDIA)
        assert answer.status_code == 200
        assert (await slow.receive()).startswith(b"HTTP/1.1 408 ")
