"""Clients that ask one thing after the other, each on a connection of its own."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.bench.clients import request_of
from tests.soak.workplace import Tools

Where = tuple[str, int]
_HOST = "host: localhost:80\r\n"


class Question(NamedTuple):
    """What is sent, and what has to be in the answer."""

    request: bytes
    expected: bytes
    waits: bool = False
    """Whether the server has to wait before it can answer."""


class Tally:
    """What all clients have seen."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        """How long each answer took that the server didn't have to wait for."""
        self.waited: list[float] = []
        """How long the others took."""
        self.errors: list[str] = []
        self.waiting: dict[int, float] = {}
        """When each client has asked what it waits for."""
        self.is_over = False
        self.ends_at: float | None = None
        """When the server was told to end; what is refused that was asked from then on is no error."""
        self.refused: list[float] = []
        """When those had asked that were refused then."""


def questions(tools: Tools, waiting: Tools) -> Sequence[Question]:
    """Every tool by the protocol and over plain HTTP, and what is asked about the server itself."""
    calls = [*_calls(tools), *(one._replace(waits=True) for one in _calls(waiting))]
    return [*calls, *(Question(_get(path), expected) for path, expected in _PAGES.items())]


def _calls(tools: Tools) -> Sequence[Question]:
    found = [Question(request_of(name, arguments), b'"isError":false') for name, arguments in tools.items()]
    return [*found, *(Question(_plain(name, arguments), b'"status":"ok"') for name, arguments in tools.items())]


_PAGES = {"/health": b"ok", "/ready": b"ready", "/metrics": b"duvet_tool_requests_total", "/api/mcp": b'"tools"'}


def _plain(name: str, arguments: Mapping[str, object]) -> bytes:
    body = json.dumps({"tool": name, "input": arguments}).encode()
    return f"POST /api/mcp HTTP/1.1\r\n{_HOST}content-length: {len(body)}\r\n\r\n".encode() + body


def _get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\n{_HOST}\r\n".encode()


async def visit(where: Where, asked: Sequence[Question], number: int, tally: Tally) -> None:
    """Ask until it is over; the first thing that goes wrong is noted, and ends it."""
    writing = None
    try:
        reading, writing = await asyncio.open_connection(*where)
        step = number
        while not tally.is_over:
            step += 1
            question = asked[step % len(asked)]
            began = tally.waiting[number] = time.perf_counter()
            writing.write(question.request)
            status, body = await _answer(reading)
            del tally.waiting[number]
            (tally.waited if question.waits else tally.seconds).append(time.perf_counter() - began)
            if status == 503 and tally.ends_at is not None:
                tally.refused.append(began)
                return
            if status != 200 or question.expected not in body:
                tally.errors.append(f"{status} {body[:300]!r}")
                return
    except (OSError, EOFError) as error:
        if tally.ends_at is None:
            tally.errors.append(repr(error))
    finally:
        if writing is not None:
            writing.close()


async def _answer(reading: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reading.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0] or b"0")
    return int(head.split()[1]), await reading.readexactly(length)
