"""What clients may read along of the work of the server, as much as they ask for."""

from __future__ import annotations

from time import perf_counter
from typing import Any, get_args

import mcp_types as types
from mcp.server.connection import allowed_log_levels
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from duvet.server.protocol.parts import Request, connection_of

_SEVERITIES = {level: number for number, level in enumerate(get_args(types.LoggingLevel))}
_KEPT_AS = "duvet/level"
_AT_FIRST: types.LoggingLevel = "warning"
_NAME = "duvet"


class Levels:
    """Keeps for each connection from which level on its client wants to be told."""

    def register(self, server: Server[Any]) -> None:
        # The argument of the constructor for this is deprecated, and says so on standard error.
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self.set)
        server.middleware.append(self.narrate)

    async def set(self, request: Request, params: types.SetLevelRequestParams) -> types.EmptyResult:
        connection_of(request).state[_KEPT_AS] = params.level
        return types.EmptyResult()

    async def narrate(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """Answer, and tell how long it took, or that it failed."""
        if ctx.request_id is None or not wanted(ctx, "info"):
            return await call_next(ctx)
        begun = perf_counter()
        try:
            result = await call_next(ctx)
        except MCPError as error:
            await tell(ctx, "info", {**_asked(ctx), "failed": error.error.message})
            raise
        await tell(ctx, "debug", {**_asked(ctx), "milliseconds": round((perf_counter() - begun) * 1000, 1)})
        return result


def wanted(request: Request, level: types.LoggingLevel) -> bool:
    """Whether the client reads messages of this level."""
    ##= man/spec/mcp.md#handshake
    ##% A client MUST be sent only messages of the level that it has set, or of a higher one.
    if request.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return level in allowed_log_levels(request.protocol_version, request.meta)
    lowest = connection_of(request).state.get(_KEPT_AS, _AT_FIRST)
    return _SEVERITIES[level] >= _SEVERITIES[lowest]


async def tell(request: Request, level: types.LoggingLevel, data: Any) -> None:
    """Send a message that belongs to a request, if it is wanted."""
    if not wanted(request, level):
        return
    params = types.LoggingMessageNotificationParams(level=level, data=data, logger=_NAME)
    await request.session.send_notification(
        types.LoggingMessageNotification(params=params), related_request_id=request.request_id
    )


def _asked(request: Request) -> dict[str, Any]:
    name = (request.params or {}).get("name")
    return {"method": request.method, **({"name": name} if isinstance(name, str) else {})}
