"""Conversations inside this process, over pipes."""

from __future__ import annotations

import os
import threading
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp_types import RequestParams

from duvet.server.bare import wrapped
from duvet.server.protocol.parts import Request
from duvet.server.protocol.server import DuvetServer
from duvet.server.stdio.conversation import GRACE, converse
from duvet.server.stdio.early import Opening
from duvet.server.stdio.wire import Wire

FOREVER, BARE = "tests/forever", "tests/bare"


class Odd:
    """Methods that no server has: one is never answered, one is answered with an array."""

    def __init__(self) -> None:
        self.asked = 0
        """How many wait for the one."""

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler(FOREVER, RequestParams, self._wait)
        server.add_request_handler(BARE, RequestParams, self._list)

    async def _wait(self, ctx: Request, params: RequestParams) -> dict[str, Any]:
        self.asked += 1
        await anyio.sleep_forever()
        return {}

    async def _list(self, ctx: Request, params: RequestParams) -> dict[str, Any]:
        return wrapped([{"a": "ü"}])


def said(server: DuvetServer, words: bytes, grace: float = GRACE) -> list[bytes]:
    """What a server says to all that a client says, line by line; nothing is answered early."""
    (their_reading, our_writing), (our_reading, their_writing) = os.pipe(), os.pipe()
    os.close(our_writing)
    heard: list[bytes] = []
    listener = threading.Thread(target=lambda: heard.extend(_all_of(our_reading)))
    listener.start()
    try:
        anyio.run(converse, Wire(their_reading, their_writing), Opening(words), server, grace)
    finally:
        os.close(their_writing)
        listener.join()
        os.close(their_reading)
    return heard


def _all_of(descriptor: int) -> list[bytes]:
    with os.fdopen(descriptor, "rb") as stream:
        return stream.readlines()
