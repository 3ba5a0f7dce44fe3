"""Resources and subscriptions to them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server import subscriptions
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import json, to_builtins

from duvet.errors import ConfigAbsentError, DuvetError, NotFoundError, QueryError
from duvet.server import live_project, messages
from duvet.server.protocol.session import ServerRequest, call_part, get_connection, refuse_cursor
from duvet.server.resources import documents, tree
from duvet.server.resources.templates import UriTemplate
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry
from duvet.tools.tool import ResultPage, find_server_hint

if TYPE_CHECKING:
    from duvet.tools.pages import PageListRow

_NOT_FOUND = -32002  # The code in versions with a handshake; later versions use that of invalid parameters.


RESOURCES, TOOLS, PROMPTS = "resources", "tools", "prompts"  # Names of lists; they can't be URIs, which have a colon.
MAX_SUBSCRIPTIONS = 1_000  # Maximum number of open streams.
_MAX_URIS = 1_000  # Maximum number of resources that a client may subscribe to, or name for one stream.


class ListResourcesParams(types.PaginatedRequestParams):
    path: str | None = None


class GetResourceParams(types.RequestParams):
    path: str | None = None
    uri: str | None = None


class ResourcesPart:
    def __init__(self, live: live_project.LiveProject, dispatcher: ToolDispatcher) -> None:
        self._live = live
        self._dispatcher = dispatcher

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("resources/list", ListResourcesParams, self.list)
        server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, self.templates)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, self.read)
        server.add_request_handler("resources/get", GetResourceParams, self.get)

    async def list(self, request: ServerRequest, params: ListResourcesParams) -> types.ListResourcesResult:
        registry = await self._dispatcher.tools()
        resources, page = [*_list_pack_resources(registry, params)], ResultPage(0)
        if params.path is None and registry.has_only_pages:
            rows, page = await self._live.ask(lambda context: documents.list_page_resources(context, params.cursor))
            resources += map(_make_page_resource, rows)
            return types.ListResourcesResult(resources=resources, next_cursor=page.next_cursor)
        if params.path is None and not registry.has_trace:
            return types.ListResourcesResult(resources=resources)
        try:
            with _report_missing(request, params.path or ""):
                _require_trace(registry)
                descriptions, page = await self._live.ask(lambda context: _list_resources(context, params))
            resources += map(_make_resource, descriptions)
        except ConfigAbsentError:
            pass
        return types.ListResourcesResult(resources=resources, next_cursor=page.next_cursor)

    async def templates(
        self, request: ServerRequest, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        refuse_cursor(params)
        templates = documents.list_templates(await self._dispatcher.tools())
        return types.ListResourceTemplatesResult(resource_templates=list(map(_make_template, templates)))

    async def read(self, request: ServerRequest, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        registry = await self._dispatcher.tools()
        if params.uri in registry.resources:
            one, pack = registry.resources[params.uri]
            text = await call_part(self._dispatcher, one.tool, pack, {}, request)
            return types.ReadResourceResult(
                contents=[types.TextResourceContents(uri=params.uri, mime_type=one.mime_type, text=text)]
            )
        if documents.is_page_uri(params.uri):
            with _report_missing(request, params.uri):
                text = await self._live.ask(lambda context: documents.read_page_resource(context, params.uri))
            return types.ReadResourceResult(
                contents=[types.TextResourceContents(uri=params.uri, mime_type=documents.PAGE_MIME_TYPE, text=text)]
            )
        value, page = await self._read(request, params.uri)
        meta = None
        if page is not None:
            cursor = {"next_cursor": page.next_cursor} if page.next_cursor else {}
            meta = {"duvet/page": {"total": page.total, **cursor}}
        contents = types.TextResourceContents(
            uri=params.uri, mime_type=documents.MIME_TYPE, text=json.encode(value).decode(), _meta=meta
        )
        return types.ReadResourceResult(contents=[contents])

    async def get(self, request: ServerRequest, params: GetResourceParams) -> dict[str, Any]:
        if (params.path is None) == (params.uri is None):
            raise QueryError("set `path` or `uri`")
        ##= man/spec/mcp.md#resources
        ##% `resources/get` MUST return the object or the array itself as the result.
        value, _ = await self._read(request, params.path or params.uri or "")
        plain = to_builtins(value)
        return messages.wrap_array(plain) if isinstance(plain, list) else plain

    async def _read(self, request: ServerRequest, reference: str) -> tuple[Any, ResultPage | None]:
        registry = await self._dispatcher.tools()
        with _report_missing(request, reference):
            _require_trace(registry)
            return await self._live.ask(
                lambda context: documents.read_resource(context, tree.parse_resource_request(reference))
            )


def _require_trace(registry: Registry) -> None:
    """Raise NotFoundError if the server offers no resources about requirements."""
    if registry.has_only_pages:
        raise NotFoundError("only pages are resources", hint=f"read {documents.PAGE_TEMPLATE.uri}")
    if not registry.has_trace:
        raise NotFoundError("the pack `trace` is disabled")


def _list_pack_resources(registry: Registry, params: ListResourcesParams) -> Iterator[types.Resource]:
    """Return the resources of packs, which are only on the first page of the whole list."""
    for uri, (one, _) in registry.resources.items():
        if params.path is None and params.cursor is None:
            yield types.Resource(
                uri=uri,
                name=one.tool.name,
                title=one.tool.title,
                description=one.tool.description,
                mime_type=one.mime_type,
            )


def _list_resources(
    context: ProjectSnapshot, params: ListResourcesParams
) -> tuple[Sequence[documents.ResourceDescription], ResultPage]:
    ##= man/spec/mcp.md#resources
    ##% `resources/list` MUST list every resource once, or with `path` only the resources directly below that path.
    if params.path is None:
        return documents.list_all_resources(context, params.cursor)
    request = tree.parse_resource_request(params.path)
    if request.cursor is not None:
        raise QueryError("the path contains a cursor", hint="pass `cursor` as a separate parameter")
    node = tree.find_resource_node(tree.get_resource_tree(context), request)
    return documents.list_resources_below(context, node, params.cursor, request.limit)


@contextmanager
def _report_missing(request: ServerRequest, reference: str) -> Iterator[None]:
    try:
        yield
    except NotFoundError as error:
        is_modern = request.protocol_version in MODERN_PROTOCOL_VERSIONS
        message = ": ".join(filter(None, ["Resource not found", error.message, find_server_hint(error)]))
        raise MCPError(types.INVALID_PARAMS if is_modern else _NOT_FOUND, message, {"uri": reference}) from error


def _make_template(one: UriTemplate) -> types.ResourceTemplate:
    mime_type = documents.PAGE_MIME_TYPE if one is documents.PAGE_TEMPLATE else documents.MIME_TYPE
    return types.ResourceTemplate(
        uri_template=one.uri, name=one.name, title=one.title, description=one.description, mime_type=mime_type
    )


def _make_page_resource(row: PageListRow) -> types.Resource:
    return types.Resource(
        uri=documents.make_page_uri(row.slug), name=row.slug, title=row.title, mime_type=documents.PAGE_MIME_TYPE
    )


def _make_resource(one: documents.ResourceDescription) -> types.Resource:
    return types.Resource(
        uri=one.uri,
        name=one.name,
        title=one.title,
        description=one.description,
        mime_type=documents.MIME_TYPE,
        size=one.size,
        _meta={"duvet/object": to_builtins(one.object)} if one.object else None,
    )


class Outbox:
    """The pending notifications of a client, without duplicates."""

    def __init__(self, connection: Connection, is_open: Callable[[], bool]) -> None:
        """Notifications are held back until `is_open` returns True."""
        self.uris: set[str] = set()  # The client's subscriptions.
        self._connection = connection
        self._is_open = is_open
        self._waiting: dict[str, None] = {}
        self._is_busy = False

    def put(self, uri: str) -> bool:
        """Add a notification; return True if the caller must call `deliver`."""
        self._waiting[uri] = None
        return not self._is_busy

    def drop(self, uri: str) -> None:
        self._waiting.pop(uri, None)

    async def deliver(self) -> None:
        """Send all notifications; blocks while the client doesn't read."""
        if self._is_busy:
            return
        self._is_busy = True
        try:
            while self._waiting and self._is_open():
                uri = next(iter(self._waiting))
                del self._waiting[uri]
                match uri:
                    case "resources":
                        await self._connection.send_resource_list_changed()
                    case "tools":
                        await self._connection.send_tool_list_changed()
                    case "prompts":
                        await self._connection.send_prompt_list_changed()
                    case _:
                        await self._connection.send_resource_updated(uri)
        finally:
            self._is_busy = False


