"""`tools/list` and `tools/call`."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from duvet.server.caller import holder, scopes
from duvet.server.protocol.descriptions import description
from duvet.server.protocol.naming import named_for
from duvet.server.protocol.parts import Request, whole_list
from duvet.server.protocol.results import failure, result
from duvet.server.protocol.rounds import WantedError
from duvet.server.protocol.sampling import with_model
from duvet.tools.ctx import Caller, Progress
from duvet.tools.desk import Desk
from duvet.tools.errors import ToolError
from duvet.tools.faces import MCP
from duvet.tools.registry import Registry
from duvet.tools.tool import Tool


class Calls:
    """Serves the tools of a desk."""

    def __init__(self, desk: Desk) -> None:
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
            self._described = {tool.name: description(tool) for tool in registry.every()}
            self._registry = registry
        return self._described

    async def list(self, request: Request, params: types.PaginatedRequestParams) -> types.ListToolsResult:
        whole_list(params)
        granted, described = scopes(), self._descriptions(await self._desk.tools())
        shown = [named_for(request, tool, described[tool.name]) for tool in self._desk.shown() if tool.scope in granted]
        return types.ListToolsResult(tools=shown)

    async def call(
        self, request: Request, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        arguments = params.arguments or {}
        caller = Caller(
            scopes=scopes(),
            face=MCP,
            holder=holder(),
            request=str(request.request_id),
            progress=_progress(request),
        )
        tool = await self._required(params.name, arguments, caller)
        try:
            return result(await self._desk.call_tool(tool, arguments, with_model(caller, request, params)))
        except ToolError as error:
            return failure(error)
        except WantedError as wanted:
            return wanted.result

    async def _required(self, name: str, arguments: dict[str, Any], caller: Caller) -> Tool:
        try:
            return await self._desk.require(name, arguments, caller)
        except ToolError as error:
            ##= man/spec/mcp.md#errors
            ##% A tool that does not exist MUST be an error of the protocol with the code -32602, and whatever keeps one that
            ##% exists from answering a result with `isError`.
            raise MCPError(code=types.INVALID_PARAMS, message=error.message, data=_hint(error)) from error


def _hint(error: ToolError) -> dict[str, str] | None:
    return {"hint": error.hint} if error.hint else None


def _progress(request: Request) -> Progress:
    """Tells the client, where it wants to hear of it."""

    async def told(done: float, total: float | None, message: str) -> None:
        await request.session.report_progress(done, total, message or None)

    return told
