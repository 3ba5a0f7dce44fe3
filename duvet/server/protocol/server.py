"""The MCP server: tools, prompts, completions, resources and subscriptions."""

from __future__ import annotations

import gc
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server import subscriptions
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import json, to_builtins

from duvet.config.service_tables import ServerSection
from duvet.errors import ConfigAbsentError, DuvetError, NotFoundError, QueryError
from duvet.prompts import content, library
from duvet.server import live_project, messages
from duvet.server.live_project import LiveProject, current_caller
from duvet.server.log import forward_logging
from duvet.server.protocol import session
from duvet.server.protocol.session import ServerRequest, call_part, refuse_cursor
from duvet.server.resources import documents, tree
from duvet.server.resources.templates import complete_variable
from duvet.tools import arguments
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry
from duvet.tools.tool import ResultPage, ToolError, find_server_hint, make_structured_content

if TYPE_CHECKING:
    from duvet.server.application import Application
    from duvet.tools.dispatcher import CallObserver

_NOT_FOUND = -32002  # The code in versions with a handshake; later versions use that of invalid parameters.


RESOURCES, TOOLS, PROMPTS = "resources", "tools", "prompts"  # Names of lists; a URI would have a colon.
MAX_SUBSCRIPTIONS = 1_000  # Maximum number of open streams.
_MAX_URIS = 1_000  # Maximum number of resources that a client may subscribe to, or name for one stream.


class ListResourcesParams(types.PaginatedRequestParams):
    path: str | None = None


class GetResourceParams(types.RequestParams):
    path: str | None = None
    uri: str | None = None


