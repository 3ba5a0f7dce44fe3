"""What the client says, on its way to the server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from duvet.server.messages import INVALID_REQUEST, RefusedError, checked, decoded
from duvet.server.stdio.early import Opening
from duvet.server.stdio.flow import Flow
from duvet.server.stdio.lines import LONGEST, Lines
from duvet.server.stdio.outbound import Outbound
from duvet.server.stdio.requests import Asked, Batch, Requests

BATCHING = ("2024-11-05", "2025-03-26")
"""The versions that know batches."""
LARGEST = 100
"""Messages of a batch."""

Said = SessionMessage | Exception


class Inbound:
    """Reads messages, answers what is none, and hands on what is one."""

    def __init__(self, flow: Flow, requests: Requests, outbound: Outbound, opening: Opening, grace: float) -> None:
        """Once the input has ended, answers have so many seconds of grace."""
        self._flow = flow
        self._requests = requests
        self._outbound = outbound
        self._opening = opening
        self._is_answered = opening.is_answered
        self._grace = grace
        self._lines = Lines()

    async def run(self, server: MemoryObjectSendStream[Said]) -> None:
        """Read to the end, and give what is worked on then the time to be answered."""
        async with server:
            async for line in self._read():
                try:
                    await self._take(server, line)
                except RefusedError as refused:
                    await self._outbound.send(refused.answer)
            ##= man/spec/mcp.md#transport
            ##% What was asked before the end of the input MUST be answered, if that takes less than ten seconds.
            with anyio.move_on_after(self._grace):
                await self._requests.until_none()

    async def _read(self) -> AsyncIterator[bytes | None]:
        data = self._opening.read
        while data:
            for line in self._lines.feed(data):
                yield line
            data = await self._next()
        for line in self._lines.end():
            yield line

    async def _next(self) -> bytes:
        # A terminal that is gone is an end, too.
        with suppress(OSError):
            return await self._flow.read()
        return b""

    async def _take(self, server: MemoryObjectSendStream[Said], line: bytes | None) -> None:
        ##= man/spec/mcp.md#limits
        ##% A line of more than 4 MiB MUST be answered with the error -32600, and MUST NOT be kept.
        if line is None:
            raise RefusedError(INVALID_REQUEST, f"Invalid Request: a line has at most {LONGEST} bytes")
        value = decoded(line)
        if isinstance(value, list):
            await self._take_batch(server, value, len(line))
        else:
            await self._hand_on(server, checked(value), len(line), None)

    async def _take_batch(self, server: MemoryObjectSendStream[Said], values: list[Any], size: int) -> None:
        ##= man/spec/mcp.md#transport
        ##% A batch MUST be refused with the error -32600, unless the handshake has come to a version that knows batches.
        if self._outbound.version not in BATCHING:
            raise RefusedError(INVALID_REQUEST, "Invalid Request: this version of the protocol has no batches")
        if not 0 < len(values) <= LARGEST:
            raise RefusedError(INVALID_REQUEST, f"Invalid Request: a batch has from 1 to {LARGEST} messages")
        batch = Batch()
        for value in values:
            try:
                await self._hand_on(server, _batched(value, batch), size // len(values), batch)
            except RefusedError as refused:
                batch.answers.append(refused.answer)
        batch.is_read = True
        await self._outbound.finish(batch)

    async def _hand_on(
        self, server: MemoryObjectSendStream[Said], message: Mapping[str, Any], size: int, batch: Batch | None
    ) -> None:
        if "method" not in message:
            with suppress(ValidationError):
                await server.send(SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False)))
        elif "id" not in message:
            notice = JSONRPCNotification(jsonrpc="2.0", method=message["method"], params=message.get("params"))
            await server.send(SessionMessage(notice))
        else:
            await self._ask(server, message, size, batch)

    async def _ask(
        self, server: MemoryObjectSendStream[Said], message: Mapping[str, Any], size: int, batch: Batch | None
    ) -> None:
        await self._requests.until_room()
        id, method = message["id"], message["method"]
        asked = Asked(id, method, size, batch, is_answered=self._is_answered)
        self._is_answered = False
        self._requests.add(asked)
        request = JSONRPCRequest(jsonrpc="2.0", id=id, method=method, params=message.get("params"))
        unanswered = partial(self._outbound.settle, asked)
        await server.send(SessionMessage(request, ServerMessageMetadata(on_request_unanswered=unanswered)))
        if asked.begins:
            # What comes next may depend on the version.
            await asked.settled.wait()


def _batched(value: object, batch: Batch) -> Mapping[str, Any]:
    message = checked(value)
    id = message.get("id")
    if message.get("method") == "initialize":
        raise RefusedError(INVALID_REQUEST, "Invalid Request: a handshake is no part of a batch", id)
    if any(asked.id == id for asked in batch.asked):
        raise RefusedError(INVALID_REQUEST, "Invalid Request: the id is used twice in a batch", id)
    return message
