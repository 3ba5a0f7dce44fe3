"""The MCP server: tools, prompts, completions."""

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

from duvet.prompts import library
from duvet.prompts.content import fill_prompt
from duvet.prompts.library import SYSTEM_PROMPT, Prompt, check_prompt_request, describe_prompt, load_prompts
from duvet.server.backpressure import current_scopes, current_token_holder
from duvet.server.live_project import LiveProject
from duvet.server.messages import ServerIdentity
from duvet.server.protocol.resources import ResourcesPart, Subscriptions
from duvet.server.protocol.sampling import ModelWantedError, attach_client_model, deliver_model_answers, make_state_seal
from duvet.server.protocol.session import (
    BackgroundPart,
    LoggingPart,
    ServerPart,
    ServerRequest,
    StreamingPart,
    guard_request,
    refuse_cursor,
)
from duvet.server.resources.templates import complete_variable
from duvet.tools.call_context import Caller, ProgressCallback
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry
from duvet.tools.schemas import input_schema, output_schema
from duvet.tools.tool import MCP_SOURCE, Tool, ToolAnswer, ToolError, make_structured_content


def describe_tool(tool: Tool) -> types.Tool:
    """The tool as `tools/list` shows it."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool),
        output_schema=output_schema(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.only_reads,
            destructive_hint=tool.replaces,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=False,
        ),
        _meta=_more(tool) or None,
    )


def _more(tool: Tool) -> dict[str, Any]:
    """What else its pack says of it."""
    said = {"labels": tool.labels, "safetyNotes": tool.safety_notes, "invocationHints": tool.invocation_hints}
    return {f"duvet/{name}": list(words) for name, words in said.items() if words}


_REFUSES_DOTS = re.compile(
    "claude|anthropic|openai|codex|cursor|vscode|visual studio code|windsurf|gemini", re.IGNORECASE
)
"""Clients that hand names on to models whose tools have letters, digits, `_` and `-` in their names alone."""


def name_for_client(request: ServerRequest, tool: Tool, described: types.Tool) -> types.Tool:
    """The tool by the name that this client can use; it is found by each of them."""
    params = request.session.client_params
    ##= man/spec/service.md#workflows
    ##% The server MUST offer a workflow as the tool `workflow.NAME` and as `workflow_NAME`, to callers who may call
    ##% every tool in it.
    if "." not in tool.name or not tool.aliases or not params or not _REFUSES_DOTS.search(params.client_info.name):
        return described
    return described.model_copy(update={"name": tool.aliases[0]})


def make_tool_result(answer: ToolAnswer) -> types.CallToolResult:
    """The answer: its JSON, the next step in a line, and the same for programs."""
    ##= man/spec/mcp.md#tools
    ##% The first block of a result MUST be the JSON of the answer and nothing else, and a second block MAY add the next
    ##% step or a note.
    notes = " ".join(filter(None, [answer.warning, answer.next_step]))
    blocks = [json.encode(answer.value).decode(), *filter(None, [notes])]
    return types.CallToolResult(
        content=[types.TextContent(text=block) for block in blocks], structured_content=make_structured_content(answer)
    )


def make_error_result(error: ToolError) -> types.CallToolResult:
    """What went wrong, and what to do."""
    ##= man/spec/mcp.md#errors
    ##% A tool that fails MUST return `isError` and a JSON block whose `error` has a `code`, a `message` and a `hint`
    ##% without commands; an unknown tool MUST be the protocol error -32602.
    details = {} if error.details is None else {"details": error.details}
    told = {"code": error.code.value, "message": error.message, "hint": error.hint, **details}
    value = {"status": "error", "error": told}
    # No structured content: clients hold it against the schema of answers, and this is none.
    return types.CallToolResult(content=[types.TextContent(text=json.encode(value).decode())], is_error=True)


class ToolsPart:
    """Serves the tools of a desk."""

    def __init__(self, desk: ToolDispatcher) -> None:
        self._desk = desk
        self._registry: Registry | None = None
        self._described: dict[str, types.Tool] = {}

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("tools/list", types.PaginatedRequestParams, self.list)
        server.add_request_handler("tools/call", types.CallToolRequestParams, self.call)
        # Without this, the SDK lists all tools for every call over HTTP, to look at the parameters of one.
        server.get_tool_input_schema = self.input_schema

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """What a tool takes; None where there is no such tool."""
        known = self._descriptions(self._desk.registry).get(name)
        return known.input_schema if known else None

    def _descriptions(self, registry: Registry) -> dict[str, types.Tool]:
        """Made once for each registry."""
        if registry is not self._registry:
            self._described = {tool.name: describe_tool(tool) for tool in registry.every()}
            self._registry = registry
        return self._described

    async def list(self, request: ServerRequest, params: types.PaginatedRequestParams) -> types.ListToolsResult:
        refuse_cursor(params)
        granted, described = current_scopes(), self._descriptions(await self._desk.tools())
        shown = [
            name_for_client(request, tool, described[tool.name]) for tool in self._desk.shown() if tool.scope in granted
        ]
        return types.ListToolsResult(tools=shown)

    async def call(
        self, request: ServerRequest, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        arguments = params.arguments or {}
        caller = Caller(
            scopes=current_scopes(),
            face=MCP_SOURCE,
            holder=current_token_holder(),
            request=str(request.request_id),
            progress=_progress(request),
        )
        tool = await self._required(params.name, arguments, caller)
        try:
            return make_tool_result(
                await self._desk.call_tool(tool, arguments, attach_client_model(caller, request, params))
            )
        except ToolError as error:
            return make_error_result(error)
        except ModelWantedError as wanted:
            return wanted.result

    async def _required(self, name: str, arguments: dict[str, Any], caller: Caller) -> Tool:
        try:
            return await self._desk.require(name, arguments, caller)
        except ToolError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=error.message, data=_hint(error)) from error


def _hint(error: ToolError) -> dict[str, str] | None:
    return {"hint": error.hint} if error.hint else None


def _progress(request: ServerRequest) -> ProgressCallback:
    """Tells the client, where it wants to hear of it."""

    async def told(done: float, total: float | None, message: str) -> None:
        await request.session.report_progress(done, total, message or None)

    return told


class PromptsPart:
    """Serves the prompts, filled with what the project is like when they are asked for."""

    def __init__(self, desk: ToolDispatcher, live: LiveProject, instructions: Callable[[], str]) -> None:
        self._desk = desk
        self._live = live
        self._instructions = instructions

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("prompts/list", types.PaginatedRequestParams, self.list)
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, self.get)

    async def list(self, request: ServerRequest, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        refuse_cursor(params)
        return types.ListPromptsResult(prompts=[_described(prompt) for prompt in load_prompts()])

    async def get(self, request: ServerRequest, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        wanted = check_prompt_request(params.name, params.arguments or {})
        # What there is to say about the server needs no project that can be read.
        if wanted.name == SYSTEM_PROMPT:
            text = self._instructions()
        else:
            text = await self._live.ask(lambda context: fill_prompt(wanted, context, self._desk.registry))
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=describe_prompt(wanted.name).description, messages=[message])


def complete_argument(context: ProjectSnapshot, argument: str, value: str) -> list[str]:
    """What an argument of a prompt can be that begins so."""
    return library.complete_prompt_argument(context.catalogue, argument, value)


def _described(prompt: Prompt) -> types.Prompt:
    return types.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[
            types.PromptArgument(name=one.name, description=one.description, required=one.required)
            for one in prompt.arguments
        ],
    )


_MOST = 100
"""No more values may be sent."""


class CompletionsPart:
    """Completes the variables of templates of resources, and the arguments of prompts."""

    def __init__(self, live: LiveProject) -> None:
        self._live = live

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("completion/complete", types.CompleteRequestParams, self.complete)

    async def complete(self, request: ServerRequest, params: types.CompleteRequestParams) -> types.CompleteResult:
        found = await self._live.ask(lambda context: self._values(context, params))
        values = list(found[:_MOST])
        completion = types.Completion(values=values, total=len(found), has_more=len(found) > len(values))
        return types.CompleteResult(completion=completion)

    def _values(self, context: ProjectSnapshot, params: types.CompleteRequestParams) -> Sequence[str]:
        asked = params.argument
        if isinstance(params.ref, types.PromptReference):
            # Arguments of one name mean the same in every prompt, and what no prompt asks for has no completions.
            return complete_argument(context, asked.name, asked.value)
        given = (params.context and params.context.arguments) or {}
        ##= man/spec/mcp.md#resources
        ##% The server MUST complete the variables of resource templates and the arguments of prompts with names from
        ##% the project.
        return complete_variable(context, params.ref.uri, asked.name, asked.value, given)


class VersionPin:
    """Answers every handshake with one version."""

    def __init__(self, version: str) -> None:
        self._version = version

    async def __call__(self, ctx: ServerRequest, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method != "initialize" or not isinstance(result, dict):
            return result
        ##= man/spec/mcp.md#handshake
        ##% The server MUST use the version of the protocol that the configuration names, or else the one that the
        ##% client requests if the server supports it.
        return {**result, "protocolVersion": self._version}


class DuvetServer(Server[Any]):
    """A server of the SDK that says what it can do whoever asks, and hands every question on to its parts."""

    def __init__(
        self,
        identity: ServerIdentity,
        instructions: str | Callable[[], str],
        live: LiveProject,
        desk: ToolDispatcher,
        *,
        parts: Sequence[ServerPart] = (),
    ) -> None:
        """Parts that are handed over come last, and may replace what others answer."""
        self._instructions = instructions
        super().__init__(
            identity.name,
            version=identity.version,
            title=identity.title,
            description=identity.description,
            lifespan=_running,
        )
        self.identity = identity
        self.live = live
        self.desk = desk
        self.subscriptions = Subscriptions(live, desk)
        self.parts: Sequence[ServerPart] = (
            ToolsPart(desk),
            ResourcesPart(live),
            PromptsPart(desk, live, self._told),
            CompletionsPart(live),
            LoggingPart(),
            self.subscriptions,
            *parts,
        )
        pinned = [VersionPin(identity.protocol_version)] if identity.protocol_version else []
        # In this order, the outermost first; what the SDK brings along is for a kind of measuring that nobody does here.
        self.middleware[:] = [guard_request, *pinned, make_state_seal(identity.name), deliver_model_answers]
        for part in self.parts:
            part.register(self)

    @property
    def instructions(self) -> str | None:
        """What an agent should know before it begins, as of now."""
        return self._told()

    @instructions.setter
    def instructions(self, value: str | None) -> None:
        # The SDK sets what it was not given.
        assert value is None

    def _told(self) -> str:
        return self._instructions if isinstance(self._instructions, str) else self._instructions()

    def close_streams(self) -> None:
        """End every stream that would last as long as its client."""
        for part in self.parts:
            if isinstance(part, StreamingPart):
                part.close_streams()

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> types.ServerCapabilities:
        """What the parts can do, whichever transport asks."""
        # The manager of HTTP sessions asks without options.
        return super().get_capabilities(
            NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True),
            experimental_capabilities,
            extensions,
            protocol_version=protocol_version,
        )


@asynccontextmanager
async def _running(server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
    """Let the parts do what they do beside the requests, and close what these have opened, once for all clients."""
    assert isinstance(server, DuvetServer)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(server.desk.aclose)
        for part in server.parts:
            if isinstance(part, BackgroundPart):
                await stack.enter_async_context(part.running())
        yield {}
