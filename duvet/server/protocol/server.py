"""The MCP server: tools, prompts and completions."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.shared.exceptions import MCPError
from msgspec import json

from duvet.config.settings import ServerRule
from duvet.prompts import content, library
from duvet.server.live_project import LiveProject, current_caller
from duvet.server.protocol import session
from duvet.server.protocol.resources import ResourcesPart, Subscriptions
from duvet.server.resources import documents
from duvet.server.resources.templates import complete_variable
from duvet.tools import arguments, packs
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.tool import Tool, ToolAnswer, ToolError, make_structured_content

_MAX_COMPLETIONS = 100
_REFUSES_DOTS = re.compile(
    "claude|anthropic|openai|codex|cursor|vscode|visual studio code|windsurf|gemini", re.IGNORECASE
)
"""Clients whose models accept only letters, digits, `_` and `-` in tool names."""


class DuvetServer(Server[Any]):
    def __init__(
        self,
        rule: ServerRule,
        instructions: str | Callable[[], str],
        live: LiveProject,
        dispatcher: ToolDispatcher,
    ) -> None:
        self._instructions = instructions
        super().__init__(
            rule.name,
            version=rule.version,
            title=rule.title,
            description=rule.description,
            lifespan=_run_parts,
        )
        self.rule = rule
        self.live = live
        self.dispatcher = dispatcher
        self.subscriptions = Subscriptions(live, dispatcher)
        pinned = [VersionPin(rule.protocol_version)] if rule.protocol_version else []
        # Outermost first. This replaces the SDK's middleware, which collects traces.
        self.middleware[:] = [
            session.guard_request,
            *pinned,
            session.make_state_seal(rule.name),
            session.deliver_model_answers,
        ]
        for part in (
            ToolsPart(dispatcher),
            ResourcesPart(live, dispatcher),
            PromptsPart(dispatcher, live, self._get_instructions),
            session.LoggingPart(),
            self.subscriptions,
        ):
            part.register(self)

    @property
    def instructions(self) -> str | None:
        return self._get_instructions()

    @instructions.setter
    def instructions(self, value: str | None) -> None:
        # The SDK sets defaults for missing values.
        assert value is None

    def _get_instructions(self) -> str:
        return self._instructions if isinstance(self._instructions, str) else self._instructions()

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> types.ServerCapabilities:
        # The manager of HTTP sessions passes no options.
        return super().get_capabilities(
            NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True),
            experimental_capabilities,
            extensions,
            protocol_version=protocol_version,
        )


@asynccontextmanager
async def _run_parts(server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
    """Send notifications while the server runs, then close the services; runs once for all clients."""
    assert isinstance(server, DuvetServer)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(server.dispatcher.aclose)
        await stack.enter_async_context(server.subscriptions.watch())
        yield {}


class VersionPin:
    """Answers every handshake with the same protocol version."""

    def __init__(self, version: str) -> None:
        self._version = version

    async def __call__(self, ctx: session.ServerRequest, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method != "initialize" or not isinstance(result, dict):
            return result
        ##= man/spec/mcp.md#handshake
        ##% The server MUST use the protocol version in the configuration, or else the version that the client requests,
        ##% if the server supports it.
        return {**result, "protocolVersion": self._version}


class ToolsPart:
    def __init__(self, dispatcher: ToolDispatcher) -> None:
        self._dispatcher = dispatcher
        self._registry: packs.Registry | None = None
        self._descriptions: dict[str, types.Tool] = {}

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("tools/list", types.PaginatedRequestParams, self.list)
        server.add_request_handler("tools/call", types.CallToolRequestParams, self.call)
        # Otherwise, for every call over HTTP, the SDK lists all tools to check the parameters of one.
        server.get_tool_input_schema = self.input_schema

    def input_schema(self, name: str) -> dict[str, Any] | None:
        description = self._describe_tools(self._dispatcher.registry).get(name)
        return description.input_schema if description else None

    def _describe_tools(self, registry: packs.Registry) -> dict[str, types.Tool]:
        if registry is not self._registry:
            self._descriptions = {tool.name: describe_tool(tool) for tool in registry.list_all()}
            self._registry = registry
        return self._descriptions

    async def list(self, request: session.ServerRequest, params: types.PaginatedRequestParams) -> types.ListToolsResult:
        session.refuse_cursor(params)
        scopes, descriptions = current_caller().scopes, self._describe_tools(await self._dispatcher.tools())
        tools = [
            name_for_client(request, tool, descriptions[tool.name])
            for tool in self._dispatcher.shown()
            if tool.scope in scopes
        ]
        return types.ListToolsResult(tools=tools)

    async def call(
        self, request: session.ServerRequest, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        arguments, caller = params.arguments or {}, session.make_caller(request)
        try:
            tool = await self._dispatcher.require(params.name, arguments, caller)
        except ToolError as error:
            data = {"hint": error.hint} if error.hint else None
            raise MCPError(code=types.INVALID_PARAMS, message=error.message, data=data) from error
        try:
            caller = session.attach_client_model(caller, request, params)
            return make_tool_result(await self._dispatcher.call_tool(tool, arguments, caller))
        except ToolError as error:
            return make_error_result(error)
        except session.ModelWantedError as wanted:
            return wanted.result


def describe_tool(tool: Tool) -> types.Tool:
    notes = {"labels": tool.labels, "safetyNotes": tool.safety_notes, "invocationHints": tool.invocation_hints}
    return types.Tool(
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


def name_for_client(request: session.ServerRequest, tool: Tool, described: types.Tool) -> types.Tool:
    """Return the tool under a name that this client accepts; calls may use any of its names."""
    params = request.session.client_params
    if "." not in tool.name or not tool.aliases or not params or not _REFUSES_DOTS.search(params.client_info.name):
        return described
    return described.model_copy(update={"name": tool.aliases[0]})


def make_tool_result(answer: ToolAnswer) -> types.CallToolResult:
    """Return an answer as JSON text and as structured content; its notes are a second block."""
    ##= man/spec/mcp.md#answers
    ##% The first content block of a tool's result MUST contain only the JSON of the answer.
    notes = " ".join(filter(None, [answer.warning, answer.next_step]))
    blocks = [json.encode(answer.value).decode(), *filter(None, [notes])]
    return types.CallToolResult(
        content=[types.TextContent(text=block) for block in blocks], structured_content=make_structured_content(answer)
    )


def make_error_result(error: ToolError) -> types.CallToolResult:
    """Return an error as text only, because structured content must match the output schema."""
    ##= man/spec/mcp.md#answers
    ##% The server MUST answer a failed call with `isError` and a JSON block whose `error` has a `code`, a `message` and
    ##% a `hint`.
    details = {} if error.details is None else {"details": error.details}
    fields = {"code": error.code.value, "message": error.message, "hint": error.hint, **details}
    text = json.encode({"status": "error", "error": fields}).decode()
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


class PromptsPart:
    def __init__(self, dispatcher: ToolDispatcher, live: LiveProject, instructions: Callable[[], str]) -> None:
        self._dispatcher = dispatcher
        self._live = live
        self._instructions = instructions

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("prompts/list", types.PaginatedRequestParams, self.list)
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, self.get)
        server.add_request_handler("completion/complete", types.CompleteRequestParams, self.complete)

    async def list(
        self, request: session.ServerRequest, params: types.PaginatedRequestParams
    ) -> types.ListPromptsResult:
        session.refuse_cursor(params)
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

    async def get(self, request: session.ServerRequest, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        registry = await self._dispatcher.tools()
        if params.name in registry.prompts:
            one, pack = registry.prompts[params.name]
            text = await session.call_part(self._dispatcher, one.tool, pack, params.arguments or {}, request)
            message = types.PromptMessage(role="user", content=types.TextContent(text=text))
            return types.GetPromptResult(description=one.tool.description, messages=[message])
        if not registry.has_trace:
            library.require_prompt(params.name, [one.name for one in library.list_prompts(registry)])
        given = library.check_prompt_arguments(params.name, params.arguments or {})
        # The system prompt works even if the project can't be read.
        if params.name == library.SYSTEM_PROMPT:
            text = self._instructions()
        else:
            text = await self._live.ask(
                lambda context: content.fill_prompt(params.name, given, context, self._dispatcher.registry)
            )
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=library.describe_prompt(params.name).description, messages=[message])

    async def complete(
        self, request: session.ServerRequest, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
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
