"""Answers on their way to a client that may not read them."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from duvet.server.messages import encoded

MOST_BYTES = 64 * 1024 * 1024


class Unread:
    """How many bytes of answers wait."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._bytes = 0
        self._eased = anyio.Event()

    @property
    def is_left(self) -> bool:
        ##= man/spec/mcp.md#limits
        ##% While 64 MiB of answers wait for a client to read them, the server MUST NOT make up more.
        return self._bytes < self._most

    async def eased(self) -> None:
        await self._eased.wait()

    def add(self, size: int) -> None:
        """So much more waits."""
        self._bytes += size

    def remove(self, size: int) -> None:
        """So much of it is gone."""
        self._bytes -= size
        self._eased.set()
        self._eased = anyio.Event()


class Outgoing:
    """What the server sends into; counts what waits in there from the moment that it is sent."""

    def __init__(self, stream: MemoryObjectSendStream[SessionMessage], unread: Unread) -> None:
        self._stream = stream
        self._unread = unread

    async def send(self, item: SessionMessage, /) -> None:
        """Hand it over, when it is its turn."""
        size = len(encoded(item.message.result)) if isinstance(item.message, JSONRPCResponse) else 0
        self._unread.add(size)
        try:
            await self._stream.send(item)
        finally:
            self._unread.remove(size)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
