"""The HTTP application: routes, sessions, health checks and shutdown."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import GET_STREAM_KEY, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from msgspec import Struct, json
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duvet.errors import DuvetError
from duvet.server.http import batches, guards
from duvet.server.http.metrics import METRICS_PATH, ServerMetrics
from duvet.server.http.responses import ERROR_HANDLERS, send_json
from duvet.server.http.rest import REPORT_PATHS, REST_METHODS, REST_PATH, ReportEndpoint, RestEndpoint
from duvet.server.http.tokens import AccessTokens
from duvet.server.live_project import LiveProject
from duvet.server.log import EventLevel, ServerLog

if TYPE_CHECKING:
    from duvet.server.protocol.server import DuvetServer

MCP_PATH, HEALTH_PATH, READY_PATH = "/mcp", "/health", "/ready"
_READ = ("GET", "HEAD")
_READY_SECONDS = 1.0
_LIMITS = guards.HttpLimits()
_TURNS = 3  # Turns of the event loop: it notices a connection, reads the request, and begins to answer.


class TrustSettings(Struct, frozen=True):
    hosts: guards.AllowedHosts
    tokens: AccessTokens


class Telemetry(Struct, frozen=True):
    log: ServerLog
    metrics: ServerMetrics


class HttpApplication:
    def __init__(
        self, server: DuvetServer, trust: TrustSettings, telemetry: Telemetry, limits: guards.HttpLimits = _LIMITS
    ) -> None:
        self._server = server
        self._limits = limits
        self._sessions = SessionManager(server, limits, server.subscriptions.reached)
        server.subscriptions.reaches = self._sessions.has_stream
        rates = guards.RequestRates(guards.TokenBuckets(limits.rate, limits.burst, limits.clients), trust.tokens)
        reports = ReportEndpoint(server.dispatcher)
        endpoints: dict[str, ASGIApp] = {
            MCP_PATH: batches.MessageSplitter(StreamableHTTPASGIApp(self._sessions), limits.batch, rates),
            REST_PATH: RestEndpoint(server.dispatcher, server.identity),
            **dict.fromkeys(REPORT_PATHS, reports),
        }

        async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
            await endpoints[scope["path"]](scope, receive, send)

        self._requests = guards.ConcurrencyLimit(dispatch, limits)
        # Outside of the limit: a request that hasn't arrived yet takes no place.
        self._bodies = guards.BodyLimit(self._requests, limits)

        def authenticated(path: str, app: ASGIApp, *methods: str) -> Route:
            return Route(path, guards.Authentication(guards.AllowedMethods(app, *methods), trust.tokens))

        routes = [
            Route(HEALTH_PATH, guards.AllowedMethods(serve_health, *_READ)),
            Route(READY_PATH, guards.AllowedMethods(ReadinessCheck(server.live), *_READ)),
            ##= man/spec/service.md#operations
            ##% `/metrics` MUST count calls by tool, interface and outcome, and MUST be open only to callers who may
            ##% call tools.
            authenticated(METRICS_PATH, telemetry.metrics, *_READ),
            authenticated(MCP_PATH, guards.MediaTypes(self._bodies), "GET", "POST", "DELETE"),
            authenticated(REST_PATH, self._bodies, *REST_METHODS),
            *(authenticated(path, self._bodies, *_READ) for path in REPORT_PATHS),
        ]
        self.asgi = Starlette(
            routes=routes,
            middleware=[
                Middleware(RequestTelemetry, telemetry=telemetry, paths={route.path for route in routes}),
                Middleware(guards.HostGuard, hosts=trust.hosts),
                Middleware(guards.RateLimit, rates=rates),
            ],
            exception_handlers=ERROR_HANDLERS,
            lifespan=self._run_sessions,
        )
        self.asgi.router.redirect_slashes = False

    @asynccontextmanager
    async def _run_sessions(self, _: Starlette) -> AsyncIterator[None]:
        async with self._sessions.run():
            yield

    async def end(self) -> None:
        """Answer requests for a limited time, and close every stream."""
        ##= man/spec/service.md#rest
        ##% The server MUST cancel a call when its client disconnects, and answer calls that it cannot finish before it
        ##% stops with 503 and `Retry-After`.
        # Requests that the system has received already are let in.
        for _ in range(_TURNS):
            await anyio.lowlevel.checkpoint()
        ##= man/spec/mcp.md#http
        ##% When it is stopped, the server MUST finish or cancel what it is doing and exit with 0 within 5 seconds.
        self._bodies.end()
        with anyio.move_on_after(self._limits.stopping):
            await self._requests.drain()
        self._requests.give_up()
        self._server.close_streams()
        await self._sessions.end()


async def serve_health(scope: Scope, receive: Receive, send: Send) -> None:
    ##= man/spec/service.md#operations
    ##% Without a token, `/health` MUST answer 200 with `{"status":"ok"}`, and `/ready` MUST answer 200 if the project
    ##% can be read or else 503.
    await send_json(send, 200, b'{"status":"ok"}')


class ReadinessCheck:
    """Answers 200 if the project can be read, else 503 with a reason."""

    def __init__(self, live: LiveProject) -> None:
        self._live = live

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with anyio.fail_after(_READY_SECONDS):
                await self._live.context()
        except TimeoutError:
            reason = "the project is being read"
        except DuvetError:
            reason = "the project can't be read"
        else:
            await send_json(send, 200, b'{"status":"ready"}')
            return
        await send_json(send, 503, json.encode({"status": "not ready", "reason": reason}), {"retry-after": "1"})


class RequestTelemetry:
    """Counts requests, and logs them at the level `debug`: neither headers nor queries, which may contain secrets."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry, paths: set[str]) -> None:
        self._app = app
        self._log = telemetry.log
        self._metrics = telemetry.metrics
        self._paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        status = 0

        async def send_and_note_status(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        self._metrics.begin_request()
        try:
            await self._app(scope, receive, send_and_note_status)
        finally:
            path = scope["path"]
            # Paths that clients make up would fill the memory.
            self._metrics.end_request(path if path in self._paths else "other", status)
            if self._log.wants(EventLevel.DEBUG):
                self._log.tell(
                    EventLevel.DEBUG,
                    "request",
                    client=guards.find_client_address(scope),
                    method=scope["method"],
                    path=path.encode("unicode_escape").decode(),
                    status=status,
                    duration_ms=round((time.perf_counter() - begun) * 1000, 1),
                )


class SessionManager(StreamableHTTPSessionManager):
    """Ends idle sessions to make room, and reports when a session opens its stream for notifications."""

    def __init__(self, server: Server[Any], limits: guards.HttpLimits, opened: Callable[[str], None]) -> None:
        super().__init__(
            server,
            session_idle_timeout=limits.idle_session,
            max_sessions=limits.sessions,
            max_request_body_size=limits.body,
        )
        self._max_sessions = limits.sessions
        self._opened = opened
        self._clients: dict[str, str] = {}

    def has_stream(self, session: str | None) -> bool:
        """Return whether a session has a stream that belongs to no request."""
        transport = self._server_instances.get(session or "")
        return transport is not None and GET_STREAM_KEY in transport._request_streams

    async def end(self) -> None:
        for transport in list(self._server_instances.values()):
            await transport.terminate()

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        if len(self._server_instances) >= self._max_sessions:
            ##= man/spec/mcp.md#limits
            ##% The server MUST close connections beyond the limit and, beyond that of sessions, end the longest idle
            ##% one of the client that has the most.
            counts = Counter(self._clients.get(id) for id in self._server_instances)
            idle = [
                (-counts[self._clients.get(id)], one.idle_scope.deadline, id)
                for id, one in self._server_instances.items()
                if one.idle_scope and one.idle_scope.deadline < math.inf
            ]
            if idle:
                *_, id = min(idle)
                longest = self._server_instances.pop(id)
                self._session_owners.pop(id, None)
                self._clients.pop(id, None)
                assert longest.idle_scope
                longest.idle_scope.cancel()
        transport = super()._admit_session(requestor)
        if transport is not None:
            transport._request_streams = _Streams(partial(self._opened, transport.mcp_session_id or ""))
        return transport

    async def _serve_opening_request(
        self, http_transport: StreamableHTTPServerTransport, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._clients[http_transport.mcp_session_id or ""] = guards.find_client_address(scope)
        await super()._serve_opening_request(http_transport, scope, receive, send)

    async def _discard_session(self, session_id: str, transport: StreamableHTTPServerTransport) -> None:
        self._clients.pop(session_id, None)
        await super()._discard_session(session_id, transport)


class _Streams(dict[Any, Any]):
    """The streams of a session; calls `opened` for the stream that belongs to no request."""

    def __init__(self, opened: Callable[[], None]) -> None:
        super().__init__()
        self._opened = opened

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if key == GET_STREAM_KEY:
            self._opened()
