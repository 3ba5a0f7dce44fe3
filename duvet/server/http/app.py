"""What is served over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from msgspec import Struct
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp

from duvet.server.http.bearer import BearerGuard
from duvet.server.http.body import BodyGuard
from duvet.server.http.crowd import Crowd
from duvet.server.http.faults import handlers
from duvet.server.http.health import HEALTH, READY, Ready, health
from duvet.server.http.hosts import HostGuard, Hosts
from duvet.server.http.limits import Limits
from duvet.server.http.media import METHODS as MESSAGES
from duvet.server.http.media import MediaGuard
from duvet.server.http.messages import Messages
from duvet.server.http.methods import READING, MethodGuard
from duvet.server.http.metrics import PATH as METRICS
from duvet.server.http.metrics import Metrics, RequestCount
from duvet.server.http.rate import Buckets, RateGuard
from duvet.server.http.request_log import RequestLog
from duvet.server.http.rest import METHODS as CALLS
from duvet.server.http.rest import PATH as REST
from duvet.server.http.rest import Rest
from duvet.server.http.tokens import Tokens
from duvet.server.log import Log
from duvet.server.protocol.server import DuvetServer

MCP = "/mcp"
_LIMITS = Limits()


class Trust(Struct, frozen=True):
    """Whom the server listens to."""

    hosts: Hosts
    tokens: Tokens


class Accounts(Struct, frozen=True):
    """What is kept of its work."""

    log: Log
    metrics: Metrics


class App:
    """The server as an application, and its end."""

    def __init__(self, server: DuvetServer, trust: Trust, accounts: Accounts, limits: Limits = _LIMITS) -> None:
        self._server = server
        self._limits = limits
        # Hosts, origins and bodies are looked at before the SDK sees them.
        self._manager = StreamableHTTPSessionManager(
            server,
            session_idle_timeout=limits.idle_session,
            max_sessions=limits.sessions,
            max_request_body_size=limits.body,
        )
        buckets = Buckets(limits.rate, limits.burst, limits.clients)
        self._crowd = Crowd(limits.requests, limits.streams)
        messages = self._crowd.around(self._messages(buckets))
        rest = self._crowd.around(BodyGuard(Rest(server.desk, server.identity), limits.body, limits.arrival))
        self.asgi = Starlette(
            routes=[
                Route(HEALTH, MethodGuard(health, READING)),
                Route(READY, MethodGuard(Ready(server.live), READING)),
                ##= man/spec/service.md#operations
                ##% `/metrics` MUST be shown to those alone who may call tools.
                Route(METRICS, BearerGuard(MethodGuard(accounts.metrics, READING), trust.tokens)),
                Route(MCP, BearerGuard(MethodGuard(MediaGuard(messages), MESSAGES), trust.tokens)),
                Route(REST, BearerGuard(MethodGuard(rest, CALLS), trust.tokens)),
            ],
            middleware=[
                Middleware(RequestLog, log=accounts.log),
                Middleware(RequestCount, metrics=accounts.metrics, paths=(HEALTH, READY, METRICS, MCP, REST)),
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
        with anyio.move_on_after(self._limits.stopping):
            await self._crowd.answered()
        self._server.close_streams()
        for transport in list(self._manager._server_instances.values()):
            await transport.terminate()

    def _messages(self, buckets: Buckets) -> ASGIApp:
        sdk = StreamableHTTPASGIApp(self._manager)
        return BodyGuard(Messages(sdk, self._limits.batch, buckets), self._limits.body, self._limits.arrival)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        async with self._manager.run():
            yield
