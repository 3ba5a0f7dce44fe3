"""`resources/subscribe`, `resources/unsubscribe`, `subscriptions/listen`, and what is told of changes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from duvet.errors import DuvetError, QueryError
from duvet.server.live import Live
from duvet.server.messages import LASTING, TOO_MUCH
from duvet.server.protocol.outbox import PROMPTS, RESOURCES, TOOLS, Outbox
from duvet.server.protocol.parts import Request, connection_of
from duvet.server.resources.addresses import asked
from duvet.server.resources.differences import lists_differ
from duvet.server.watched import Watched
from duvet.tools.context import Context
from duvet.tools.desk import Desk

MOST = 1_000
"""So many streams may be open."""
_MOST_URIS = 1_000
"""So many resources may one client subscribe to, or name for one stream."""


class Subscriptions:
    """Tells each client of what it wants to be told of, in the way of its version of the protocol."""

    def __init__(self, live: Live, desk: Desk) -> None:
        self._live = live
        self._desk = desk
        self._registry = desk.registry
        self._watched = Watched()
        self._outboxes: dict[Connection, Outbox] = {}
        self._bus = InMemorySubscriptionBus()
        self._streams = ListenHandler(self._bus, max_subscriptions=MOST)
        self._open = 0
        self._turn = anyio.Lock()
        self._group: TaskGroup | None = None
        self.reaches: Callable[[str | None], bool] = lambda session: True
        """Whether a session has something open that it can be told through."""

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, self.subscribe)
        server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, self.unsubscribe)
        server.add_request_handler(LASTING, types.SubscriptionsListenRequestParams, self.listen)
        server.add_notification_handler("notifications/initialized", types.NotificationParams, self.joined)

    @property
    def wanted(self) -> set[str]:
        """The resources that anybody wants to be told of."""
        return self._watched.uris

    async def joined(self, request: Request, params: types.NotificationParams) -> None:
        """From now on this client may be told of lists."""
        self._outbox(connection_of(request))

    def _outbox(self, connection: Connection) -> Outbox:
        if connection not in self._outboxes:
            self._outboxes[connection] = Outbox(connection, lambda: self.reaches(connection.session_id))
            connection.exit_stack.callback(self._left, connection)
        return self._outboxes[connection]

    def _left(self, connection: Connection) -> None:
        self._watched.remove(self._outboxes.pop(connection).uris)

    async def subscribe(self, request: Request, params: types.SubscribeRequestParams) -> types.EmptyResult:
        context = await self._context()
        outbox = self._outbox(connection_of(request))
        if params.uri not in outbox.uris:
            _check({*outbox.uris, params.uri})
            self._watched.add([params.uri], context)
            outbox.uris.add(params.uri)
        return types.EmptyResult()

    async def unsubscribe(self, request: Request, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        outbox = self._outbox(connection_of(request))
        if params.uri in outbox.uris:
            outbox.uris.remove(params.uri)
            outbox.drop(params.uri)
            self._watched.remove([params.uri])
        return types.EmptyResult()

    async def listen(
        self, request: Request, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """One stream of changes, until the client or the server ends it."""
        uris = set(params.notifications.resource_subscriptions or ())
        _check(uris)
        if self._open >= MOST:
            ##= man/spec/mcp.md#limits
            ##% While 1,000 streams of changes are open, another one MUST be refused with the code -32010.
            hint = {"hint": "one stream can tell of many resources"}
            raise MCPError(code=TOO_MUCH, message="Too many streams are open", data=hint)
        self._open += 1
        try:
            return await self._listen(request, params, uris)
        finally:
            self._open -= 1

    async def _listen(
        self, request: Request, params: types.SubscriptionsListenRequestParams, uris: Collection[str]
    ) -> types.SubscriptionsListenResult:
        self._watched.add(uris, await self._context() if uris else None)
        try:
            return await self._streams(request, params)
        finally:
            self._watched.remove(uris)

    def reached(self, session: str) -> None:
        """From now on a session can be told, of what it could not be told until now, too."""
        for connection, outbox in self._outboxes.items():
            if connection.session_id == session and self._group:
                self._group.start_soon(outbox.deliver)

    def close_streams(self) -> None:
        """End all streams in good order, because the server is about to end."""
        self._streams.close()

    async def _context(self) -> Context | None:
        try:
            return await self._live.context()
        except DuvetError:
            # It may be read again one day, and then there is something to tell.
            return None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look out for changes; where one server runs several times at once, one of them does it for all."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._look_out)
            yield
            group.cancel_scope.cancel()

    async def _look_out(self) -> None:
        async with self._turn, anyio.create_task_group() as self._group:
            await self._live.watch(partial(self._changed, self._group))

    async def _changed(self, group: TaskGroup, before: Context, after: Context) -> None:
        ##= man/spec/mcp.md#freshness
        ##% A client MUST be told when the content of a resource changes that it has subscribed to, and MUST NOT be told
        ##% of others.
        async for uri in self._watched.changed(after):
            await self._bus.publish(ResourceUpdated(uri=uri))
            self._put(group, uri, [one for one in self._outboxes.values() if uri in one.uris])
        ##= man/spec/mcp.md#freshness
        ##% All clients that want to be told of lists MUST be told when specifications, requirements or citations come or
        ##% go.
        if lists_differ(before, after):
            await self._bus.publish(ResourcesListChanged())
            self._put(group, RESOURCES, self._outboxes.values())
        if self._registry is not self._desk.registry:
            ##= man/spec/service.md#configuration
            ##% While the server runs, an edit of its configuration MUST be in force with the next request, and clients MUST
            ##% be told that the lists of tools and prompts have changed; one that is wrong MUST be told of in the log, and
            ##% what was in force before stays.
            self._registry = self._desk.registry
            for event, kind in ((ToolsListChanged(), TOOLS), (PromptsListChanged(), PROMPTS)):
                await self._bus.publish(event)
                self._put(group, kind, self._outboxes.values())

    def _put(self, group: TaskGroup, uri: str, outboxes: Iterable[Outbox]) -> None:
        for outbox in outboxes:
            if outbox.put(uri):
                ##= man/spec/mcp.md#freshness
                ##% A client that does not read MUST NOT keep others from being told.
                group.start_soon(outbox.deliver)


def _check(uris: Collection[str]) -> None:
    """Refuse what can be no URI, and more than one client can need."""
    if len(uris) > _MOST_URIS:
        ##= man/spec/mcp.md#limits
        ##% A client MUST be refused with the code -32602 when it subscribes to more than 1,000 resources.
        raise MCPError(code=types.INVALID_PARAMS, message=f"No more than {_MOST_URIS:,} resources can be subscribed to")
    for uri in uris:
        try:
            asked(uri)
        except QueryError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=error.message, data={"hint": error.hint}) from error
