"""A conversation with one client, from its second word to its last."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage

from duvet.server.room import answering_within
from duvet.server.stdio.early import Opening
from duvet.server.stdio.flow import Flow, flow
from duvet.server.stdio.inbound import Inbound, Said
from duvet.server.stdio.outbound import GoneError, Outbound
from duvet.server.stdio.requests import Requests
from duvet.server.stdio.unread import Outgoing, Unread
from duvet.server.stdio.wire import Wire

GRACE = 10.0
"""Seconds for answers that are awaited when the input ends."""
_FLUSH = 2.0
"""Seconds for the last words."""
_LOOK = 5.0
"""Seconds between two looks at whether the client is still there."""


async def converse(wire: Wire, opening: Opening, server: Server[Any], grace: float = GRACE) -> None:
    """Let the server answer until the client leaves."""
    reading, writing = flow(wire.reading), flow(wire.writing)
    requests = Requests()
    outbound = Outbound(writing, requests)
    inbound = Inbound(reading, requests, outbound, opening, grace)
    to_server, incoming = anyio.create_memory_object_stream[Said](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    ##= man/spec/mcp.md#transport
    ##% The server MUST end when nobody reads what it says any more.
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(inbound.run, to_server)
            tasks.start_soon(_until, outbound.run(from_server), tasks.cancel_scope.cancel)
            tasks.start_soon(_until, _alone(reading, grace), tasks.cancel_scope.cancel)
            unread = Unread()
            with answering_within(unread):
                options = server.create_initialization_options()
                await server.run(incoming, Outgoing(outgoing, unread), options)
            tasks.cancel_scope.deadline = anyio.current_time() + _FLUSH
    except* GoneError:
        pass


async def _until(end: Awaitable[None], stop: Callable[[], None]) -> None:
    await end
    stop()


async def _alone(reading: Flow, grace: float) -> None:
    """Come back when the client has closed its side for long: it keeps both from their end where it reads no answer."""
    while not reading.hung_up:
        await anyio.sleep(min(_LOOK, grace))
    # Answers have their grace first, once the end of the input has been read.
    await anyio.sleep(2 * grace)
