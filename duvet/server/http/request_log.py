"""A line for each request."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duvet.server.http.rate import client_of
from duvet.server.log import Level, Log


class RequestLog:
    """Says who asked for what, and what came of it; neither headers nor what follows a path, where secrets may stand."""

    def __init__(self, app: ASGIApp, log: Log) -> None:
        self._app = app
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._log.wants(Level.DEBUG):
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
            self._log.tell(
                Level.DEBUG,
                "request",
                client=client_of(scope),
                method=scope["method"],
                path=scope["path"].encode("unicode_escape").decode(),
                status=status,
                duration_ms=round((time.perf_counter() - begun) * 1000, 1),
            )