class Subscriptions:
    """Notifies clients of changes, in the form that the version of their protocol requires."""

    def __init__(self, live: live_project.LiveProject, dispatcher: ToolDispatcher) -> None:
        self._live = live
        self._dispatcher = dispatcher
        self._registry = dispatcher.registry
        self._watched = live_project.WatchedResources()
        self._outboxes: dict[Connection, Outbox] = {}
        self._bus = subscriptions.InMemorySubscriptionBus()
        self._streams = subscriptions.ListenHandler(self._bus, max_subscriptions=MAX_SUBSCRIPTIONS)
        self._open_streams = 0
        self._turn = anyio.Lock()
        self._group: TaskGroup | None = None
        self.reaches: Callable[[str | None], bool] = lambda session: True  # True if a session has an open stream.

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, self.subscribe)
        server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, self.unsubscribe)
        server.add_request_handler(messages.LISTEN_METHOD, types.SubscriptionsListenRequestParams, self.listen)
        server.add_notification_handler("notifications/initialized", types.NotificationParams, self.add_client)

    @property
    def wanted(self) -> set[str]:
        return self._watched.uris

    async def add_client(self, request: ServerRequest, params: types.NotificationParams) -> None:
        self._get_outbox(get_connection(request))

    def _get_outbox(self, connection: Connection) -> Outbox:
        if connection not in self._outboxes:
            self._outboxes[connection] = Outbox(connection, lambda: self.reaches(connection.session_id))
            connection.exit_stack.callback(lambda: self._watched.remove(self._outboxes.pop(connection).uris))
        return self._outboxes[connection]

    async def subscribe(self, request: ServerRequest, params: types.SubscribeRequestParams) -> types.EmptyResult:
        context = await self._context()
        outbox = self._get_outbox(get_connection(request))
        if params.uri not in outbox.uris:
            _check_uris({*outbox.uris, params.uri})
            self._watched.add([params.uri], context)
            outbox.uris.add(params.uri)
        return types.EmptyResult()

    async def unsubscribe(self, request: ServerRequest, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        outbox = self._get_outbox(get_connection(request))
        if params.uri in outbox.uris:
            outbox.uris.remove(params.uri)
            outbox.drop(params.uri)
            self._watched.remove([params.uri])
        return types.EmptyResult()

    async def listen(
        self, request: ServerRequest, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        uris = set(params.notifications.resource_subscriptions or ())
        _check_uris(uris)
        if self._open_streams >= MAX_SUBSCRIPTIONS:
            hint = {"hint": "request notifications about several resources in one stream"}
            raise MCPError(code=messages.TOO_MUCH_CODE, message="Too many streams are open", data=hint)
        self._open_streams += 1
        try:
            self._watched.add(uris, await self._context() if uris else None)
            try:
                return await self._streams(request, params)
            finally:
                self._watched.remove(uris)
        finally:
            self._open_streams -= 1

    def deliver_to(self, session: str) -> None:
        for connection, outbox in self._outboxes.items():
            if connection.session_id == session and self._group:
                self._group.start_soon(outbox.deliver)

    def close_streams(self) -> None:
        """End each stream with a final message; clients may open new ones."""
        self._streams.close()

    async def _context(self) -> ProjectSnapshot | None:
        try:
            return await self._live.context()
        except DuvetError:
            # When the project becomes readable again, its resources have changed.
            return None

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[None]:
        """Watch the project within the block; only one of several tasks does the work."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch)
            yield
            group.cancel_scope.cancel()

    async def _watch(self) -> None:
        async with self._turn, anyio.create_task_group() as self._group:
            await self._live.watch(partial(self._notify, self._group), partial(self._notify_of_packs, self._group))

    async def _notify(self, group: TaskGroup, before: ProjectSnapshot, after: ProjectSnapshot) -> None:
        async for uri in self._watched.find_changes(after):
            await self._bus.publish(subscriptions.ResourceUpdated(uri=uri))
            self._put(group, uri, [one for one in self._outboxes.values() if uri in one.uris])
        ##= man/spec/mcp.md#freshness
        ##% The server MUST notify clients of changes to resources that they have subscribed to, and of new and removed
        ##% specifications, requirements, citations and pages.
        have_changed = (
            documents.have_pages_changed if self._dispatcher.registry.has_only_pages else documents.have_lists_changed
        )
        if have_changed(before, after):
            await self._bus.publish(subscriptions.ResourcesListChanged())
            self._put(group, RESOURCES, self._outboxes.values())

    async def _notify_of_packs(self, group: TaskGroup) -> None:
        if self._registry is not self._dispatcher.registry:
            self._registry = self._dispatcher.registry
            for event, kind in (
                (subscriptions.ResourcesListChanged(), RESOURCES),
                (subscriptions.ToolsListChanged(), TOOLS),
                (subscriptions.PromptsListChanged(), PROMPTS),
            ):
                await self._bus.publish(event)
                self._put(group, kind, self._outboxes.values())

    def _put(self, group: TaskGroup, uri: str, outboxes: Iterable[Outbox]) -> None:
        for outbox in outboxes:
            if outbox.put(uri):
                group.start_soon(outbox.deliver)


def _check_uris(uris: Collection[str]) -> None:
    if len(uris) > _MAX_URIS:
        raise MCPError(
            code=types.INVALID_PARAMS, message=f"Too many subscriptions: the limit is {_MAX_URIS:,} resources"
        )
    for uri in uris:
        try:
            tree.parse_resource_request(uri)
        except QueryError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=error.message, data={"hint": error.hint}) from error
