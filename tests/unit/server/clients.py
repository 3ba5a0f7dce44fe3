"""Clients of the SDK, each with one protocol version; they use duvet's methods and record notifications."""

import subprocess
from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Self

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.subscriptions import Subscription
from mcp.shared.message import SessionMessage
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated
from msgspec import json
from pydantic import RootModel

from duvet.server.messages import unwrap_array
from tests.cli.command import environment
from tests.unit.specs.download_server import LONGEST
from tests.zygote import spawn

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
VERSIONS = (*HANDSHAKES, MODERN)
LISTS = "lists"  # The notification of a changed list.

Transport = AbstractAsyncContextManager[Any]


def client_of(transport: Transport, version: str, **more: Any) -> Client:
    if version == MODERN:
        return Client(transport, mode=MODERN, **more)
    return Client(_requesting(transport, version), mode="legacy", **more)


@asynccontextmanager
async def over_stdio(command: str, folder: Path, *args: str, **environ: str) -> AsyncIterator[Any]:
    """Start `duvet mcp` in a folder, and yield its pipes; the process ends with the connection."""
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
                    await told.send(SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False)))

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
async def _requesting(transport: Transport, version: str) -> AsyncIterator[Any]:
    async with transport as (reading, writing):
        yield reading, _VersionWriter(writing, version)


class _VersionWriter:
    """Rewrites the version in the handshake, because the SDK always requests the newest."""

    def __init__(self, writing: Any, version: str) -> None:
        self._writing = writing
        self._version = version

    async def send(self, item: SessionMessage) -> None:
        message = item.message
        if isinstance(message, types.JSONRPCRequest) and message.method == "initialize":
            params = {**(message.params or {}), "protocolVersion": self._version}
            item = SessionMessage(message.model_copy(update={"params": params}), item.metadata)
        await self._writing.send(item)

    async def aclose(self) -> None:
        await self._writing.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


Request = types.Request[dict[str, Any], str]
Anything = RootModel[dict[str, Any]]


async def got(client: Client, **params: str) -> Any:
    """Return the result of `resources/get`, without fields that all results of a version have."""
    found = await client.session.send_request(Request(method="resources/get", params=params), Anything)
    own = {key: value for key, value in found.root.items() if key not in ("_meta", "resultType")}
    return json.decode(json.encode(unwrap_array(own)))


async def list_below(client: Client, path: str, **params: str) -> types.ListResourcesResult:
    asked = Request(method="resources/list", params={"path": path, **params})
    return await client.session.send_request(asked, types.ListResourcesResult)


async def list_all_resources(client: Client) -> list[types.Resource]:
    page = await client.list_resources()
    found = [*page.resources]
    while page.next_cursor is not None:
        page = await client.list_resources(cursor=page.next_cursor)
        found += page.resources
    return found


async def text(client: Client, uri: str) -> str:
    (contents,) = (await client.read_resource(uri)).contents
    assert isinstance(contents, types.TextResourceContents)
    assert (contents.uri, contents.mime_type) == (uri, "application/json")
    return contents.text


async def prompt_text(client: Client, name: str, arguments: dict[str, str] | None = None) -> str:
    (message,) = (await client.get_prompt(name, arguments)).messages
    assert isinstance(message.content, types.TextContent) and message.role == "user"
    return message.content.text


def blocks(answer: types.CallToolResult) -> list[str]:
    """Return the texts of an answer, which must contain nothing else."""
    found = [block.text for block in answer.content if isinstance(block, types.TextContent)]
    assert len(found) == len(answer.content)
    return found


def value_of(answer: types.CallToolResult) -> Any:
    return json.decode(blocks(answer)[0])


class Heard:
    def __init__(self) -> None:
        self.all: list[str] = []
        self._news = anyio.Event()

    async def add(self, message: Any) -> None:
        match message:
            case types.ResourceUpdatedNotification():
                self.all.append(message.params.uri)
            case ResourceUpdated():
                self.all.append(message.uri)
            case types.ResourceListChangedNotification() | ResourcesListChanged():
                self.all.append(LISTS)
            case _:
                raise AssertionError(message)
        self._news.set()
        self._news = anyio.Event()

    async def until(self, *wanted: str) -> None:
        """Wait until exactly these notifications have arrived since the last call."""
        while not set(self.all).issuperset(wanted):
            news = self._news
            assert set(self.all) <= set(wanted)
            await news.wait()
        assert sorted(self.all) == sorted(wanted)
        self.all.clear()

    async def follow(self, subscription: Subscription) -> None:
        async for event in subscription:
            await self.add(event)


@asynccontextmanager
async def hearing(server: Any, mode: str, uris: Collection[str], *, lists: bool = True) -> AsyncIterator[Heard]:
    """Yield a client that subscribes to these resources, and to lists if its version allows that."""
    heard = Heard()
    if mode != MODERN:
        async with Client(server, mode=mode, message_handler=heard.add) as client:
            for uri in uris:
                await client.subscribe_resource(uri)
            yield heard
        return
    async with (
        Client(server, mode=mode) as client,
        client.listen(resource_subscriptions=list(uris), resources_list_changed=lists) as subscription,
        anyio.create_task_group() as group,
    ):
        group.start_soon(heard.follow, subscription)
        yield heard
        group.cancel_scope.cancel()
