"""The parts of a server, failures shown to clients, and log levels of clients."""

from __future__ import annotations

import logging
from contextlib import AbstractAsyncContextManager
from time import perf_counter
from typing import Any, Protocol, get_args, runtime_checkable

import mcp_types as types
from mcp.server.connection import Connection, allowed_log_levels
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from duvet.errors import DuvetError
from duvet.tools.tool import ErrorCode, ToolError, make_tool_error

ServerRequest = ServerRequestContext[Any, Any]
"""What is known of a request beside its parameters."""


class ServerPart(Protocol):
    """Answers some of the methods."""

    def register(self, server: Server[Any]) -> None:
        """Tell the server which."""


@runtime_checkable
class BackgroundPart(Protocol):
    """A part with something to do beside the requests."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Does it as long as the server runs."""


@runtime_checkable
class StreamingPart(Protocol):
    """A part that holds streams open for as long as their clients like."""

    def close_streams(self) -> None:
        """Ends them, each with its last message; more may be opened afterwards."""


def refuse_cursor(params: types.PaginatedRequestParams) -> None:
    """Refuse a cursor where the list has no parts."""
    if params.cursor is not None:
        raise MCPError(code=types.INVALID_PARAMS, message="Invalid cursor", data={"hint": "the list has no parts"})


def get_connection(request: ServerRequest) -> Connection:
    """The connection that a request came over, for what is sent to the client later or kept for it."""
    # The SDK shows it nowhere else.
    return request.session._connection


PROTOCOL_LOGGER = logging.getLogger("duvet.server")
"""Hears what clients don't: the system of logging writes it on standard error."""

_ASKED_WRONG = (ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND)


async def guard_request(ctx: ServerRequest, call_next: CallNext) -> HandlerResult:
    """Answer, or fail in words that were meant for the client."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        # The SDK says of parameters that do not fit their types only that they don't.
        raise
    except ToolError as error:
        raise _protocol_error(error) from error
    except DuvetError as error:
        raise _protocol_error(make_tool_error(error)) from error
    except Exception as error:
        ##= man/spec/mcp.md#errors
        ##% An unexpected failure MUST reach the client only as `Internal error` with the code -32603, and standard
        ##% error as one line without the text of the request.
        PROTOCOL_LOGGER.exception("%s failed", ctx.method)
        raise MCPError(code=INTERNAL_ERROR, message="Internal error") from error


def _protocol_error(error: ToolError) -> MCPError:
    number = INVALID_PARAMS if error.code in _ASKED_WRONG else INTERNAL_ERROR
    data = {"code": error.code.value, **({"hint": error.hint} if error.hint else {})}
    return MCPError(code=number, message=error.message, data=data)


_SEVERITIES = {level: number for number, level in enumerate(get_args(types.LoggingLevel))}
_KEPT_AS = "duvet/level"
_AT_FIRST: types.LoggingLevel = "warning"
_NAME = "duvet"


class LoggingPart:
    """Keeps for each connection from which level on its client wants to be told."""

    def register(self, server: Server[Any]) -> None:
        # The argument of the constructor for this is deprecated, and says so on standard error.
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self.set)
        server.middleware.append(self.narrate)

    async def set(self, request: ServerRequest, params: types.SetLevelRequestParams) -> types.EmptyResult:
        get_connection(request).state[_KEPT_AS] = params.level
        return types.EmptyResult()

    async def narrate(self, ctx: ServerRequest, call_next: CallNext) -> HandlerResult:
        """Answer, and tell how long it took, or that it failed."""
        if ctx.request_id is None or not wants_level(ctx, "info"):
            return await call_next(ctx)
        begun = perf_counter()
        try:
            result = await call_next(ctx)
        except MCPError as error:
            await send_log_message(ctx, "info", {**_asked(ctx), "failed": error.error.message})
            raise
        await send_log_message(ctx, "debug", {**_asked(ctx), "milliseconds": round((perf_counter() - begun) * 1000, 1)})
        return result


def wants_level(request: ServerRequest, level: types.LoggingLevel) -> bool:
    """Whether the client reads messages of this level."""
    ##= man/spec/mcp.md#handshake
    ##% The server MUST send a client only log messages of the level that the client has set, or of a higher one.
    if request.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return level in allowed_log_levels(request.protocol_version, request.meta)
    lowest = get_connection(request).state.get(_KEPT_AS, _AT_FIRST)
    return _SEVERITIES[level] >= _SEVERITIES[lowest]


async def send_log_message(request: ServerRequest, level: types.LoggingLevel, data: Any) -> None:
    """Send a message that belongs to a request, if it is wanted."""
    if not wants_level(request, level):
        return
    params = types.LoggingMessageNotificationParams(level=level, data=data, logger=_NAME)
    await request.session.send_notification(
        types.LoggingMessageNotification(params=params), related_request_id=request.request_id
    )


def _asked(request: ServerRequest) -> dict[str, Any]:
    name = (request.params or {}).get("name")
    return {"method": request.method, **({"name": name} if isinstance(name, str) else {})}
