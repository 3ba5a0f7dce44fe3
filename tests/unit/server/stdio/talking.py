"""Conversations inside this process, over pipes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp_types import RequestParams

from duvet.server.messages import wrap_array
from duvet.server.protocol.server import DuvetServer
from duvet.server.protocol.session import ServerRequest
from duvet.server.stdio.handshake import ClientPipes, SessionOpening
from duvet.server.stdio.session import GRACE_SECONDS, converse

FOREVER, BARE = "tests/forever", "tests/bare"


class Odd:
    """Methods that no server has: one is never answered, one is answered with an array."""

    def __init__(self) -> None:
        self.asked = 0
        """How many wait for the one."""

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler(FOREVER, RequestParams, self._wait)
        server.add_request_handler(BARE, RequestParams, self._list)

    async def _wait(self, ctx: ServerRequest, params: RequestParams) -> dict[str, Any]:
        self.asked += 1
        await anyio.sleep_forever()
        return {}

    async def _list(self, ctx: ServerRequest, params: RequestParams) -> dict[str, Any]:
        return wrap_array([{"a": "ü"}])


def said(server: DuvetServer, *turns: bytes, grace: float = GRACE_SECONDS) -> list[bytes]:
    """What a server says to all that a client says, line by line; nothing is answered early.

    A further turn is said when each line of those before has its answer.
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
