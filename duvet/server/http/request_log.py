"""A line for each request."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duvet.server.http.rate import client_of


class RequestLog:
    """Says who asked for what, and what came of it; neither headers nor what follows a path, where secrets may stand."""

    def __init__(self, app: ASGIApp, say: Callable[[str], None]) -> None:
        self._app = app
        self._say = say

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        status = 0

        async def heard(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, heard)
        finally:
            path = scope["path"].encode("unicode_escape").decode()
            milliseconds = (time.perf_counter() - begun) * 1000
            self._say(f"duvet mcp: {client_of(scope)} {scope['method']} {path} {status} {milliseconds:.0f} ms")
