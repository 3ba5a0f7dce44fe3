"""The HTTP server within the test process behind a real socket, and its clients."""

import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from prometheus_client.parser import text_string_to_metric_families

from duvet.server.application import AccessTokens, read_tokens
from duvet.server.http.app import HttpApplication
from duvet.server.http.guards import AllowedHosts, HttpLimits
from duvet.server.http.listener import HttpServer
from duvet.server.http.metrics import ServerMetrics
from duvet.server.log import ServerLog
from duvet.server.protocol.server import DuvetServer
from tests.unit.server.clients import MODERN
from tests.unit.server.stdio_server import enveloped, hello, request

LONGEST = 30
HOST = "127.0.0.1"
ELSEWHERE = "127.0.0.2"  # The address of another client.
API = "/api/mcp"
READER, ADMIN = "reader-token", "admin-token"
TOKENS = {"KM_READER_TOKEN": READER, "KM_ADMIN_TOKEN": ADMIN}
BOTH = read_tokens(TOKENS)
Where = tuple[str, int]
NOBODY: AccessTokens = ()
USUAL = HttpLimits()
MEDIA = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
MODERN_HEADERS = {**MEDIA, "mcp-protocol-version": MODERN}
HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n"
"""The beginning of a request that is written by hand."""


def application_of(server: DuvetServer, tokens: AccessTokens, limits: HttpLimits) -> HttpApplication:
    return HttpApplication(server, AllowedHosts(HOST), tokens, ServerLog(lambda line: None), ServerMetrics("0"), limits)


@asynccontextmanager
async def running(
    server: DuvetServer, *, tokens: AccessTokens = NOBODY, limits: HttpLimits = USUAL
) -> AsyncIterator[tuple[Where, HttpServer]]:
    listening = socket.create_server((HOST, 0), backlog=1024)
    begun = anyio.Event()
    app = application_of(server, tokens, limits)
    found = HttpServer(app, limits, begun.set)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(found.serve, [listening])
        try:
            with anyio.fail_after(LONGEST):
                await begun.wait()
            yield listening.getsockname(), found
        finally:
            found.leave()


@asynccontextmanager
async def serving(server: DuvetServer, **options: Any) -> AsyncIterator[Where]:
    async with running(server, **options) as (where, _):
        yield where


@asynccontextmanager
async def asking(where: Where, token: str = "", at: str = HOST) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.AsyncHTTPTransport(local_address=at, trust_env=False)
    headers = {"authorization": f"Bearer {token}"} if token else {}
    url = f"http://{where[0]}:{where[1]}"
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=2 * LONGEST, transport=transport) as client:
        yield client


@asynccontextmanager
async def connected(server: DuvetServer, token: str = "", **options: Any) -> AsyncIterator[httpx2.AsyncClient]:
    async with serving(server, **options) as where, asking(where, token) as client:
        yield client


async def greet(client: httpx2.AsyncClient, version: str = "2025-11-25") -> dict[str, str]:
    answer = await client.post("/mcp", json=hello(version), headers=MEDIA)
    assert answer.status_code == 200, answer.text
    headers = {**MEDIA, "mcp-session-id": answer.headers["mcp-session-id"]}
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await client.post("/mcp", json=told, headers=headers)).status_code == 202
    return headers


def json_of(message: object) -> bytes:
    """Encode a body in UTF-8; lone surrogates are escaped."""
    try:
        return json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(message).encode()


async def call(client: httpx2.AsyncClient, name: str, arguments: Mapping[str, Any]) -> httpx2.Response:
    message = request("tools/call", enveloped({"name": name, "arguments": arguments}))
    headers = {**MODERN_HEADERS, "mcp-method": "tools/call", "mcp-name": name}
    return await client.post("/mcp", content=json_of(message), headers=headers)


async def post(client: httpx2.AsyncClient, tool: str, /, **given: Any) -> tuple[int, Any]:
    answer = await client.post(API, content=json_of({"tool": tool, "input": given}))
    found = answer.json()
    return answer.status_code, found["result"] if answer.status_code == 200 else found


async def tools_of(client: httpx2.AsyncClient) -> dict[str, Any]:
    return {tool["name"]: tool for tool in (await client.get(API)).json()["tools"]}


def messages_in(text: str) -> list[Any]:
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


def error_of(code: str, message: str, hint: str = "") -> dict[str, Any]:
    return {"status": "error", "error": {"code": code, "message": message, "hint": hint}}


def refused(code: str, message: str, hint: str = "") -> dict[str, str]:
    return {"status": "error", "error": message, "code": code, "hint": hint}


def samples(text: str, name: str) -> dict[tuple[str, ...], float]:
    """Return the values of a metric by its labels, sorted by label names."""
    return {
        tuple(value for _, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


async def exchange(where: Where, *parts: bytes) -> bytes:
    """Send these parts, and return everything until the connection ends."""
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
