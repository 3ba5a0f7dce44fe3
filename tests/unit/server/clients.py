"""Clients of the SDK, each speaking one version of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest

from tests.cli.running import environment

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
VERSIONS = (*HANDSHAKES, MODERN)

Transport = AbstractAsyncContextManager[Any]


def client_of(transport: Transport, version: str, **more: Any) -> Client:
    """A client that speaks this version over a transport."""
    if version == MODERN:
        return Client(transport, mode=MODERN, **more)
    return Client(_asking(transport, version), mode="legacy", **more)


def over_stdio(command: str, folder: Path, *args: str) -> Transport:
    """The pipes of `duvet mcp` in a folder, which ends with the connection."""
    words = ["-C", str(folder), "mcp", *args]
    return stdio_client(StdioServerParameters(command=command, args=words, env=environment()))


@asynccontextmanager
async def _asking(transport: Transport, version: str) -> AsyncIterator[Any]:
    async with transport as (reading, writing):
        yield reading, _Asking(writing, version)


class _Asking:
    """Writes what the client says, but for the version in its handshake: it always asks for the newest."""

    def __init__(self, writing: Any, version: str) -> None:
        self._writing = writing
        self._version = version

    async def send(self, item: SessionMessage) -> None:
        message = item.message
        if isinstance(message, JSONRPCRequest) and message.method == "initialize":
            params = {**(message.params or {}), "protocolVersion": self._version}
            item = SessionMessage(message.model_copy(update={"params": params}), item.metadata)
        await self._writing.send(item)

    async def aclose(self) -> None:
        await self._writing.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
