"""`/api/mcp` and `/api/v1`: tools and reports as plain HTTP."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

import anyio
import msgspec
from starlette.types import Receive, Scope, Send

from duvet.server.backpressure import current_scopes, current_token_holder
from duvet.server.http.guards import HttpRefusal, get_headers, send_json, send_refusal
from duvet.server.messages import InvalidMessageError, ServerIdentity, decode_message
from duvet.server.protocol.session import PROTOCOL_LOGGER
from duvet.text import shorten_text
from duvet.tools.call_context import Caller
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.gateway import AUDIENCE_HEADER
from duvet.tools.knowledge.index import NOTHING_INGESTED
from duvet.tools.packs import Registry
from duvet.tools.schemas import input_schema
from duvet.tools.tool import MCP_SOURCE, REST_SOURCE, ErrorCode, MissingArgumentError, Tool, ToolError, split_answer

REST_PATH = "/api/mcp"
REQUEST_ID_HEADER = "x-request-id"
_LONGEST_ID = 128
STATUS_BY_CODE = {
    ErrorCode.INVALID_REQUEST: 400,
    ErrorCode.INVALID_IDENTIFIER: 400,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.RECIPE_NOT_FOUND: 404,
    ErrorCode.UNAUTHORIZED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.UNSUPPORTED_OPERATION: 400,
    ErrorCode.ASSERT_FAILED: 409,
    ErrorCode.TIMEOUT: 504,
}
_FAILED = 503
"""Something that an answer needs did not do what it should."""
REST_METHODS = ("GET", "HEAD", "POST")
UNEXPECTED_ERROR = HttpRefusal(status=500, code=ErrorCode.UPSTREAM_ERROR, message="Internal server error")


class _Asked(msgspec.Struct, frozen=True):
    """A call as it is sent."""

    tool: str
    input: dict[str, Any] = msgspec.field(default_factory=dict)


class RestEndpoint:
    """Shows which tools there are, and calls them."""

    def __init__(self, desk: ToolDispatcher, identity: ServerIdentity) -> None:
        self._desk = desk
        self._identity = identity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            await self._post_while_there(scope, receive, send)
        else:
            await send_json(send, 200, msgspec.json.encode(self._manifest(await self._desk.tools())))

    def _manifest(self, registry: Registry) -> dict[str, Any]:
        ##= man/spec/service.md#rest
        ##% `GET /api/mcp` MUST list the tools that the caller may call, with name, description and input schema.
        granted = current_scopes()
        return {
            "name": self._identity.name,
            "version": self._identity.version,
            "description": self._identity.description,
            ##= man/spec/pages.md#tools
            ##% The server MUST show the pack `pages` to MCP clients when the project has pages or the pack is
            ##% requested, and always on `/api/mcp`.
            "tools": [_described(tool) for tool in registry.usable() if tool.scope in granted],
        }

    async def _post_while_there(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = (await receive())["body"]
        async with anyio.create_task_group() as tasks:
            ##= man/spec/service.md#rest
            ##% The server MUST cancel a call when its client disconnects, and answer calls that it cannot finish before
            ##% it stops with 503 and `Retry-After`.
            tasks.start_soon(_cancel_once_left, receive, tasks.cancel_scope)
            await self._post(scope, body, send)
            tasks.cancel_scope.cancel()

    async def _post(self, scope: Scope, body: bytes, send: Send) -> None:
        request = _request_id(scope)
        told = {REQUEST_ID_HEADER: request}
        try:
            asked = _asked(body)
            caller = Caller(
                scopes=current_scopes(),
                face=REST_SOURCE,
                behind=_behind(scope),
                request=request,
                holder=current_token_holder(),
            )
            tool = await self._required(asked, caller)
            found = await self._desk.call(tool.name, asked.input, caller)
        except ToolError as error:
            await send_refusal(scope, send, _refusal(error, told))
        except Exception:  # noqa: BLE001 - the caller is told nothing of it
            PROTOCOL_LOGGER.exception("%s failed", REST_PATH)
            await send_refusal(scope, send, UNEXPECTED_ERROR)
        else:
            ##= man/spec/service.md#rest
            ##% A call by `POST /api/mcp` MUST return the object or the bare array of the tool as its `result`.
            await send_json(send, 200, msgspec.json.encode({"status": "ok", **split_answer(found)}), told)

    async def _required(self, asked: _Asked, caller: Caller) -> Tool:
        try:
            return await self._desk.require(asked.tool, asked.input, caller)
        except ToolError as error:
            message = f"Unknown tool: {shorten_text(asked.tool)}. The tool is not found"
            raise ToolError(ErrorCode.INVALID_REQUEST, message, error.hint) from error


async def _cancel_once_left(receive: Receive, calling: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    calling.cancel()


def _asked(body: bytes) -> _Asked:
    ##= man/spec/service.md#rest
    ##% The server MUST answer 400 for a body that is not JSON, an unknown tool and a wrong input, and 500 without
    ##% details for an unexpected failure, with `code` and `hint` beside the `error`.
    try:
        value = decode_message(body)
    except InvalidMessageError as error:
        raise ToolError(ErrorCode.INVALID_REQUEST, "Invalid JSON body: invalid request format", _SHAPE) from error
    if not isinstance(value, Mapping):
        raise ToolError(ErrorCode.INVALID_REQUEST, "Invalid request format: the body is no object", _SHAPE)
    if not isinstance(value.get("tool"), str) or not value["tool"]:
        raise ToolError(ErrorCode.INVALID_REQUEST, "Missing 'tool' field: the tool is not found", _SHAPE)
    try:
        # Null is the same as nothing.
        given = {name: value[name] for name in ("tool", "input") if value.get(name) is not None}
        return msgspec.convert(given, _Asked)
    except msgspec.ValidationError as error:
        raise ToolError(ErrorCode.INVALID_REQUEST, "Invalid request format: 'input' is no object", _SHAPE) from error


_SHAPE = 'send {"tool": NAME, "input": {...}}'


def _refusal(error: ToolError, told: Mapping[str, str]) -> HttpRefusal:
    message = error.message
    if isinstance(error, MissingArgumentError):
        message = f"Missing required parameter: {error.argument}"
    return HttpRefusal(
        status=STATUS_BY_CODE.get(error.code, _FAILED),
        code=error.code,
        message=message,
        hint=error.hint,
        headers=tuple(told.items()),
        details=error.details,
    )


def _described(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": {"properties": {}, "required": [], **input_schema(tool)},
        "scope": tool.scope.value,
    }


def _behind(scope: Scope) -> str:
    """The face of a server that has this one called, where its clients pay for each word."""
    ##= man/spec/knowledge.md#answers
    ##% For MCP clients these tools MUST cut long lists, forwarded ones too, to about 4,000 tokens unless `limit` asks
    ##% for more, and say so.
    return MCP_SOURCE if get_headers(scope, AUDIENCE_HEADER.encode()) == [MCP_SOURCE] else ""


def _request_id(scope: Scope) -> str:
    """What the caller knows the request by, or else we."""
    given = get_headers(scope, REQUEST_ID_HEADER.encode())
    is_plain = len(given) == 1 and 0 < len(given[0]) <= _LONGEST_ID and given[0].isascii() and given[0].isprintable()
    return given[0] if is_plain else uuid.uuid4().hex


COVERAGE_PATH, LIFECYCLE_PATH, HISTORY_PATH = "/api/v1/coverage", "/api/v1/lifecycle", "/api/v1/lifecycle/history"
REPORT_PATHS = (COVERAGE_PATH, LIFECYCLE_PATH, HISTORY_PATH)
_TOOLS = {
    COVERAGE_PATH: "km-coverage-summary",
    LIFECYCLE_PATH: "km-lifecycle-report",
    HISTORY_PATH: "km-lifecycle-report",
}
_USUAL, _MOST = 10, 100
_NUMBER = re.compile("[0-9]{1,9}")


class ReportEndpoint:
    """Answers with what the tools that report answer."""

    def __init__(self, desk: ToolDispatcher) -> None:
        self._desk = desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        try:
            ##= man/spec/gateway.md#access
            ##% `GET /api/v1/coverage`, `/api/v1/lifecycle` and `/api/v1/lifecycle/history` MUST return these reports to
            ##% callers who may use their tools, and 404 before the first ingest run.
            found = await self._found(path, _limit(scope) if path == HISTORY_PATH else None)
        except ToolError as error:
            await send_refusal(scope, send, _reports_refusal(path, error))
        except Exception:  # noqa: BLE001 - the caller is told nothing of it
            ##= man/spec/gateway.md#access
            ##% Answers and log lines MUST NOT contain tokens nor, apart from `stored_path` and the reason why an index
            ##% cannot be read, the folder of the project or the text of exceptions.
            PROTOCOL_LOGGER.exception("%s failed", path)
            await send_refusal(scope, send, UNEXPECTED_ERROR)
        else:
            await send_json(send, 200, msgspec.json.encode(found))

    async def _found(self, path: str, limit: int | None) -> object:
        given: dict[str, Any] = {} if limit is None else {"history": limit, "limit": 1}
        caller = Caller(scopes=current_scopes(), face=REST_SOURCE)
        value = (await self._desk.call(_TOOLS[path], given, caller)).value
        return value if limit is None else {"status": "ok", "history": _history(value)}


def _history(report: object) -> object:
    value: Mapping[str, Any] = msgspec.to_builtins(report)
    return value["history"]


def _limit(scope: Scope) -> int:
    """How many earlier reports are asked for; ToolError where that is no number of them."""
    given = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True).get("limit", [str(_USUAL)])
    if len(given) != 1 or not _NUMBER.fullmatch(given[0]) or not 1 <= int(given[0]) <= _MOST:
        raise ToolError(ErrorCode.INVALID_REQUEST, "limit is no number of reports", f"give one from 1 to {_MOST}")
    return int(given[0])


def _reports_refusal(path: str, error: ToolError) -> HttpRefusal:
    is_off = error.code is ErrorCode.NOT_FOUND
    if is_off or error.message == NOTHING_INGESTED:
        message = f"{'Coverage' if path == COVERAGE_PATH else 'Lifecycle'} report not found"
        hint = f"{_TOOLS[path]}, of the pack `knowledge`, is switched off" if is_off else error.hint
        return HttpRefusal(status=404, code=ErrorCode.NOT_FOUND, message=message, hint=hint)
    status = STATUS_BY_CODE.get(error.code, 503)
    return HttpRefusal(status=status, code=error.code, message=error.message, hint=error.hint)
