"""Many clients at once, each on a connection of its own, asking as soon as it has been answered."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.bench.measure import FailedError
from tests.bench.talking_http import MEDIA, Http, answer_in

CLIENTS, EACH = 200, 20
_MODERN = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}


class Load(NamedTuple):
    """What they have seen."""

    rate: float
    """Answers a second."""
    worst: float
    """Seconds of all but a hundredth."""


def load(server: Http, tools: Mapping[str, Mapping[str, object]]) -> Load:
    """All of them at once, each asking one tool after the other."""
    requests = [request_of(name, arguments) for name, arguments in tools.items()]
    began = time.perf_counter()
    seconds = sorted(asyncio.run(_visit(server.where, requests)))
    return Load(len(seconds) / (time.perf_counter() - began), seconds[-1 - len(seconds) // 100])


async def _visit(where: tuple[str, int], requests: Sequence[bytes]) -> list[float]:
    found = await asyncio.gather(*(_client(where, requests, number) for number in range(CLIENTS)))
    return [one for client in found for one in client]


async def _client(where: tuple[str, int], requests: Sequence[bytes], number: int) -> list[float]:
    reading, writing = await asyncio.open_connection(*where)
    found = []
    for step in range(EACH):
        began = time.perf_counter()
        writing.write(requests[(number + step) % len(requests)])
        await _answer(reading)
        found.append(time.perf_counter() - began)
    writing.close()
    return found


async def _answer(reading: asyncio.StreamReader) -> None:
    """Read one; FailedError where it isn't a result."""
    head = await reading.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or b"0")
    body = await reading.readexactly(length)
    if not head.startswith(b"HTTP/1.1 200 ") or "result" not in answer_in(body):
        raise FailedError(f"{head!r} {body!r}")


def request_of(name: str, arguments: Mapping[str, object]) -> bytes:
    """A call of a tool, as it is sent."""
    params = {"name": name, "arguments": arguments, "_meta": _META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    named = {"mcp-protocol-version": _MODERN, "mcp-method": "tools/call", "mcp-name": name}
    headers = {**MEDIA, **named, "host": "localhost:80", "content-length": str(len(body))}
    lines = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body
