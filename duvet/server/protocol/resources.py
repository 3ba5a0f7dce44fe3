"""Resources and subscriptions to them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
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
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import json, to_builtins

from duvet.errors import DuvetError, NotFoundError, QueryError
from duvet.server.live_project import LiveProject, WatchedResources
from duvet.server.messages import LISTEN_METHOD, TOO_MUCH_CODE, wrap_array
from duvet.server.protocol.session import ServerRequest, get_connection, refuse_cursor
from duvet.server.resources.documents import (
    MIME_TYPE,
    ListedResource,
    ResourceDescription,
    have_lists_changed,
    list_all_resources,
    list_resources_below,
    read_resource,
)
from duvet.server.resources.templates import TEMPLATES
from duvet.server.resources.tree import find_resource_node, get_resource_tree, parse_resource_request
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.tool import ResultPage, find_server_hint

_NOT_FOUND = -32002
"""What a handshake version says; later ones say that the parameters are wrong."""
_OBJECT = "duvet/object"
_PAGE = "duvet/page"


class ListResourcesParams(types.PaginatedRequestParams):
    """A page of all resources, or of those right below a path."""

    path: str | None = None


class GetResourceParams(types.RequestParams):
    """A resource by its path or its URI."""

    path: str | None = None
    uri: str | None = None


class ResourcesPart:
    """Serves the tree of the project as it is."""

    def __init__(self, live: LiveProject) -> None:
        self._live = live

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("resources/list", ListResourcesParams, self.list)
        server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, self.templates)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, self.read)
        server.add_request_handler("resources/get", GetResourceParams, self.get)

    async def list(self, request: ServerRequest, params: ListResourcesParams) -> types.ListResourcesResult:
        with _telling_what_is_missing(request, params.path or ""):
            shown, place = await self._live.ask(lambda context: _listed(context, params))
        return types.ListResourcesResult(resources=[_resource(one) for one in shown], next_cursor=place.next_cursor)

    async def templates(
        self, request: ServerRequest, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        refuse_cursor(params)
        return types.ListResourceTemplatesResult(resource_templates=_TEMPLATES)

    async def read(self, request: ServerRequest, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        value, page = await self._read(request, params.uri)
        contents = types.TextResourceContents(
            uri=params.uri,
            mime_type=MIME_TYPE,
            text=json.encode(value).decode(),
            _meta=None if page is None else {_PAGE: _words(page)},
        )
        return types.ReadResourceResult(contents=[contents])

    async def get(self, request: ServerRequest, params: GetResourceParams) -> dict[str, Any]:
        ##= man/spec/mcp.md#resources
        ##% `resources/get` MUST return the object or the array itself, or with `?limit=` the first entries.
        if (params.path is None) == (params.uri is None):
            raise QueryError("give a `path` or a `uri`")
        value, _ = await self._read(request, params.path or params.uri or "")
        plain = to_builtins(value)
        return wrap_array(plain) if isinstance(plain, list) else plain

    async def _read(self, request: ServerRequest, reference: str) -> tuple[Any, ResultPage | None]:
        with _telling_what_is_missing(request, reference):
            return await self._live.ask(lambda context: read_resource(context, parse_resource_request(reference)))


def _listed(context: ProjectSnapshot, params: ListResourcesParams) -> tuple[Sequence[ResourceDescription], ResultPage]:
    ##= man/spec/mcp.md#resources
    ##% `resources/list` MUST list every resource once, page by page, or with a `path` the resources right below it with
    ##% their objects.
    if params.path is None:
        return list_all_resources(context, params.cursor)
    wanted = parse_resource_request(params.path)
    if wanted.cursor is not None:
        raise QueryError("the path has a cursor", hint="give `cursor` beside `path`")
    return list_resources_below(
        context, find_resource_node(get_resource_tree(context), wanted), params.cursor, wanted.limit
    )


@contextmanager
def _telling_what_is_missing(request: ServerRequest, reference: str) -> Iterator[None]:
    try:
        yield
    except NotFoundError as error:
        ##= man/spec/mcp.md#resources
        ##% The server MUST answer for an unknown resource with the error -32602, or -32002 before version 2026-07-28,
        ##% and with its `uri`.
        is_modern = request.protocol_version in MODERN_PROTOCOL_VERSIONS
        message = ": ".join(filter(None, ["Resource not found", error.message, find_server_hint(error)]))
        raise MCPError(types.INVALID_PARAMS if is_modern else _NOT_FOUND, message, {"uri": reference}) from error


def _words(page: ResultPage) -> dict[str, Any]:
    return {"total": page.total, **({"next_cursor": page.next_cursor} if page.next_cursor else {})}


def _resource(one: ResourceDescription) -> types.Resource:
    return types.Resource(
        uri=one.uri,
        name=one.name,
        title=one.title,
        description=one.description,
        mime_type=MIME_TYPE,
        size=one.size,
        _meta={_OBJECT: to_builtins(one.object)} if isinstance(one, ListedResource) and one.object else None,
    )


_TEMPLATES = [
    types.ResourceTemplate(
        uri_template=one.uri, name=one.name, title=one.title, description=one.description, mime_type=MIME_TYPE
    )
    for one in TEMPLATES
]


RESOURCES, TOOLS, PROMPTS = "resources", "tools", "prompts"
"""Stand for lists where others are URIs, which have a colon in them."""


class Outbox:
    """Each thing once, however often it happens before the client reads of it."""

    def __init__(self, connection: Connection, is_open: Callable[[], bool]) -> None:
        """What can't be told for now is kept until it can be."""
        self.uris: set[str] = set()
        """What the client has subscribed to."""
        self._connection = connection
        self._is_open = is_open
        self._waiting: dict[str, None] = {}
        self._is_busy = False

    def put(self, uri: str) -> bool:
        """Have the client told; whether somebody has to do it."""
        self._waiting[uri] = None
        return not self._is_busy

    def drop(self, uri: str) -> None:
        """The client doesn't want to be told of this any more."""
        self._waiting.pop(uri, None)

    async def deliver(self) -> None:
        """Tell everything; for a client that does not read that takes as long as it likes."""
        if self._is_busy:
            return
        self._is_busy = True
        try:
            while self._waiting and self._is_open():
                uri = next(iter(self._waiting))
                del self._waiting[uri]
                await self._tell(uri)
        finally:
            self._is_busy = False

    async def _tell(self, what: str) -> None:
        match what:
            case "resources":
                await self._connection.send_resource_list_changed()
            case "tools":
                await self._connection.send_tool_list_changed()
            case "prompts":
                await self._connection.send_prompt_list_changed()
            case uri:
                await self._connection.send_resource_updated(uri)