class ResourcesPart:
    def __init__(self, server: DuvetServer) -> None:
        self._live = server.live
        self._dispatcher = server.dispatcher
        server.add_request_handler("resources/list", ListResourcesParams, self.list)
        server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, self.templates)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, self.read)
        server.add_request_handler("resources/get", GetResourceParams, self.get)

    async def list(self, request: ServerRequest, params: ListResourcesParams) -> types.ListResourcesResult:
        registry, page = await self._dispatcher.tools(), ResultPage(0)
        # Those of packs are on the first page of the whole list.
        resources = [
            types.Resource(
                uri=uri,
                name=one.tool.name,
                title=one.tool.title,
                description=one.tool.description,
                mime_type=one.mime_type,
            )
            for uri, (one, _) in registry.resources.items()
            if params.path is None and params.cursor is None
        ]
        found: Sequence[dict[str, Any]] = ()
        if params.path is None and registry.has_only_pages:
            found, page = await self._live.ask(lambda context: documents.list_page_resources(context, params.cursor))
        elif params.path is not None or registry.has_trace:
            with suppress(ConfigAbsentError), _report_missing(request, params.path or ""):
                _require_trace(registry)
                found, page = await self._live.ask(
                    lambda context: documents.list_resources(context, params.path, params.cursor)
                )
        resources += [types.Resource(**fields) for fields in found]
        return types.ListResourcesResult(resources=resources, next_cursor=page.next_cursor)

    async def templates(
        self, request: ServerRequest, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        refuse_cursor(params)
        templates = [
            types.ResourceTemplate(
                uri_template=one.uri,
                name=one.name,
                title=one.title,
                description=one.description,
                mime_type=documents.PAGE_MIME_TYPE if one is documents.PAGE_TEMPLATE else documents.MIME_TYPE,
            )
            for one in documents.list_templates(await self._dispatcher.tools())
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read(self, request: ServerRequest, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        registry, mime_type, meta = await self._dispatcher.tools(), documents.MIME_TYPE, None
        if params.uri in registry.resources:
            one, pack = registry.resources[params.uri]
            text, mime_type = await call_part(self._dispatcher, one.tool, pack, {}, request), one.mime_type
        elif documents.is_page_uri(params.uri):
            mime_type = documents.PAGE_MIME_TYPE
            with _report_missing(request, params.uri):
                text = await self._live.ask(lambda context: documents.read_page_resource(context, params.uri))
        else:
            value, page = await self._read(request, params.uri)
            text = json.encode(value).decode()
            if page is not None:
                cursor = {"next_cursor": page.next_cursor} if page.next_cursor else {}
                meta = {"duvet/page": {"total": page.total, **cursor}}
        contents = types.TextResourceContents(uri=params.uri, mime_type=mime_type, text=text, _meta=meta)
        return types.ReadResourceResult(contents=[contents])

    async def get(self, request: ServerRequest, params: GetResourceParams) -> dict[str, Any]:
        if (params.path is None) == (params.uri is None):
            raise QueryError("exactly one of `path` and `uri` is required")
        ##= man/spec/mcp.md#resources
        ##% `resources/get` MUST return the resource itself, an object or an array, as the result.
        value, _ = await self._read(request, params.path or params.uri or "")
        plain = to_builtins(value)
        return {messages.ARRAY_KEY: plain} if isinstance(plain, list) else plain

    async def _read(self, request: ServerRequest, reference: str) -> tuple[Any, ResultPage | None]:
        registry = await self._dispatcher.tools()
        with _report_missing(request, reference):
            _require_trace(registry)
            return await self._live.ask(
                lambda context: documents.read_resource(context, tree.parse_resource_request(reference))
            )


def _require_trace(registry: Registry) -> None:
    if registry.has_only_pages:
        raise NotFoundError("this server has no resources except pages", hint=f"read {documents.PAGE_TEMPLATE.uri}")
    if not registry.has_trace:
        raise NotFoundError("the pack `trace` is disabled")


@contextmanager
def _report_missing(request: ServerRequest, reference: str) -> Iterator[None]:
    try:
        yield
    except NotFoundError as error:
        is_modern = request.protocol_version in MODERN_PROTOCOL_VERSIONS
        message = ": ".join(filter(None, ["Resource not found", error.message, find_server_hint(error)]))
        raise MCPError(types.INVALID_PARAMS if is_modern else _NOT_FOUND, message, {"uri": reference}) from error


class Outbox:
    def __init__(self, connection: Connection, is_open: Callable[[], bool]) -> None:
        self.uris: set[str] = set()  # The client's subscriptions.
        self.waiting: dict[str, None] = {}
        self.is_busy = False
        self._connection = connection
        self._is_open = is_open  # Notifications wait until this returns True.

    async def deliver(self) -> None:
        if self.is_busy:
            return
        self.is_busy = True
        try:
            while self.waiting and self._is_open():
                uri = next(iter(self.waiting))
                del self.waiting[uri]
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
            self.is_busy = False


class Subscriptions:
    def __init__(self, server: DuvetServer) -> None:
        self._live = server.live
        self._dispatcher = server.dispatcher
        self._registry = server.dispatcher.registry
        self.watched = live_project.WatchedResources()
        self._outboxes: dict[Connection, Outbox] = {}
        self._bus = subscriptions.InMemorySubscriptionBus()
        self.streams = subscriptions.ListenHandler(self._bus)
        self._open_streams = 0
        self._turn = anyio.Lock()
        self._group: TaskGroup | None = None
        self.reaches: Callable[[str | None], bool] = lambda session: True  # True if a session has an open stream.
        server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, self.subscribe)
        server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, self.unsubscribe)
        server.add_request_handler(messages.LISTEN_METHOD, types.SubscriptionsListenRequestParams, self.listen)
        server.add_notification_handler("notifications/initialized", types.NotificationParams, self.add_client)

    async def add_client(self, request: ServerRequest, params: types.NotificationParams) -> None:
        self._get_outbox(request.session._connection)

    def _get_outbox(self, connection: Connection) -> Outbox:
        if connection not in self._outboxes:
            self._outboxes[connection] = Outbox(connection, lambda: self.reaches(connection.session_id))
            connection.exit_stack.callback(lambda: self.watched.remove(self._outboxes.pop(connection).uris))
        return self._outboxes[connection]

    async def subscribe(self, request: ServerRequest, params: types.SubscribeRequestParams) -> types.EmptyResult:
        context = await self._context()
        outbox = self._get_outbox(request.session._connection)
        if params.uri not in outbox.uris:
            _check_uris({*outbox.uris, params.uri})
            self.watched.add([params.uri], context)
            outbox.uris.add(params.uri)
        return types.EmptyResult()

    async def unsubscribe(self, request: ServerRequest, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        outbox = self._get_outbox(request.session._connection)
        if params.uri in outbox.uris:
            outbox.uris.remove(params.uri)
            outbox.waiting.pop(params.uri, None)
            self.watched.remove([params.uri])
        return types.EmptyResult()

    async def listen(
        self, request: ServerRequest, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        uris = set(params.notifications.resource_subscriptions or ())
        _check_uris(uris)
        context = await self._context() if uris else None
        if self._open_streams >= MAX_SUBSCRIPTIONS:
            hint = {"hint": "request notifications about several resources in one stream"}
            raise MCPError(code=messages.TOO_MUCH_CODE, message="Too many streams are open", data=hint)
        self.watched.add(uris, context)
        self._open_streams += 1
        try:
            return await self.streams(request, params)
        finally:
            self._open_streams -= 1
            self.watched.remove(uris)

    def deliver_to(self, session: str) -> None:
        for connection, outbox in self._outboxes.items():
            if connection.session_id == session and self._group:
                self._group.start_soon(outbox.deliver)

    async def _context(self) -> ProjectSnapshot | None:
        try:
            return await self._live.context()
        except DuvetError:
            # When the project becomes readable again, its resources have changed.
            return None

    async def watch(self) -> None:
        """Of several callers, one watches, and the others wait to take over."""
        async with self._turn, anyio.create_task_group() as self._group:
            await self._live.watch(self._notify, self._notify_of_packs)

    async def _notify(self, before: ProjectSnapshot, after: ProjectSnapshot) -> None:
        async for uri in self.watched.find_changes(after):
            await self._publish(subscriptions.ResourceUpdated(uri=uri), uri)
        ##= man/spec/mcp.md#freshness
        ##% The server MUST notify clients of changes in subscribed resources, and of new and removed specifications,
        ##% requirements, citations and pages.
        have_changed = (
            documents.have_pages_changed if self._dispatcher.registry.has_only_pages else documents.have_lists_changed
        )
        if have_changed(before, after):
            await self._publish(subscriptions.ResourcesListChanged(), RESOURCES)

    async def _notify_of_packs(self) -> None:
        if self._registry is not self._dispatcher.registry:
            self._registry = self._dispatcher.registry
            await self._publish(subscriptions.ResourcesListChanged(), RESOURCES)
            await self._publish(subscriptions.ToolsListChanged(), TOOLS)
            await self._publish(subscriptions.PromptsListChanged(), PROMPTS)

    async def _publish(self, event: subscriptions.ServerEvent, name: str) -> None:
        await self._bus.publish(event)
        # Clients may have unsubscribed meanwhile.
        for outbox in self._outboxes.values():
            if name in outbox.uris or not isinstance(event, subscriptions.ResourceUpdated):
                outbox.waiting[name] = None
                if self._group and not outbox.is_busy:
                    self._group.start_soon(outbox.deliver)


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


_MAX_COMPLETIONS = 100
_REFUSES_DOTS = re.compile(  # Clients whose models accept only letters, digits, `_` and `-` in tool names.
    "claude|anthropic|openai|codex|cursor|vscode|visual studio code|windsurf|gemini", re.IGNORECASE
)


class DuvetServer(Server[Any]):
    def __init__(
        self, settings: ServerSection, instructions: Callable[[], str], live: LiveProject, dispatcher: ToolDispatcher
    ) -> None:
        self._instructions = instructions
        super().__init__(
            settings.name,
            version=settings.version,
            title=settings.title,
            description=settings.description,
            lifespan=_run_parts,
        )
        self.settings = settings
        self.live = live
        self.dispatcher = dispatcher
        self.subscriptions = Subscriptions(self)
        ToolsPart(self)
        ResourcesPart(self)
        PromptsPart(self)
        # The constructor's argument for this is deprecated, and prints a warning on standard error.
        self.add_request_handler("logging/setLevel", types.SetLevelRequestParams, session.set_log_level)
        # Outermost first. This replaces the SDK's middleware, which collects traces.
        self.middleware[:] = [
            session.guard_request,
            *([self._pin_version] if settings.protocol_version else []),
            ##= man/spec/service.md#models-of-clients
            ##% The server MUST refuse a request state that it did not issue for the same call.
            RequestStateBoundary(
                RequestStateSecurity.ephemeral(ttl=session.STATE_SECONDS), default_audience=settings.name
            ),
            session.deliver_model_answers,
            session.log_request,
        ]

    @property
    def instructions(self) -> str:
        return self._instructions()

    @instructions.setter
    def instructions(self, value: str | None) -> None:
        # The SDK sets defaults for missing values.
        assert value is None

    async def _pin_version(self, ctx: ServerRequest, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method != "initialize" or not isinstance(result, dict):
            return result
        ##= man/spec/mcp.md#connecting
        ##% The server MUST use the protocol version in the configuration, or else the requested version if the server
        ##% supports it, or else the server's newest version.
        return {**result, "protocolVersion": self.settings.protocol_version}

    def get_capabilities(
        self, notification_options: NotificationOptions | None = None, *more: Any, **named: Any
    ) -> types.ServerCapabilities:
        # The manager of HTTP sessions passes no options.
        changing = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        return super().get_capabilities(changing, *more, **named)


def make_server(application: Application, observers: Sequence[CallObserver]) -> DuvetServer:
    forward_logging(application.log)
    # The command line disables garbage collection for short runs. Imported modules are never freed, so freeze them.
    gc.enable()
    gc.freeze()
    dispatcher = application.make_dispatcher(observers)
    settings = application.service.config.server
    return DuvetServer(settings, application.reloader.instructions, application.live, dispatcher)


@asynccontextmanager
async def _run_parts(server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
    # The SDK runs this once for all clients.
    assert isinstance(server, DuvetServer)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(server.subscriptions.watch)
            yield {}
            group.cancel_scope.cancel()
    finally:
        await server.dispatcher.aclose()


class ToolsPart:
    def __init__(self, server: DuvetServer) -> None:
        self._dispatcher = server.dispatcher
        self._registry: Registry | None = None
        self._descriptions: dict[str, types.Tool] = {}
        server.add_request_handler("tools/list", types.PaginatedRequestParams, self.list)
        server.add_request_handler("tools/call", types.CallToolRequestParams, self.call)
        # Otherwise, for every call over HTTP, the SDK lists all tools to check the parameters of one.
        server.get_tool_input_schema = self.input_schema

    def input_schema(self, name: str) -> dict[str, Any] | None:
        description = self._describe_tools(self._dispatcher.registry).get(name)
        return description.input_schema if description else None

    def _describe_tools(self, registry: Registry) -> dict[str, types.Tool]:
        if registry is self._registry:
            return self._descriptions
        descriptions = {}
        for tool in registry.list_all():
            notes = {"labels": tool.labels, "safetyNotes": tool.safety_notes, "invocationHints": tool.invocation_hints}
            descriptions[tool.name] = types.Tool(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=arguments.make_client_schema(tool),
                output_schema=arguments.output_schema(tool),
                annotations=types.ToolAnnotations(
                    read_only_hint=tool.only_reads,
                    destructive_hint=tool.replaces,
                    idempotent_hint=tool.is_idempotent,
                    open_world_hint=False,
                ),
                _meta={f"duvet/{name}": list(words) for name, words in notes.items() if words} or None,
            )
        self._descriptions, self._registry = descriptions, registry
        return descriptions

    async def list(self, request: ServerRequest, params: types.PaginatedRequestParams) -> types.ListToolsResult:
        refuse_cursor(params)
        registry, scopes = await self._dispatcher.tools(), current_caller().scopes
        descriptions = self._describe_tools(registry)
        client = request.session.client_params
        refuses_dots = client is not None and _REFUSES_DOTS.search(client.client_info.name)
        tools = []
        for tool in registry.list_shown(self._dispatcher.environment.is_relevant):
            if tool.scope in scopes:
                described = descriptions[tool.name]
                if refuses_dots and "." in tool.name and tool.aliases:
                    described = described.model_copy(update={"name": tool.aliases[0]})
                tools.append(described)
        return types.ListToolsResult(tools=tools)

    async def call(
        self, request: ServerRequest, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        arguments, caller = params.arguments or {}, session.make_caller(request)
        try:
            tool = await self._dispatcher.require(params.name, arguments, caller)
        except ToolError as error:
            data = {"hint": error.hint} if error.hint else None
            raise MCPError(code=types.INVALID_PARAMS, message=error.message, data=data) from error
        try:
            caller = session.attach_client_model(caller, request, params)
            answer = await self._dispatcher.call_tool(tool, arguments, caller)
        except ToolError as error:
            ##= man/spec/mcp.md#answers
            ##% The server MUST answer a failed call with `isError` and a JSON block whose `error` has a `code`, a
            ##% `message` and a `hint`.
            details = {} if error.details is None else {"details": error.details}
            fields = {"code": error.code.value, "message": error.message, "hint": error.hint, **details}
            text = json.encode({"status": "error", "error": fields}).decode()
            # No structured content, because that must match the output schema.
            return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
        except session.ModelWantedError as wanted:
            return wanted.result
        ##= man/spec/mcp.md#answers
        ##% The first content block of a tool's result MUST contain only the JSON of the answer.
        content: list[types.ContentBlock] = [types.TextContent(text=json.encode(answer.value).decode())]
        if notes := " ".join(filter(None, [answer.warning, answer.next_step])):
            content.append(types.TextContent(text=notes))
        return types.CallToolResult(content=content, structured_content=make_structured_content(answer))


class PromptsPart:
    def __init__(self, server: DuvetServer) -> None:
        self._server = server
        self._dispatcher = server.dispatcher
        self._live = server.live
        server.add_request_handler("prompts/list", types.PaginatedRequestParams, self.list)
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, self.get)
        server.add_request_handler("completion/complete", types.CompleteRequestParams, self.complete)

    async def list(self, request: ServerRequest, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        refuse_cursor(params)
        registry = await self._dispatcher.tools()
        prompts = [
            types.Prompt(
                name=prompt.name,
                title=prompt.title,
                description=prompt.description,
                arguments=[
                    types.PromptArgument(name=one.name, description=one.description, required=one.required)
                    for one in prompt.arguments
                ],
            )
            for prompt in library.list_prompts(registry)
        ]
        return types.ListPromptsResult(prompts=prompts)

    async def get(self, request: ServerRequest, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        registry, arguments = await self._dispatcher.tools(), params.arguments or {}
        if params.name in registry.prompts:
            one, pack = registry.prompts[params.name]
            description = one.tool.description
            text = await call_part(self._dispatcher, one.tool, pack, arguments, request)
        else:
            if not registry.has_trace:
                library.require_prompt(params.name, [one.name for one in library.list_prompts(registry)])
            given = library.check_prompt_arguments(params.name, arguments)
            description = library.describe_prompt(params.name).description
            # The system prompt works even if the project can't be read.
            if params.name == library.SYSTEM_PROMPT:
                text = self._server.instructions
            else:
                text = await self._live.ask(
                    lambda context: content.fill_prompt(params.name, given, context, self._dispatcher.registry)
                )
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=description, messages=[message])

    async def complete(self, request: ServerRequest, params: types.CompleteRequestParams) -> types.CompleteResult:
        values = await self._live.ask(lambda context: _complete(context, params))
        completion = types.Completion(
            values=list(values[:_MAX_COMPLETIONS]), total=len(values), has_more=len(values) > _MAX_COMPLETIONS
        )
        return types.CompleteResult(completion=completion)


def _complete(context: ProjectSnapshot, params: types.CompleteRequestParams) -> Sequence[str]:
    argument = params.argument
    if isinstance(params.ref, types.PromptReference):
        # An argument name has the same meaning in every prompt; unknown names have no completions.
        return library.complete_prompt_argument(context.catalogue, argument.name, argument.value)
    if params.ref.uri == documents.PAGE_TEMPLATE.uri:
        return documents.complete_slug(context, argument.value)
    arguments = (params.context and params.context.arguments) or {}
    return complete_variable(context, params.ref.uri, argument.name, argument.value, arguments)
