"""The HTTP application: request checks, sessions, JSON-RPC batches, health checks and shutdown."""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, AuthorizationContext
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import GET_STREAM_KEY, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from msgspec import json as msgspec_json
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duvet.errors import DuvetError
from duvet.server import application, live_project, messages as jsonrpc
from duvet.server.http import guards
from duvet.server.http.metrics import METRICS_PATH, ServerMetrics
from duvet.server.http.rest import REPORT_PATHS, REST_METHODS, REST_PATH, RestEndpoint, serve_report
from duvet.server.log import EventLevel, ServerLog
from duvet.tools.call_context import Caller
from duvet.tools.tool import ErrorCode

if TYPE_CHECKING:
    from duvet.server.protocol.server import DuvetServer


_VERSION_WITH_BATCHES = "2025-03-26"
_EVENT_DATA = re.compile(rb"(?m)^data: ([^\r\n]*)")


class MessageSplitter:
    def __init__(self, app: ASGIApp, batch: int, rates: guards.RequestRates) -> None:
        self._app = app
        self._max_batch = batch
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = scope["body"]
        if scope["method"] != "POST":
            await self._app(scope, _replay_body(body, receive), send)
            return
        try:
            value = jsonrpc.decode_message(body)
            if isinstance(value, list):
                await self._answer_batch(value, scope, receive, send)
            else:
                await self._answer(jsonrpc.check_message(value), body, scope, receive, send)
        except jsonrpc.InvalidMessageError as error:
            await guards.send_body(send, 400, jsonrpc.encode_message(error.answer))

    async def _answer(
        self, message: Mapping[str, Any], body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        is_array = message.get("method") == "resources/get"
        await self._app(scope, _replay_body(body, receive), _ArrayUnwrapper(send) if is_array else send)

    async def _answer_batch(self, batch: list[object], scope: Scope, receive: Receive, send: Send) -> None:
        if Headers(scope=scope).getlist("mcp-protocol-version") not in ([], [_VERSION_WITH_BATCHES]):
            raise jsonrpc.make_refusal(f"only protocol version {_VERSION_WITH_BATCHES} supports batches")
        if not 0 < len(batch) <= self._max_batch:
            raise jsonrpc.make_refusal(f"a batch must have 1 to {self._max_batch} messages")
        if refusal := self._rates.refuse(scope, len(batch) - 1):
            await guards.send_refusal(scope, send, refusal)
            return
        answers: list[object] = []
        for value in batch:
            response = _Response()
            try:
                message = jsonrpc.check_batched_message(value)
                await self._answer(message, jsonrpc.encode_message(message), scope, receive, response)
            except jsonrpc.InvalidMessageError as error:
                answers.append(error.answer)
                continue
            body = bytes(response.body)
            if response.start["status"] >= 400:
                await send(response.start)
                await send({"type": "http.response.body", "body": body})
                return
            texts = _EVENT_DATA.findall(body) if response.is_stream else filter(None, [body])
            messages = [msgspec_json.decode(text) for text in texts]
            answers += [message for message in messages if "result" in message or "error" in message]
        await guards.send_body(send, 200 if answers else 202, jsonrpc.encode_message(answers) if answers else b"")


def _replay_body(body: bytes, receive: Receive) -> Receive:
    parts = [body]

    async def receive_body() -> Message:
        if parts:
            return {"type": "http.request", "body": parts.pop(), "more_body": False}
        return await receive()

    return receive_body


class _Response:
    def __init__(self) -> None:
        self.start: Message = {}
        self.body = bytearray()
        self.content_type = ""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
            self.content_type = Headers(raw=message["headers"]).get("content-type", "")
        else:
            self.body += message.get("body", b"")

    @property
    def is_stream(self) -> bool:
        return self.content_type.startswith("text/event-stream")


class _ArrayUnwrapper(_Response):
    def __init__(self, send: Send) -> None:
        super().__init__()
        self._send = send

    async def __call__(self, message: Message) -> None:
        is_start = message["type"] == "http.response.start"
        if is_start or not self.is_stream:
            await super().__call__(message)
        if self.is_stream:
            if not is_start:
                # The SDK sends each event as one chunk.
                events = _EVENT_DATA.sub(lambda data: b"data: " + _unwrap(data[1]), message.get("body", b""))
                message = {**message, "body": events}
            await self._send(message)
        elif not is_start and not message.get("more_body"):
            body = bytes(self.body)
            if self.content_type == "application/json":
                body = _unwrap(body)
            headers = [pair for pair in self.start["headers"] if pair[0] != b"content-length"]
            length = (b"content-length", str(len(body)).encode())
            await self._send({**self.start, "headers": [*headers, length]})
            await self._send({"type": "http.response.body", "body": body})


def _unwrap(text: bytes) -> bytes:
    answer = json.loads(text)
    if not (isinstance(answer, dict) and isinstance(answer.get("result"), dict)):
        return text
    # Escape all non-ASCII characters, because file names may contain lone surrogates.
    return json.dumps({**answer, "result": jsonrpc.unwrap_array(answer["result"])}, separators=(",", ":")).encode()


MCP_PATH, HEALTH_PATH, READY_PATH = "/mcp", "/health", "/ready"
_TURNS = 3  # Event loop turns that it takes to accept a connection, read the request, and start to answer.
_PUBLIC_PATHS = (HEALTH_PATH, READY_PATH)
_READING = ("GET", "HEAD")
_USERS = {  # The SDK compares the user of a session with the user who started it.
    one.holder: AuthenticatedUser(AccessToken(token="", client_id=one.holder, scopes=sorted(one.scopes)))
    for one in (application.READER, application.ADMIN)
}


class HttpApplication:
    def __init__(
        self,
        server: DuvetServer,
        hosts: guards.AllowedHosts,
        tokens: application.AccessTokens,
        log: ServerLog,
        metrics: ServerMetrics,
        limits: guards.HttpLimits,
    ) -> None:
        self._server = server
        self._hosts = hosts
        self._log = log
        self._metrics = metrics
        self._limits = limits
        self._sessions = SessionManager(server, limits, server.subscriptions.deliver_to)
        server.subscriptions.reaches = self._sessions.has_stream
        self._rates = guards.RequestRates(guards.TokenBuckets(limits.rate, limits.burst, limits.clients), tokens)
        self._requests = guards.ConcurrencyLimit(limits)
        # This comes before the limit, because a request that is still arriving doesn't count.
        self._bodies = guards.BodyLimit(self._requests, limits)
        protocol = MessageSplitter(self._sessions.handle_request, limits.batch, self._rates)
        tools = RestEndpoint(server.dispatcher, server.settings)
        reports = partial(self._bodies, partial(serve_report, server.dispatcher))
        healthy = Response(b'{"status":"ok"}', media_type="application/json", headers={"cache-control": "no-store"})
        self._paths: dict[str, tuple[ASGIApp, Sequence[str]]] = {
            HEALTH_PATH: (healthy, _READING),
            READY_PATH: (partial(serve_readiness, server.live), _READING),
            METRICS_PATH: (metrics, _READING),
            MCP_PATH: (partial(self._bodies, protocol), ("GET", "POST", "DELETE")),
            REST_PATH: (partial(self._bodies, tools), REST_METHODS),
            **dict.fromkeys(REPORT_PATHS, (reports, _READING)),
        }
        self.asgi = Starlette(
            exception_handlers={Exception: guards.refuse_exception}, lifespan=lambda _: self._sessions.run()
        )
        # The pattern of a route would also match its path with a line feed at the end.
        self.asgi.router.default = self._serve

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Headers and queries may contain secrets, so the log omits them.
        begun = time.perf_counter()
        path, status = scope["path"], 0

        async def send_and_note_status(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            with self._metrics.at_work.track_inprogress():
                if refusal := self._find_refusal(scope):
                    await guards.send_refusal(scope, send_and_note_status, refusal)
                elif path in _PUBLIC_PATHS:
                    await self._paths[path][0](scope, receive, send_and_note_status)
                else:
                    caller: Caller = scope["caller"]
                    with live_project.set_caller(caller):
                        ##= man/spec/mcp.md#http
                        ##% The server MUST accept the requests of a session only with the token that opened the
                        ##% session.
                        known = {**scope, "user": _USERS[caller.holder]}
                        await self._paths[path][0](known, receive, send_and_note_status)
        finally:
            # A label for each path that clients invent would fill the memory.
            self._metrics.record_request(path if path in self._paths else "other", status)
            if self._log.wants(EventLevel.DEBUG):
                self._log.write_event(
                    EventLevel.DEBUG,
                    "request",
                    client=guards.find_client_address(scope),
                    method=scope["method"],
                    path=path.encode("unicode_escape").decode(),
                    status=status,
                    duration_ms=round((time.perf_counter() - begun) * 1000, 1),
                )

    def _find_refusal(self, scope: Scope) -> guards.HttpRefusal | None:
        # Requests for another host don't count towards the rate of a client.
        if refusal := self._hosts.refuse(scope) or self._rates.refuse(scope):
            return refusal
        path = scope["path"]
        if path not in self._paths:
            return guards.NOT_FOUND
        ##= man/spec/service.md#operations
        ##% `/metrics` MUST answer only callers that may call tools.
        if scope["caller"] is None and path not in _PUBLIC_PATHS:
            ##= man/spec/mcp.md#http
            ##% If tokens are configured, the server MUST answer 401 to a request without a valid token, except on
            ##% `/health`, `/ready` and unknown paths.
            is_wrong = "authorization" in Headers(scope=scope)
            challenge = 'Bearer realm="duvet"' + (', error="invalid_token"' if is_wrong else "")
            message = "The token is unknown" if is_wrong else "A token is required"
            hint = "send Authorization: Bearer TOKEN, with a token of this server"
            headers = {"www-authenticate": challenge}
            return guards.HttpRefusal(401, ErrorCode.UNAUTHORIZED, message, hint, headers)
        methods = self._paths[path][1]
        if scope["method"] not in methods:
            allowed = ", ".join(methods)
            message, headers = f"This path supports only {allowed}", {"allow": allowed}
            return guards.HttpRefusal(405, ErrorCode.UNSUPPORTED_OPERATION, message, headers=headers)
        return guards.refuse_media_types(scope) if path == MCP_PATH else None

    async def end(self) -> None:
        # Accept requests that the system has already received.
        for _ in range(_TURNS):
            await anyio.lowlevel.checkpoint()
        ##= man/spec/mcp.md#stopping
        ##% On SIGINT or SIGTERM, the server MUST answer the open requests, cancel those that are still open after
        ##% `shutdownTimeout` seconds, and exit with 0.
        self._bodies.refuse_arriving()
        await self._requests.drain(self._limits.stopping)
        self._server.subscriptions.streams.close()
        await self._sessions.end()


async def serve_readiness(live: live_project.LiveProject, scope: Scope, receive: Receive, send: Send) -> None:
    ##= man/spec/service.md#operations
    ##% `/ready` MUST answer 200 if the project can be read, and otherwise 503.
    try:
        with anyio.fail_after(1):
            await live.context()
    except TimeoutError:
        reason = "the server is still reading the project"
    except DuvetError:
        reason = "the server can't read the project"
    else:
        await guards.send_body(send, 200, b'{"status":"ready"}')
        return
    await guards.send_body(
        send, 503, msgspec_json.encode({"status": "not ready", "reason": reason}), {"retry-after": "1"}
    )


class SessionManager(StreamableHTTPSessionManager):
    """Ends an idle session when a new one needs room, and reports when a notification stream opens."""

    def __init__(self, server: Server[Any], limits: guards.HttpLimits, opened: Callable[[str], None]) -> None:
        super().__init__(
            server,
            session_idle_timeout=limits.idle_session,
            max_sessions=limits.sessions,
            # The limit of bodies counts an escaped character as the character itself.
            max_request_body_size=limits.body * guards.MAX_ESCAPED_FACTOR,
        )
        self._opened = opened
        self._clients: dict[str, str] = {}

    def has_stream(self, session: str | None) -> bool:
        transport = self._server_instances.get(session or "")
        return transport is not None and GET_STREAM_KEY in transport._request_streams

    async def end(self) -> None:
        for transport in list(self._server_instances.values()):
            await transport.terminate()

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        if self.max_sessions is not None and len(self._server_instances) >= self.max_sessions:
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
    def __init__(self, opened: Callable[[], None]) -> None:
        super().__init__()
        self._opened = opened  # Called when the stream for notifications opens.

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if key == GET_STREAM_KEY:
            self._opened()