MAX_SUBSCRIPTIONS = 1_000
"""So many streams may be open."""
_MOST_URIS = 1_000
"""So many resources may one client subscribe to, or name for one stream."""


class Subscriptions:
    """Tells each client of what it wants to be told of, in the way of its version of the protocol."""

    def __init__(self, live: LiveProject, desk: ToolDispatcher) -> None:
        self._live = live
        self._desk = desk
        self._registry = desk.registry
        self._watched = WatchedResources()
        self._outboxes: dict[Connection, Outbox] = {}
        self._bus = InMemorySubscriptionBus()
        self._streams = ListenHandler(self._bus, max_subscriptions=MAX_SUBSCRIPTIONS)
        self._open = 0
        self._turn = anyio.Lock()
        self._group: TaskGroup | None = None
        self.reaches: Callable[[str | None], bool] = lambda session: True
        """Whether a session has something open that it can be told through."""

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, self.subscribe)
        server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, self.unsubscribe)
        server.add_request_handler(LISTEN_METHOD, types.SubscriptionsListenRequestParams, self.listen)
        server.add_notification_handler("notifications/initialized", types.NotificationParams, self.joined)

    @property
    def wanted(self) -> set[str]:
        """The resources that anybody wants to be told of."""
        return self._watched.uris

    async def joined(self, request: ServerRequest, params: types.NotificationParams) -> None:
        """From now on this client may be told of lists."""
        self._outbox(get_connection(request))

    def _outbox(self, connection: Connection) -> Outbox:
        if connection not in self._outboxes:
            self._outboxes[connection] = Outbox(connection, lambda: self.reaches(connection.session_id))
            connection.exit_stack.callback(self._left, connection)
        return self._outboxes[connection]

    def _left(self, connection: Connection) -> None:
        self._watched.remove(self._outboxes.pop(connection).uris)

    async def subscribe(self, request: ServerRequest, params: types.SubscribeRequestParams) -> types.EmptyResult:
        context = await self._context()
        outbox = self._outbox(get_connection(request))
        if params.uri not in outbox.uris:
            _check({*outbox.uris, params.uri})
            self._watched.add([params.uri], context)
            outbox.uris.add(params.uri)
        return types.EmptyResult()

    async def unsubscribe(self, request: ServerRequest, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        outbox = self._outbox(get_connection(request))
        if params.uri in outbox.uris:
            outbox.uris.remove(params.uri)
            outbox.drop(params.uri)
            self._watched.remove([params.uri])
        return types.EmptyResult()

    async def listen(
        self, request: ServerRequest, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """One stream of changes, until the client or the server ends it."""
        uris = set(params.notifications.resource_subscriptions or ())
        _check(uris)
        if self._open >= MAX_SUBSCRIPTIONS:
            hint = {"hint": "one stream can tell of many resources"}
            raise MCPError(code=TOO_MUCH_CODE, message="Too many streams are open", data=hint)
        self._open += 1
        try:
            return await self._listen(request, params, uris)
        finally:
            self._open -= 1

    async def _listen(
        self, request: ServerRequest, params: types.SubscriptionsListenRequestParams, uris: Collection[str]
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

    async def _context(self) -> ProjectSnapshot | None:
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

    async def _changed(self, group: TaskGroup, before: ProjectSnapshot, after: ProjectSnapshot) -> None:
        ##= man/spec/mcp.md#freshness
        ##% The server MUST notify a client when a resource that it has subscribed to changes, and when specifications,
        ##% requirements or citations come or go.
        async for uri in self._watched.changed(after):
            await self._bus.publish(ResourceUpdated(uri=uri))
            self._put(group, uri, [one for one in self._outboxes.values() if uri in one.uris])
        if have_lists_changed(before, after):
            await self._bus.publish(ResourcesListChanged())
            self._put(group, RESOURCES, self._outboxes.values())
        if self._registry is not self._desk.registry:
            ##= man/spec/service.md#configuration
            ##% The server MUST apply a valid edit of its configuration from the next request on, except for `uploads`
            ##% and `store` over HTTP, notify its clients, and keep the previous configuration after an invalid edit.
            self._registry = self._desk.registry
            for event, kind in ((ToolsListChanged(), TOOLS), (PromptsListChanged(), PROMPTS)):
                await self._bus.publish(event)
                self._put(group, kind, self._outboxes.values())

    def _put(self, group: TaskGroup, uri: str, outboxes: Iterable[Outbox]) -> None:
        for outbox in outboxes:
            if outbox.put(uri):
                ##= man/spec/mcp.md#freshness
                ##% The server MUST notify each client independently of slow ones, over HTTP as soon as the client opens
                ##% a stream.
                group.start_soon(outbox.deliver)


def _check(uris: Collection[str]) -> None:
    """Refuse what can be no URI, and more than one client can need."""
    if len(uris) > _MOST_URIS:
        ##= man/spec/mcp.md#limits
        ##% The server MUST refuse more than 1,000 subscriptions of a client with the error -32602, and more than 1,000
        ##% streams with -32010.
        raise MCPError(code=types.INVALID_PARAMS, message=f"No more than {_MOST_URIS:,} resources can be subscribed to")
    for uri in uris:
        try:
            parse_resource_request(uri)
        except QueryError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=error.message, data={"hint": error.hint}) from error
