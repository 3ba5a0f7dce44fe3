"""Conversations over pipes within the test process."""

import json
import os
import threading
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

import anyio
from hypothesis import strategies as some
from mcp.server.lowlevel import Server
from mcp_types import RequestParams

from duvet.server.protocol.server import DuvetServer
from duvet.server.protocol.session import ServerRequest
from duvet.server.stdio.handshake import ClientPipes, SessionOpening
from duvet.server.stdio.session import GRACE_SECONDS, converse

FOREVER = "tests/forever"
NOTICE = {"jsonrpc": "2.0", "method": "notifications/initialized"}


WORDS = some.text(max_size=5)
JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: some.lists(inner, max_size=2) | some.dictionaries(WORDS, inner, max_size=2),
    max_leaves=5,
)


class OddMethods:
    def __init__(self) -> None:
        self.waiting = 0

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler(FOREVER, RequestParams, self._wait)

    async def _wait(self, ctx: ServerRequest, params: RequestParams) -> dict[str, Any]:
        self.waiting += 1
        await anyio.sleep_forever()
        return {}


def lines_of(*messages: object) -> bytes:
    """Return a line for each message; bytes are unchanged."""
    return b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in messages)


def said(server: DuvetServer, *turns: bytes, grace: float = GRACE_SECONDS) -> list[bytes]:
    """Return the lines with which a server answers a client's lines, checking that none is early.

    The next turn is sent when all lines of earlier turns are answered.
    """
    (their_reading, our_writing), (our_reading, their_writing) = os.pipe(), os.pipe()
    heard: list[bytes] = []
    client = threading.Thread(target=lambda: heard.extend(_heard(turns, our_reading, our_writing)))
    client.start()
    try:
        anyio.run(converse, ClientPipes(their_reading, their_writing), SessionOpening(turns[0]), server, grace)
    finally:
        os.close(their_writing)
        client.join()
        os.close(their_reading)
    return heard


def _heard(turns: Sequence[bytes], reading: int, writing: int) -> Iterator[bytes]:
    with os.fdopen(reading, "rb") as answers, os.fdopen(writing, "wb") as words:
        for before, turn in pairwise(turns):
            yield from islice(answers, before.count(b"\n"))
            words.write(turn)
            words.flush()
        words.close()
        yield from answers
