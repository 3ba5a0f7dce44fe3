"""`/api/mcp`: the tools as plain HTTP, for programs that don't speak the protocol."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import anyio
import msgspec
from starlette.types import Receive, Scope, Send

from duvet.server.caller import holder, scopes
from duvet.server.http.answers import Refusal, answer, refuse
from duvet.server.http.hosts import headers_named
from duvet.server.identity import Identity
from duvet.server.messages import RefusedError, decoded
from duvet.server.protocol.guard import LOG
from duvet.text import shortened
from duvet.tools.ctx import Caller
from duvet.tools.desk import Desk
from duvet.tools.errors import Code, MissingArgumentError, ToolError
from duvet.tools.faces import MCP, REST
from duvet.tools.gateway.line import AUDIENCE
from duvet.tools.registry import Registry
from duvet.tools.results import parts_of
from duvet.tools.schemas import input_schema
from duvet.tools.tool import Tool

PATH = "/api/mcp"
REQUEST_ID = "x-request-id"
_LONGEST_ID = 128
STATUSES = {
    Code.INVALID_REQUEST: 400,
    Code.INVALID_IDENTIFIER: 400,
    Code.NOT_FOUND: 404,
    Code.RECIPE_NOT_FOUND: 404,
    Code.UNAUTHORIZED: 401,
    Code.FORBIDDEN: 403,
    Code.UNSUPPORTED_OPERATION: 400,
    Code.ASSERT_FAILED: 409,
    Code.TIMEOUT: 504,
}
_FAILED = 503
"""Something that an answer needs did not do what it should."""
METHODS = ("GET", "HEAD", "POST")
UNFORESEEN = Refusal(status=500, code=Code.UPSTREAM_ERROR, message="Internal server error")


class _Asked(msgspec.Struct, frozen=True):
    """A call as it is sent."""

    tool: str
    input: dict[str, Any] = msgspec.field(default_factory=dict)


class Rest:
    """Shows which tools there are, and calls them."""

    def __init__(self, desk: Desk, identity: Identity) -> None:
        self._desk = desk
        self._identity = identity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            await self._post_while_there(scope, receive, send)
        else:
            await answer(send, 200, msgspec.json.encode(self._manifest(await self._desk.tools())))

    def _manifest(self, registry: Registry) -> dict[str, Any]:
        ##= man/spec/service.md#rest
        ##% `GET /api/mcp` MUST list the tools that the caller may call, each with its name, its description and the
        ##% schema of its input.
        granted = scopes()
        return {
            "name": self._identity.name,
            "version": self._identity.version,
            "description": self._identity.description,
            ##= man/spec/pages.md#tools
            ##% `/api/mcp` MUST list the five tools of the pack `pages` and call them whether the pack is switched on or
            ##% not, and whether there are pages or not.
            "tools": [_described(tool) for tool in registry.usable() if tool.scope in granted],
        }

    async def _post_while_there(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = (await receive())["body"]
        async with anyio.create_task_group() as tasks:
            ##= man/spec/service.md#rest
            ##% A call whose client has left MUST be cancelled.
            tasks.start_soon(_cancel_once_left, receive, tasks.cancel_scope)
            await self._post(scope, body, send)
            tasks.cancel_scope.cancel()

    async def _post(self, scope: Scope, body: bytes, send: Send) -> None:
        request = _request_id(scope)
        told = {REQUEST_ID: request}
        try:
            asked = _asked(body)
            caller = Caller(scopes=scopes(), face=REST, behind=_behind(scope), request=request, holder=holder())
            tool = await self._required(asked, caller)
            found = await self._desk.call(tool.name, asked.input, caller)
        except ToolError as error:
            await refuse(scope, send, _refusal(error, told))
        except Exception:  # noqa: BLE001 - the caller is told nothing of it
            ##= man/spec/service.md#rest
            ##% A failure that nobody foresaw MUST be answered with 500 and nothing of what went wrong.
            LOG.exception("%s failed", PATH)
            await refuse(scope, send, UNFORESEEN)
        else:
            ##= man/spec/service.md#rest
            ##% The `result` of a call MUST be what the tool answers: the object itself, or the bare array.
            await answer(send, 200, msgspec.json.encode({"status": "ok", **parts_of(found)}), told)

    async def _required(self, asked: _Asked, caller: Caller) -> Tool:
        try:
            return await self._desk.require(asked.tool, asked.input, caller)
        except ToolError as error:
            message = f"Unknown tool: {shortened(asked.tool)}. The tool is not found"
            raise ToolError(Code.INVALID_REQUEST, message, error.hint) from error


async def _cancel_once_left(receive: Receive, calling: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    calling.cancel()


def _asked(body: bytes) -> _Asked:
    ##= man/spec/service.md#rest
    ##% A body that is not JSON, an unknown tool, and an input that is wrong or missing MUST be refused with 400 and what
    ##% is wrong.
    try:
        value = decoded(body)
    except RefusedError as error:
        raise ToolError(Code.INVALID_REQUEST, "Invalid JSON body: invalid request format", _SHAPE) from error
    if not isinstance(value, Mapping):
        raise ToolError(Code.INVALID_REQUEST, "Invalid request format: the body is no object", _SHAPE)
    if not isinstance(value.get("tool"), str) or not value["tool"]:
        raise ToolError(Code.INVALID_REQUEST, "Missing 'tool' field: the tool is not found", _SHAPE)
    try:
        # Null is the same as nothing.
        given = {name: value[name] for name in ("tool", "input") if value.get(name) is not None}
        return msgspec.convert(given, _Asked)
    except msgspec.ValidationError as error:
        raise ToolError(Code.INVALID_REQUEST, "Invalid request format: 'input' is no object", _SHAPE) from error


_SHAPE = 'send {"tool": NAME, "input": {...}}'


def _refusal(error: ToolError, told: Mapping[str, str]) -> Refusal:
    message = error.message
    if isinstance(error, MissingArgumentError):
        message = f"Missing required parameter: {error.argument}"
    return Refusal(
        status=STATUSES.get(error.code, _FAILED),
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
    ##= man/spec/gateway.md#access
    ##% An answer that is forwarded to a client of the Model Context Protocol MUST be cut as if it had asked there.
    return MCP if headers_named(scope, AUDIENCE.encode()) == [MCP] else ""


def _request_id(scope: Scope) -> str:
    """What the caller knows the request by, or else we."""
    given = headers_named(scope, REQUEST_ID.encode())
    is_plain = len(given) == 1 and 0 < len(given[0]) <= _LONGEST_ID and given[0].isascii() and given[0].isprintable()
    return given[0] if is_plain else uuid.uuid4().hex
