"""`tools/list` and `tools/call`."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext

from duvet.errors import DuvetError
from duvet.server.live import Live
from duvet.server.protocol.descriptions import description
from duvet.server.protocol.results import failure, result
from duvet.tools.call import call
from duvet.tools.errors import ToolError, tool_error
from duvet.tools.registry import Registry

_Context = ServerRequestContext[Any, Any]


class Calls:
    """Serves the tools of a registry."""

    def __init__(self, registry: Registry, live: Live) -> None:
        self._registry = registry
        self._live = live
        self._described = [description(tool) for tool in registry]

    async def list(self, ctx: _Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._described)

    async def call(self, ctx: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            tool = self._registry.require(params.name)
            context = await self._live.context()
            return result(tool, call(tool, context, params.arguments or {}))
        except ToolError as error:
            return failure(error)
        except DuvetError as error:
            return failure(tool_error(error))
