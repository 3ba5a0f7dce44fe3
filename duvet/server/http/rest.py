"""`/api/mcp` and `/api/v1`: tools and reports for HTTP clients without MCP."""

from __future__ import annotations

import re
import uuid
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import anyio
import msgspec
from msgspec.structs import replace
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from duvet.config.service_tables import ServerSection
from duvet.server import messages
from duvet.server.http import guards
from duvet.server.live_project import current_caller
from duvet.server.protocol.session import PROTOCOL_LOGGER
from duvet.text import shorten_text
from duvet.tools import arguments, gateway
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.knowledge.index import NOTHING_INGESTED
from duvet.tools.tool import MCP_SOURCE, REST_SOURCE, ErrorCode, ToolError, split_answer

REST_PATH = "/api/mcp"
REST_METHODS = ("GET", "HEAD", "POST")
REQUEST_ID_HEADER = "x-request-id"
_SHAPE = 'send {"tool": NAME, "input": {...}}'
_COVERAGE_PATH, _HISTORY_PATH = "/api/v1/coverage", "/api/v1/lifecycle/history"
_REPORT_TOOLS = {
    _COVERAGE_PATH: "km-coverage-summary",
    "/api/v1/lifecycle": "km-lifecycle-report",
    _HISTORY_PATH: "km-lifecycle-report",
}
REPORT_PATHS = tuple(_REPORT_TOOLS)
_DEFAULT_LIMIT, _MAX_LIMIT = 10, 100
_NUMBER = re.compile("[0-9]{1,9}")


class RestEndpoint:
    def __init__(self, dispatcher: ToolDispatcher, settings: ServerSection) -> None:
        self._dispatcher = dispatcher
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await guards.send_body(send, 200, msgspec.json.encode(await self._describe_tools()))
            return
        ids = Headers(scope=scope).getlist(REQUEST_ID_HEADER)
        is_usable = len(ids) == 1 and 0 < len(ids[0]) <= 128 and ids[0].isascii() and ids[0].isprintable()
        request_id = ids[0] if is_usable else uuid.uuid4().hex
        headers = {REQUEST_ID_HEADER: request_id}
        async with anyio.create_task_group() as tasks:
            ##= man/spec/service.md#rest
            ##% If a client disconnects during a call, the server MUST cancel the call.
            tasks.start_soon(_cancel_on_disconnect, receive, tasks.cancel_scope)
            await _send_result(
                scope,
                send,
                lambda: self._call(scope, request_id),
                lambda error: guards.make_tool_refusal(error, headers),
                headers,
            )
            tasks.cancel_scope.cancel()

    async def _describe_tools(self) -> dict[str, Any]:
        ##= man/spec/service.md#rest
        ##% `GET /api/mcp` MUST list the tools that the caller may call, with the name, description and input schema of
        ##% each.
        granted, registry = current_caller().scopes, await self._dispatcher.tools()
        return {
            "name": self._settings.name,
            "version": self._settings.version,
            "description": self._settings.description,
            ##= man/spec/pages.md#tools
            ##% On `/api/mcp`, the server MUST offer the pack `pages` unless the configuration disables it.
            "tools": [
                {
                    "name": tool.name,
                    "title": tool.title,
                    "description": tool.description,
                    "inputSchema": {"properties": {}, "required": [], **arguments.make_client_schema(tool)},
                    "scope": tool.scope.value,
                }
                for tool in registry.list_usable()
                if tool.scope in granted
            ],
        }

    async def _call(self, scope: Scope, request_id: str) -> object:
        try:
            call = messages.decode_message(scope["body"])
        except messages.InvalidMessageError as error:
            raise ToolError(ErrorCode.INVALID_REQUEST, "Invalid JSON body: invalid request format", _SHAPE) from error
        if not isinstance(call, dict):
            raise ToolError(ErrorCode.INVALID_REQUEST, "Invalid request format: the body is not an object", _SHAPE)
        name, arguments = call.get("tool"), call.get("input")
        if not isinstance(name, str) or not name:
            raise ToolError(
                ErrorCode.INVALID_REQUEST, "Tool not found: the field 'tool' is missing or not a name", _SHAPE
            )
        if not isinstance(arguments, dict | None):
            raise ToolError(ErrorCode.INVALID_REQUEST, "Invalid request format: 'input' is not an object", _SHAPE)
        arguments = arguments or {}
        behind = MCP_SOURCE if Headers(scope=scope).getlist(gateway.AUDIENCE_HEADER) == [MCP_SOURCE] else ""
        caller = replace(current_caller(), face=REST_SOURCE, behind=behind, request=request_id)
        try:
            tool = await self._dispatcher.require(name, arguments, caller)
        except ToolError as error:
            message = f"Tool not found: {shorten_text(name)}"
            raise ToolError(ErrorCode.INVALID_REQUEST, message, error.hint) from error
        answer = await self._dispatcher.call_tool(tool, arguments, caller)
        ##= man/spec/service.md#rest
        ##% `POST /api/mcp` MUST return the answer of the called tool as `result`, which is an object or a bare array.
        return {"status": "ok", **split_answer(answer)}


