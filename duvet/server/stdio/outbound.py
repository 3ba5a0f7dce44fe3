"""What the server says, on its way to the client."""

from __future__ import annotations

from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse

from duvet.server.bare import unwrapped
from duvet.server.messages import TOO_MUCH, Id, encoded, failure
from duvet.server.stdio.flow import Flow
from duvet.server.stdio.requests import Asked, Batch, Requests
from duvet.server.stdio.unread import MOST_BYTES


class GoneError(Exception):
    """Nobody listens any more."""


class Outbound:
    """Writes messages, one a line, and keeps an eye on which request each answers."""

    def __init__(self, flow: Flow, requests: Requests) -> None:
        self._flow = flow
        self._requests = requests
        self._turn = anyio.Lock()
        self._collected = 0
        self.version: str | None = None
        """The version of the protocol that a handshake has come to."""

    async def run(self, said: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Send everything, until there will be no more."""
        async with said:
            async for one in said:
                message = one.message
                if isinstance(message, JSONRPCResponse | JSONRPCError):
                    await self._answer(message.id, _plain(message))
                else:
                    await self.send(_plain(message))

    async def send(self, value: object) -> None:
        """Write a line, when it is its turn."""
        ##= man/spec/mcp.md#transport
        ##% A message MUST be written as one line of UTF-8 that ends in a bare line feed.
        line = encoded(value)
        async with self._turn:
            try:
                await self._flow.write(line)
            except OSError as error:
                raise GoneError from error

    async def _answer(self, id: Id | None, answer: dict[str, Any]) -> None:
        asked = self._requests.find(id)
        if asked is None:
            return await self.send(answer)
        if asked.begins and "result" in answer:
            self.version = answer["result"]["protocolVersion"]
        if asked.batch:
            self._collect(asked.batch, id, answer)
        elif not asked.is_answered:
            await self.send(answer)
        return await self.settle(asked)

    def _collect(self, batch: Batch, id: Id | None, answer: dict[str, Any]) -> None:
        """Keep an answer until those to the rest of the batch are there."""
        size = len(encoded(answer))
        if self._collected + size > MOST_BYTES:
            ##= man/spec/mcp.md#limits
            ##% Where the answers to batches come to more than 64 MiB, each further one MUST be the error -32010.
            answer = failure(TOO_MUCH, "The answers to the batch are too large: ask in smaller ones", id)
            size = 0
        batch.answers.append(answer)
        batch.size += size
        self._collected += size

    async def settle(self, asked: Asked) -> None:
        """The request has had its answer, or needs none any more."""
        self._requests.settle(asked)
        if asked.batch:
            await self.finish(asked.batch)

    async def finish(self, batch: Batch) -> None:
        """Send the answers to a batch, once there are all of them, and any."""
        ##= man/spec/mcp.md#transport
        ##% The answers to a batch MUST be one array.
        if batch.is_done and batch.answers:
            self._collected -= batch.size
            await self.send(batch.answers)


def _plain(message: JSONRPCMessage) -> dict[str, Any]:
    if isinstance(message, JSONRPCResponse):
        return {"jsonrpc": message.jsonrpc, "id": message.id, "result": unwrapped(message.result)}
    return message.model_dump(mode="json", by_alias=True, exclude_unset=True)
