"""The ASGI application: routes, sessions, health."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import GET_STREAM_KEY, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from msgspec import Struct, json
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duvet.errors import DuvetError
from duvet.server.http.body import BodyGuard, MessageSplitter
from duvet.server.http.guards import (
    MCP_METHODS as MESSAGES,
)
from duvet.server.http.guards import (
    READ_METHODS,
    AllowedHosts,
    BearerGuard,
    ConcurrencyLimit,
    HostGuard,
    HttpLimits,
    MediaGuard,
    MethodGuard,
    RateGuard,
    RateLimitKey,
    TokenBuckets,
    find_client_address,
    find_rate_limit_key,
    make_error_body,
    send_json,
)
from duvet.server.http.metrics import METRICS_PATH as METRICS
from duvet.server.http.metrics import RequestCount, ServerMetrics
from duvet.server.http.rest import (
    REPORT_PATHS as REPORTS,
)
from duvet.server.http.rest import (
    REST_METHODS as CALLS,
)
from duvet.server.http.rest import (
    REST_PATH as REST,
)
from duvet.server.http.rest import (
    ReportEndpoint,
    RestEndpoint,
)
from duvet.server.http.tokens import AccessTokens
from duvet.server.live_project import LiveProject
from duvet.server.log import EventLevel, ServerLog
from duvet.server.protocol.server import DuvetServer
from duvet.tools.tool import ErrorCode

_CODES = {404: ErrorCode.NOT_FOUND, 405: ErrorCode.UNSUPPORTED_OPERATION}


def make_error_handlers() -> Mapping[Any, Any]:
    """What answers to a path that isn't there, to another method, and to a bug of ours."""
    return {HTTPException: _refused, Exception: _failed}


async def _refused(request: Request, error: HTTPException) -> Response:
    code = _CODES.get(error.status_code, ErrorCode.INVALID_REQUEST)
    return _response(request, error.status_code, code, error.detail, error.headers)


async def _failed(request: Request, error: Exception) -> Response:
    return _response(request, 500, ErrorCode.UPSTREAM_ERROR, "Internal error", None)


def _response(
    request: Request, status: int, code: ErrorCode, message: str, headers: Mapping[str, str] | None
) -> Response:
    return JSONResponse(make_error_body(request.scope, code, message, ""), status, headers=headers)


HEALTH_PATH, READY_PATH = "/health", "/ready"
_PATIENCE = 1.0


async def serve_health(scope: Scope, receive: Receive, send: Send) -> None:
    """The server lives, or nobody would answer."""
    ##= man/spec/service.md#operations
    ##% Without a token, `/health` MUST answer 200 with `{"status":"ok"}`, and `/ready` MUST answer 200 if the project
    ##% can be read or else 503.
    await send_json(send, 200, b'{"status":"ok"}')


class ReadinessCheck:
    """Whether the project can be read."""

    def __init__(self, live: LiveProject) -> None:
        self._live = live

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reason = await self._reason()
        if reason:
            await send_json(send, 503, json.encode({"status": "not ready", "reason": reason}), {"retry-after": "1"})
        else:
            await send_json(send, 200, b'{"status":"ready"}')

    async def _reason(self) -> str:
        try:
            with anyio.fail_after(_PATIENCE):
                await self._live.context()
        except TimeoutError:
            return "the project is being read"
        except DuvetError:
            return "the project can't be read"
        return ""


class RequestLog:
    """Says who asked for what, and what came of it; neither headers nor what follows a path, where secrets may stand."""

    def __init__(self, app: ASGIApp, log: ServerLog) -> None:
        self._app = app
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._log.wants(EventLevel.DEBUG):
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
                EventLevel.DEBUG,
                "request",
                client=find_client_address(scope),
                method=scope["method"],
                path=scope["path"].encode("unicode_escape").decode(),
                status=status,
                duration_ms=round((time.perf_counter() - begun) * 1000, 1),
            )