async def _cancel_on_disconnect(receive: Receive, call: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    call.cancel()


async def _send_result(
    scope: Scope,
    send: Send,
    call: Callable[[], Awaitable[object]],
    refuse: Callable[[ToolError], guards.HttpRefusal],
    headers: Mapping[str, str] | None = None,
) -> None:
    try:
        result = await call()
    except ToolError as error:
        await guards.send_refusal(scope, send, refuse(error))
    except Exception:  # noqa: BLE001 - clients must not see internals
        PROTOCOL_LOGGER.exception("%s failed", scope["path"])
        await guards.send_refusal(
            scope, send, guards.HttpRefusal(500, ErrorCode.UPSTREAM_ERROR, "Internal server error")
        )
    else:
        await guards.send_body(send, 200, msgspec.json.encode(result), headers)


async def serve_report(dispatcher: ToolDispatcher, scope: Scope, receive: Receive, send: Send) -> None:
    await _send_result(scope, send, lambda: _get_report(dispatcher, scope), partial(_refuse_report, scope["path"]))


async def _get_report(dispatcher: ToolDispatcher, scope: Scope) -> object:
    ##= man/spec/gateway.md#access
    ##% `GET /api/v1/coverage`, `/api/v1/lifecycle` and `/api/v1/lifecycle/history` MUST return the stored reports to
    ##% callers that may call the corresponding tools.
    path, arguments = scope["path"], {}
    if path == _HISTORY_PATH:
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        limits = query.get("limit", [str(_DEFAULT_LIMIT)])
        if len(limits) != 1 or not _NUMBER.fullmatch(limits[0]) or not 1 <= int(limits[0]) <= _MAX_LIMIT:
            message = f"limit must be a number from 1 to {_MAX_LIMIT}"
            raise ToolError(ErrorCode.INVALID_REQUEST, message, f"omit it to get the last {_DEFAULT_LIMIT} reports")
        arguments = {"history": int(limits[0]), "limit": 1}
    report = (await dispatcher.call(_REPORT_TOOLS[path], arguments, replace(current_caller(), face=REST_SOURCE))).value
    return {"status": "ok", "history": msgspec.to_builtins(report)["history"]} if arguments else report


def _refuse_report(path: str, error: ToolError) -> guards.HttpRefusal:
    is_off = error.code is ErrorCode.NOT_FOUND
    if not is_off and error.message != NOTHING_INGESTED:
        return replace(guards.make_tool_refusal(error, {}), message=error.message, details=None)
    message = f"{'Coverage' if path == _COVERAGE_PATH else 'Lifecycle'} report not found"
    hint = f"enable {_REPORT_TOOLS[path]} in the pack `knowledge`" if is_off else error.hint
    return guards.HttpRefusal(404, ErrorCode.NOT_FOUND, message, hint)
