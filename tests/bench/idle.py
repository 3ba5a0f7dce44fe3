"""A server of the SDK over HTTP with a tool that does nothing, for comparison with ours. Prints its address."""

import socket
import sys
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

_Request = ServerRequestContext[Any, Any]
_TOOL = types.Tool(name="nothing", description="Does nothing.", input_schema={"type": "object"})


async def _list(request: _Request, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_TOOL])


async def _call(request: _Request, params: types.CallToolRequestParams) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text="{}")])


def main() -> None:
    server = Server[Any]("idle", version="1", on_list_tools=_list, on_call_tool=_call)
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(f"serving http://127.0.0.1:{listening.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="critical", access_log=False)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
