"""What is served over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial

import anyio
import anyio.lowlevel
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from msgspec import Struct
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from duvet.server.http.bearer import BearerGuard
from duvet.server.http.body import BodyGuard
from duvet.server.http.crowd import Crowd
from duvet.server.http.faults import handlers
from duvet.server.http.health import HEALTH, READY, Ready, health
from duvet.server.http.holders import payer_of
from duvet.server.http.hosts import HostGuard, Hosts
from duvet.server.http.limits import Limits
from duvet.server.http.media import METHODS as MESSAGES
from duvet.server.http.media import MediaGuard
from duvet.server.http.messages import Messages
from duvet.server.http.methods import READING, MethodGuard
from duvet.server.http.metrics import PATH as METRICS
from duvet.server.http.metrics import Metrics, RequestCount
from duvet.server.http.rate import Buckets, Payer, RateGuard
from duvet.server.http.reports import PATHS as REPORTS
from duvet.server.http.reports import Reports
from duvet.server.http.request_log import RequestLog
from duvet.server.http.rest import METHODS as CALLS
from duvet.server.http.rest import PATH as REST
from duvet.server.http.rest import Rest
from duvet.server.http.sessions import Sessions
from duvet.server.http.tokens import Tokens
from duvet.server.log import Log
from duvet.server.protocol.server import DuvetServer

MCP = "/mcp"
_LIMITS = Limits()
_TURNS = 3
"""Of the loop: it looks what has come, reads that, and begins to answer."""


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
        self._sessions = Sessions(server, limits, server.subscriptions.reached)
        server.subscriptions.reaches = self._sessions.has_stream
        buckets = Buckets(limits.rate, limits.burst, limits.clients)
        payer = partial(payer_of, tokens=trust.tokens)
        calls: dict[str, ASGIApp] = {
            MCP: self._messages(buckets, payer),
            REST: Rest(server.desk, server.identity),
        }
        reports = dict.fromkeys(REPORTS, Reports(server.desk))
        self._crowd = Crowd(_by_path({**calls, **reports}), limits.requests, limits.streams)
        # What has not arrived yet takes nobody's place.
        self._bodies = BodyGuard(self._crowd, limits.body, limits.arriving, limits.arrival)
        self.asgi = Starlette(
            routes=[
                Route(HEALTH, MethodGuard(health, READING)),
                Route(READY, MethodGuard(Ready(server.live), READING)),
                ##= man/spec/service.md#operations
                ##% `/metrics` MUST be shown to those alone who may call tools.
                Route(METRICS, BearerGuard(MethodGuard(accounts.metrics, READING), trust.tokens)),
                Route(MCP, BearerGuard(MethodGuard(MediaGuard(self._bodies), MESSAGES), trust.tokens)),
                Route(REST, BearerGuard(MethodGuard(self._bodies, CALLS), trust.tokens)),
                *[Route(path, BearerGuard(MethodGuard(self._bodies, READING), trust.tokens)) for path in REPORTS],
            ],
            middleware=[
                Middleware(RequestLog, log=accounts.log),
                Middleware(RequestCount, metrics=accounts.metrics, paths=(HEALTH, READY, METRICS, MCP, REST, *REPORTS)),
                Middleware(HostGuard, hosts=trust.hosts),
                Middleware(RateGuard, buckets=buckets, payer=payer),
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
        await _let_in()
        self._bodies.end()
        with anyio.move_on_after(self._limits.stopping):
            await self._crowd.answered()
        self._crowd.give_up()
        self._server.close_streams()
        await self._sessions.end()

    def _messages(self, buckets: Buckets, payer: Payer) -> ASGIApp:
        return Messages(StreamableHTTPASGIApp(self._sessions), self._limits.batch, buckets, payer)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        async with self._sessions.run():
            yield


async def _let_in() -> None:
    """Let those in whose requests the system has received, and the server had no time for yet."""
    ##= man/spec/service.md#rest
    ##% A call that has arrived as a whole when the server is told to end MUST be let in.
    for _ in range(_TURNS):
        await anyio.lowlevel.checkpoint()


def _by_path(apps: Mapping[str, ASGIApp]) -> ASGIApp:
    """Each request to the application of its path."""

    async def hand_on(scope: Scope, receive: Receive, send: Send) -> None:
        await apps[scope["path"]](scope, receive, send)

    return hand_on
