"""What is served over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from msgspec import Struct
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from duvet.server.http.bearer import BearerGuard
from duvet.server.http.body import BodyGuard
from duvet.server.http.crowd import Crowd
from duvet.server.http.faults import handlers
from duvet.server.http.hosts import HostGuard, Hosts
from duvet.server.http.limits import Limits
from duvet.server.http.media import MediaGuard
from duvet.server.http.messages import Messages
from duvet.server.http.rate import Buckets, RateGuard
from duvet.server.http.request_log import RequestLog
from duvet.server.http.sessions import Sessions
from duvet.server.http.tokens import Tokens
from duvet.server.protocol.server import DuvetServer

_LIMITS = Limits()


class Trust(Struct, frozen=True):
    """Whom the server listens to."""

    hosts: Hosts
    tokens: Tokens


class App:
    """The server as an application, and its end."""

    def __init__(
        self, server: DuvetServer, trust: Trust, limits: Limits = _LIMITS, say: Callable[[str], None] | None = None
    ) -> None:
        """Each request is said where somebody wants to hear of it."""
        self._server = server
        self._limits = limits
        self._sessions = Sessions(server, limits, server.subscriptions.reached)
        server.subscriptions.reaches = self._sessions.has_stream
        buckets = Buckets(limits.rate, limits.burst, limits.clients)
        self._crowd = Crowd(self._messages(buckets), limits.requests, limits.streams)
        # What has not arrived yet takes nobody's place.
        self._bodies = BodyGuard(self._crowd, limits.body, limits.arriving, limits.arrival)
        self.asgi = Starlette(
            routes=[
                Route("/health", _health),
                Route("/mcp", BearerGuard(MediaGuard(self._bodies), trust.tokens)),
            ],
            middleware=[
                *([Middleware(RequestLog, say=say)] if say else []),
                Middleware(HostGuard, hosts=trust.hosts),
                Middleware(RateGuard, buckets=buckets),
            ],
            exception_handlers=handlers(),
            lifespan=self._lifespan,
        )
        self.asgi.router.redirect_slashes = False

    async def end(self) -> None:
        """Answer what is asked, as long as that doesn't take long, and close every stream."""
        ##= man/spec/mcp.md#http
        ##% When it is told to end, the server MUST finish the answers that are at work, close its streams, and end within
        ##% 5 seconds with the exit code 0.
        self._bodies.end()
        with anyio.move_on_after(self._limits.stopping):
            await self._crowd.answered()
        self._server.close_streams()
        await self._sessions.end()

    def _messages(self, buckets: Buckets) -> ASGIApp:
        return Messages(StreamableHTTPASGIApp(self._sessions), self._limits.batch, buckets)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        async with self._sessions.run():
            yield


async def _health(request: Request) -> JSONResponse:
    ##= man/spec/mcp.md#http
    ##% `/health` MUST answer `{"status":"ok"}` without a token.
    return JSONResponse({"status": "ok"}, headers={"cache-control": "no-store"})
