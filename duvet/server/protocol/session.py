"""The parts of a server, the errors that clients see, and log messages to clients."""

from __future__ import annotations

import logging
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
"""A request without its parameters."""


class ServerPart(Protocol):
    """Answers some of the methods."""

    def register(self, server: Server[Any]) -> None:
        """Add its handlers to the server."""


@runtime_checkable
class StreamingPart(Protocol):
    """A part with streams that are open as long as their clients like."""

    def close_streams(self) -> None:
        """End each stream with its last message; more may be opened afterwards."""


PROTOCOL_LOGGER = logging.getLogger("duvet.server")
"""For failures that clients don't see; its messages go to standard error."""


def refuse_cursor(params: types.PaginatedRequestParams) -> None:
    """Refuse a cursor for a list that has only one page."""
    if params.cursor is not None:
        raise MCPError(code=types.INVALID_PARAMS, message="Invalid cursor", data={"hint": "the list has no parts"})


def get_connection(request: ServerRequest) -> Connection:
    """Return the connection of a request, which the SDK doesn't make public."""
    return request.session._connection


async def guard_request(ctx: ServerRequest, call_next: CallNext) -> HandlerResult:
    """Answer a request; clients see only errors that are meant for them."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        # The SDK's own message for invalid parameters reveals nothing.
        raise
    except (ToolError, DuvetError) as error:
        failure = error if isinstance(error, ToolError) else make_tool_error(error)
        is_invalid = failure.code in (ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND)
        data = {"code": failure.code.value, **({"hint": failure.hint} if failure.hint else {})}
        number = INVALID_PARAMS if is_invalid else INTERNAL_ERROR
        raise MCPError(code=number, message=failure.message, data=data) from error
    except Exception as error:
        ##= man/spec/mcp.md#errors
        ##% An unexpected failure MUST reach the client only as `Internal error` with the code -32603, and standard
        ##% error as one line without the text of the request.
        PROTOCOL_LOGGER.exception("%s failed", ctx.method)
        raise MCPError(code=INTERNAL_ERROR, message="Internal error") from error


_SEVERITIES = {level: number for number, level in enumerate(get_args(types.LoggingLevel))}
_LEVEL_KEY = "duvet/level"
_DEFAULT_LEVEL: types.LoggingLevel = "warning"


class LoggingPart:
    """Stores the log level of each connection, and logs requests to their clients."""

    def register(self, server: Server[Any]) -> None:
        # The argument of the constructor for this is deprecated, and says so on standard error.
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self.set)
        server.middleware.append(self.log_request)

    async def set(self, request: ServerRequest, params: types.SetLevelRequestParams) -> types.EmptyResult:
        get_connection(request).state[_LEVEL_KEY] = params.level
        return types.EmptyResult()

    async def log_request(self, ctx: ServerRequest, call_next: CallNext) -> HandlerResult:
        """Answer, and log the duration or the failure."""
        if ctx.request_id is None or not wants_level(ctx, "info"):
            return await call_next(ctx)
        begun = perf_counter()
        try:
            result = await call_next(ctx)
        except MCPError as error:
            await send_log_message(ctx, "info", {**_describe_request(ctx), "failed": error.error.message})
            raise
        await send_log_message(
            ctx, "debug", {**_describe_request(ctx), "milliseconds": round((perf_counter() - begun) * 1000, 1)}
        )
        return result


def wants_level(request: ServerRequest, level: types.LoggingLevel) -> bool:
    """Return whether the client has asked for messages of this level."""
    ##= man/spec/mcp.md#handshake
    ##% The server MUST send a client only log messages of the level that the client has set, or of a higher one.
    if request.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return level in allowed_log_levels(request.protocol_version, request.meta)
    lowest = get_connection(request).state.get(_LEVEL_KEY, _DEFAULT_LEVEL)
    return _SEVERITIES[level] >= _SEVERITIES[lowest]


async def send_log_message(request: ServerRequest, level: types.LoggingLevel, data: Any) -> None:
    """Send a log message that belongs to a request, if the client has asked for its level."""
    if not wants_level(request, level):
        return
    params = types.LoggingMessageNotificationParams(level=level, data=data, logger="duvet")
    await request.session.send_notification(
        types.LoggingMessageNotification(params=params), related_request_id=request.request_id
    )


def _describe_request(request: ServerRequest) -> dict[str, Any]:
    name = (request.params or {}).get("name")
    return {"method": request.method, **({"name": name} if isinstance(name, str) else {})}
