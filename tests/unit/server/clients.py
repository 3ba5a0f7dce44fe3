"""Clients of the SDK, each speaking one version of the protocol."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
from mcp import Client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

from tests.cli.running import environment
from tests.unit.specs.serving import LONGEST
from tests.zygote import spawn

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
VERSIONS = (*HANDSHAKES, MODERN)

Transport = AbstractAsyncContextManager[Any]


def client_of(transport: Transport, version: str, **more: Any) -> Client:
    """A client that speaks this version over a transport."""
    if version == MODERN:
        return Client(transport, mode=MODERN, **more)
    return Client(_asking(transport, version), mode="legacy", **more)


@asynccontextmanager
async def over_stdio(command: str, folder: Path, *args: str, **environ: str) -> AsyncIterator[Any]:
    """The pipes of `duvet mcp` in a folder, as of the SDK's `stdio_client`. The process ends with the connection."""
    words = [command, "-C", str(folder), "mcp", *args]
    process = spawn(words, cwd=Path.cwd(), env=environment(**environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stdin, stdout = process.stdin, process.stdout
    assert stdin and stdout
    told, reading = anyio.create_memory_object_stream[SessionMessage](0)
    writing, asked = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with told:
                async for line in anyio.wrap_file(stdout):
                    await told.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))

    async def write() -> None:
        async with asked:
            async for one in asked:
                stdin.write(one.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                stdin.flush()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            tasks.start_soon(write)
            yield reading, writing
            reading.close()
            writing.close()
            stdin.close()
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(process.wait, LONGEST)
            tasks.cancel_scope.cancel()
    finally:
        process.kill()
        await anyio.to_thread.run_sync(process.wait)
        stdin.close()
        stdout.close()


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