class SessionManager(StreamableHTTPSessionManager):
    """Ends idle sessions where there are too many, and tells when one gets a stream for what it is told of changes."""

    def __init__(self, server: Server[Any], limits: HttpLimits, opened: Callable[[str], None]) -> None:
        # Hosts, origins and bodies are looked at before the SDK sees them.
        super().__init__(
            server,
            session_idle_timeout=limits.idle_session,
            max_sessions=limits.sessions,
            max_request_body_size=limits.body,
        )
        self._most = limits.sessions
        self._opened = opened
        self._clients: dict[str, str] = {}

    def has_stream(self, session: str | None) -> bool:
        """Whether a client can be told of something that it hasn't asked for just now."""
        transport = self._server_instances.get(session or "")
        return transport is not None and GET_STREAM_KEY in transport._request_streams

    async def end(self) -> None:
        """End all of them."""
        for transport in list(self._server_instances.values()):
            await transport.terminate()

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        if len(self._server_instances) >= self._most:
            self._make_room()
        transport = super()._admit_session(requestor)
        if transport is not None:
            transport._request_streams = _Streams(partial(self._opened, transport.mcp_session_id or ""))
        return transport

    def _make_room(self) -> None:
        """End the session that was idle for longest, of those of the client that has most."""
        ##= man/spec/mcp.md#limits
        ##% The server MUST close connections beyond the limit and, beyond that of sessions, end the longest idle one of
        ##% the client that has the most.
        held = Counter(self._clients.get(id) for id in self._server_instances)
        idle = [
            (-held[self._clients.get(id)], transport.idle_scope.deadline, id)
            for id, transport in self._server_instances.items()
            if transport.idle_scope and transport.idle_scope.deadline < math.inf
        ]
        if idle:
            *_, id = min(idle)
            transport = self._server_instances.pop(id)
            self._session_owners.pop(id, None)
            self._clients.pop(id, None)
            assert transport.idle_scope
            transport.idle_scope.cancel()

    async def _serve_opening_request(
        self, http_transport: StreamableHTTPServerTransport, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._clients[http_transport.mcp_session_id or ""] = find_client_address(scope)
        await super()._serve_opening_request(http_transport, scope, receive, send)

    async def _discard_session(self, session_id: str, transport: StreamableHTTPServerTransport) -> None:
        self._clients.pop(session_id, None)
        await super()._discard_session(session_id, transport)


class _Streams(dict[Any, Any]):
    """The streams of a session; tells when the one comes that belongs to no request."""

    def __init__(self, opened: Callable[[], None]) -> None:
        super().__init__()
        self._opened = opened

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if key == GET_STREAM_KEY:
            self._opened()


MCP_PATH = "/mcp"
_LIMITS = HttpLimits()
_TURNS = 3
"""Of the loop: it looks what has come, reads that, and begins to answer."""


class TrustSettings(Struct, frozen=True):
    """Whom the server listens to."""

    hosts: AllowedHosts
    tokens: AccessTokens


class Telemetry(Struct, frozen=True):
    """What is kept of its work."""

    log: ServerLog
    metrics: ServerMetrics


class HttpApplication:
    """The server as an application, and its end."""

    def __init__(
        self, server: DuvetServer, trust: TrustSettings, accounts: Telemetry, limits: HttpLimits = _LIMITS
    ) -> None:
        self._server = server
        self._limits = limits
        self._sessions = SessionManager(server, limits, server.subscriptions.reached)
        server.subscriptions.reaches = self._sessions.has_stream
        buckets = TokenBuckets(limits.rate, limits.burst, limits.clients)
        payer = partial(find_rate_limit_key, tokens=trust.tokens)
        calls: dict[str, ASGIApp] = {
            MCP_PATH: self._messages(buckets, payer),
            REST: RestEndpoint(server.desk, server.identity),
        }
        reports = dict.fromkeys(REPORTS, ReportEndpoint(server.desk))
        self._crowd = ConcurrencyLimit(_by_path({**calls, **reports}), limits.requests, limits.streams)
        # What has not arrived yet takes nobody's place.
        self._bodies = BodyGuard(self._crowd, limits.body, limits.arriving, limits.arrival)
        self.asgi = Starlette(
            routes=[
                Route(HEALTH_PATH, MethodGuard(serve_health, READ_METHODS)),
                Route(READY_PATH, MethodGuard(ReadinessCheck(server.live), READ_METHODS)),
                ##= man/spec/service.md#operations
                ##% `/metrics` MUST count calls by tool, interface and outcome, and MUST be open only to callers who may
                ##% call tools.
                Route(METRICS, BearerGuard(MethodGuard(accounts.metrics, READ_METHODS), trust.tokens)),
                Route(MCP_PATH, BearerGuard(MethodGuard(MediaGuard(self._bodies), MESSAGES), trust.tokens)),
                Route(REST, BearerGuard(MethodGuard(self._bodies, CALLS), trust.tokens)),
                *[Route(path, BearerGuard(MethodGuard(self._bodies, READ_METHODS), trust.tokens)) for path in REPORTS],
            ],
            middleware=[
                Middleware(RequestLog, log=accounts.log),
                Middleware(
                    RequestCount,
                    metrics=accounts.metrics,
                    paths=(HEALTH_PATH, READY_PATH, METRICS, MCP_PATH, REST, *REPORTS),
                ),
                Middleware(HostGuard, hosts=trust.hosts),
                Middleware(RateGuard, buckets=buckets, payer=payer),
            ],
            exception_handlers=make_error_handlers(),
            lifespan=self._lifespan,
        )
        self.asgi.router.redirect_slashes = False

    async def end(self) -> None:
        """Answer what is asked, as long as that doesn't take long, and close every stream."""
        ##= man/spec/mcp.md#http
        ##% When it is stopped, the server MUST finish or cancel what it is doing and exit with 0 within 5 seconds.
        await _let_in()
        self._bodies.end()
        with anyio.move_on_after(self._limits.stopping):
            await self._crowd.answered()
        self._crowd.give_up()
        self._server.close_streams()
        await self._sessions.end()

    def _messages(self, buckets: TokenBuckets, payer: RateLimitKey) -> ASGIApp:
        return MessageSplitter(StreamableHTTPASGIApp(self._sessions), self._limits.batch, buckets, payer)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        async with self._sessions.run():
            yield


async def _let_in() -> None:
    """Let those in whose requests the system has received, and the server had no time for yet."""
    ##= man/spec/service.md#rest
    ##% The server MUST cancel a call when its client disconnects, and answer calls that it cannot finish before it
    ##% stops with 503 and `Retry-After`.
    for _ in range(_TURNS):
        await anyio.lowlevel.checkpoint()


def _by_path(apps: Mapping[str, ASGIApp]) -> ASGIApp:
    """Each request to the application of its path."""

    async def hand_on(scope: Scope, receive: Receive, send: Send) -> None:
        await apps[scope["path"]](scope, receive, send)

    return hand_on
