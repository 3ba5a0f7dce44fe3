"""Clients that are told of changes, each in the way of its version of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import Client
from mcp.client.subscriptions import Subscription
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp_types import ResourceListChangedNotification, ResourceUpdatedNotification

from tests.unit.server.clients import MODERN

LISTS = "lists"


class Heard:
    """What a client was told, in its order."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._news = anyio.Event()

    def add(self, event: object) -> None:
        match event:
            case ResourceUpdatedNotification():
                self.all.append(event.params.uri)
            case ResourceUpdated():
                self.all.append(event.uri)
            case ResourceListChangedNotification() | ResourcesListChanged():
                self.all.append(LISTS)
            case _:
                raise AssertionError(event)
        self._news.set()
        self._news = anyio.Event()

    async def until(self, *wanted: str) -> None:
        """Wait until all of these have been heard since the last time, and forget them; nothing else may be heard."""
        while not set(self.all).issuperset(wanted):
            news = self._news
            assert set(self.all) <= set(wanted)
            await news.wait()
        assert sorted(self.all) == sorted(wanted)
        self.all.clear()

    async def take(self, message: Any) -> None:
        """As a client with a handshake hands it over."""
        self.add(message)

    async def follow(self, subscription: Subscription) -> None:
        """As a stream hands it over."""
        async for event in subscription:
            self.add(event)


@asynccontextmanager
async def hearing(server: Any, mode: str, uris: Collection[str], *, lists: bool = True) -> AsyncIterator[Heard]:
    """A client that wants to be told of these resources, and of lists; with a handshake nobody is asked about lists."""
    heard = Heard()
    if mode != MODERN:
        async with Client(server, mode=mode, message_handler=heard.take) as client:
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
