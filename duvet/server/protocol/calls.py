"""`tools/list` and `tools/call`."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from duvet.errors import DuvetError
from duvet.server.caller import scopes
from duvet.server.live import Live
from duvet.server.protocol.descriptions import description
from duvet.server.protocol.parts import Request, whole_list
from duvet.server.protocol.results import failure, result
from duvet.tools.call import call
from duvet.tools.errors import ToolError, tool_error
from duvet.tools.registry import Registry
from duvet.tools.tool import Tool


class Calls:
    """Serves the tools of a registry."""

    def __init__(self, registry: Registry, live: Live) -> None:
        self._registry = registry
        self._live = live
        self._described = {tool.name: description(tool) for tool in registry}

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("tools/list", types.PaginatedRequestParams, self.list)
        server.add_request_handler("tools/call", types.CallToolRequestParams, self.call)
        # Without this, the SDK lists all tools for every call over HTTP, to look at the parameters of one.
        server.get_tool_input_schema = self.input_schema

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """What a tool takes; None where there is no such tool."""
        known = self._described.get(name)
        return known.input_schema if known else None

    async def list(self, request: Request, params: types.PaginatedRequestParams) -> types.ListToolsResult:
        whole_list(params)
        granted = scopes()
        shown = [self._described[tool.name] for tool in self._registry if tool.scope in granted]
        return types.ListToolsResult(tools=shown)

    async def call(self, request: Request, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool, given, granted = self._tool(params.name), params.arguments or {}, scopes()
        try:
            return result(await self._live.ask(lambda context: call(tool, context, given, granted)))
        except ToolError as error:
            return failure(error)
        except DuvetError as error:
            return failure(tool_error(error))

    def _tool(self, name: str) -> Tool:
        try:
            return self._registry.require(name)
        except ToolError as error:
            ##= man/spec/mcp.md#errors
            ##% A tool that does not exist MUST be an error of the protocol with the code -32602, and whatever keeps one
            ##% that exists from answering a result with `isError`.
            raise MCPError(code=types.INVALID_PARAMS, message=error.message, data=_hint(error)) from error


def _hint(error: ToolError) -> dict[str, str] | None:
    return {"hint": error.hint} if error.hint else None
