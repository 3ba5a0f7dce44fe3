"""The server over HTTP in the process of the tests, behind a real socket."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import mcp_types as types

from duvet.server.http.app import HttpApplication, Telemetry, TrustSettings
from duvet.server.http.guards import AllowedHosts, HttpLimits
from duvet.server.http.listener import HttpServer
from duvet.server.http.metrics import ServerMetrics
from duvet.server.http.tokens import AccessTokens, read_tokens
from duvet.server.log import ServerLog
from duvet.server.protocol.server import DuvetServer
from tests.unit.server.clients import MODERN
from tests.unit.server.wire import enveloped, hello, request

LONGEST = 30
HOST = "127.0.0.1"
READER, ADMIN = "reader-token", "admin-token"
BOTH = read_tokens({"DUVET_READER_TOKEN": READER, "KM_ADMIN_TOKEN": ADMIN})
Where = tuple[str, int]
NOBODY, USUAL = AccessTokens(), HttpLimits()
MEDIA = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n"
"""How a request begins that is written by hand."""
MODERN_HEADERS = {**MEDIA, "mcp-protocol-version": MODERN}


SILENT = ServerLog(lambda line: None)


def accounts(log: ServerLog = SILENT) -> Telemetry:
    """What nobody looks at, but for a log."""
    return Telemetry(log, ServerMetrics("0"))


@asynccontextmanager
async def running(
    server: DuvetServer, *, tokens: AccessTokens = NOBODY, limits: HttpLimits = USUAL, log: ServerLog = SILENT
) -> AsyncIterator[tuple[Where, HttpServer]]:
    """Serves at a free port of loopback until the test is over, or tells it to end."""
    listening = socket.create_server((HOST, 0), backlog=1024)
    begun = anyio.Event()
    found = HttpServer(
        HttpApplication(server, TrustSettings(AllowedHosts(HOST), tokens), accounts(log), limits), limits, begun.set
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(found.serve, [listening])
        try:
            with anyio.fail_after(LONGEST):
                await begun.wait()
            yield listening.getsockname(), found
        finally:
            found.leave()


@asynccontextmanager
async def serving(
    server: DuvetServer, *, tokens: AccessTokens = NOBODY, limits: HttpLimits = USUAL
) -> AsyncIterator[Where]:
    """The host and the port of the same."""
    async with running(server, tokens=tokens, limits=limits) as (where, _):
        yield where


@asynccontextmanager
async def asking(where: Where, token: str = "", at: str = HOST) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of HTTP at an address that shows a token, if there is one."""
    transport = httpx2.AsyncHTTPTransport(local_address=at, trust_env=False)
    headers = {"authorization": f"Bearer {token}"} if token else {}
    url = f"http://{where[0]}:{where[1]}"
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=LONGEST, transport=transport) as client:
        yield client


async def greet(client: httpx2.AsyncClient, version: str = "2025-11-25") -> dict[str, str]:
    """A handshake; the headers of what follows in its session."""
    answer = await client.post("/mcp", json=hello(version), headers=MEDIA)
    assert answer.status_code == 200, answer.text
    headers = {**MEDIA, "mcp-session-id": answer.headers["mcp-session-id"]}
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await client.post("/mcp", json=told, headers=headers)).status_code == 202
    return headers


async def call(client: httpx2.AsyncClient, name: str, arguments: Mapping[str, Any], **headers: str) -> httpx2.Response:
    """A call of a tool in the era without a handshake."""
    message = request("tools/call", enveloped({"name": name, "arguments": arguments}))
    more = {"mcp-method": "tools/call", "mcp-name": name}
    return await client.post("/mcp", json=message, headers={**MODERN_HEADERS, **more, **headers})


def answer_in(text: str) -> Any:
    """The message in a stream of events that holds one."""
    (line,) = [line for line in text.splitlines() if line.startswith("data: ")]
    return json.loads(line.removeprefix("data: "))


def value_of(result: types.CallToolResult) -> Any:
    """What a tool has answered."""
    block = result.content[0]
    assert isinstance(block, types.TextContent)
    return json.loads(block.text)


def error_of(code: str, message: str, hint: str = "") -> dict[str, Any]:
    """What a request is refused with."""
    return {"status": "error", "error": {"code": code, "message": message, "hint": hint}}


async def exchange(where: Where, *parts: bytes) -> bytes:
    """What comes back until the server closes the connection, after these parts were sent."""
    with anyio.fail_after(LONGEST):
        async with await anyio.connect_tcp(*where) as stream:
            for part in parts:
                await stream.send(part)
            found = b""
            try:
                while True:
                    found += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return found
