"""Checks, limits and refusals of HTTP requests: hosts, rate limits, media types, bodies and concurrency."""

from __future__ import annotations

import math
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

import anyio
from msgspec import Struct, json, structs
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duvet.server import application, messages
from duvet.tools.call_context import Caller
from duvet.tools.tool import ErrorCode, MissingArgumentError, ToolError

API_PREFIX = "/api/"
_STATUS_BY_CODE: Mapping[str, int] = {
    ErrorCode.INVALID_REQUEST: 400,
    ErrorCode.INVALID_IDENTIFIER: 400,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.RECIPE_NOT_FOUND: 404,
    ErrorCode.UNAUTHORIZED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.UNSUPPORTED_OPERATION: 400,
    ErrorCode.ASSERT_FAILED: 409,
    ErrorCode.TIMEOUT: 504,
    ErrorCode.UPSTREAM_ERROR: 503,
    ErrorCode.CANCELLED: 503,
}
_DEFECT_STATUS = 500
_STATUS_BY_MODEL_FAULT = {"rate_limited": 503, "unavailable": 503, "timeout": 504}


class HttpRefusal(Struct, frozen=True):
    status: int
    code: ErrorCode
    message: str
    hint: str = ""
    headers: Mapping[str, str] = {}
    details: object = None


def make_busy_refusal(message: str, seconds: float, status: int = 503) -> HttpRefusal:
    headers = {"retry-after": str(max(1, math.ceil(seconds)))}
    return HttpRefusal(status, ErrorCode.UPSTREAM_ERROR, message, "try again later", headers)


def make_tool_refusal(error: ToolError, headers: Mapping[str, str]) -> HttpRefusal:
    message = error.message
    if isinstance(error, MissingArgumentError):
        message = f"Missing required parameter: {error.argument}"
    ##= man/spec/service.md#rest
    ##% The server MUST answer 503 only if the same call can succeed later.
    if error.code is ErrorCode.MODEL_FAILED:
        status = _STATUS_BY_MODEL_FAULT.get(error.cause, _DEFECT_STATUS)
    else:
        # The status of a workflow depends on the failure that ended it.
        code = error.cause if error.code is ErrorCode.TOOL_FAILED else error.code
        status = _STATUS_BY_CODE.get(code, _DEFECT_STATUS)
    return HttpRefusal(status, error.code, message, error.hint, headers, error.details)


def make_error_body(path: str, code: ErrorCode, message: str, hint: str = "") -> dict[str, object]:
    if path.startswith(API_PREFIX):
        return {"status": "error", "error": message, "code": code.value, "hint": hint}
    return {"status": "error", "error": {"code": code.value, "message": message, "hint": hint}}


async def send_refusal(scope: Scope, send: Send, refusal: HttpRefusal) -> None:
    error = make_error_body(scope["path"], refusal.code, refusal.message, refusal.hint)
    details = {} if refusal.details is None else {"details": refusal.details}
    await send_body(send, refusal.status, json.encode({**error, **details}), refusal.headers)


async def send_body(
    send: Send, status: int, body: bytes, headers: Mapping[str, str] | None = None, media_type: str = "application/json"
) -> None:
    fixed = {"content-type": media_type, "content-length": str(len(body)), "cache-control": "no-store"}
    pairs = [(name.encode(), value.encode()) for name, value in [*fixed.items(), *(headers or {}).items()]]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


async def refuse_exception(request: Request, error: Exception) -> Response:
    return JSONResponse(make_error_body(request.scope["path"], ErrorCode.UPSTREAM_ERROR, "Internal error"), 500)


_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?", re.ASCII)
_ORIGIN = re.compile(r"https?://(?P<authority>.+)")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ALLOW_HOST = "start the server with `--allow-host NAME`"
NOT_FOUND = HttpRefusal(404, ErrorCode.NOT_FOUND, "Not Found")
_BAD_HOST = HttpRefusal(421, ErrorCode.FORBIDDEN, "The Host header is not allowed", _ALLOW_HOST)
_BAD_ORIGIN = HttpRefusal(403, ErrorCode.FORBIDDEN, "The Origin header is not allowed", _ALLOW_HOST)
_OTHER_MEDIA = HttpRefusal(
    415, ErrorCode.INVALID_REQUEST, "The Content-Type must be application/json", headers={"accept": "application/json"}
)
_OTHER_ACCEPTED = HttpRefusal(
    406,
    ErrorCode.INVALID_REQUEST,
    "The Accept header must allow application/json and text/event-stream",
    hint="accept both",
)
_EVENTS = {"text/event-stream", "text/*", "*/*"}
_ACCEPTED = {"POST": ({"application/json", "application/*", "*/*"}, _EVENTS), "GET": (_EVENTS,)}
_PARAMETERS = re.compile(";[^,]*")  # Of a media type, such as `; charset=utf-8`.
_CLOSE = {"connection": "close"}
_ESCAPE = re.compile(rb"\\u([0-9A-Fa-f]{4})")
MAX_ESCAPED_FACTOR = 6  # An escape takes at most six times as many bytes as its character.
_MAX_READ_FACTOR = 16  # Times the limit to read and drop: many clients read nothing until they have sent everything.
_TOO_SLOW = HttpRefusal(408, ErrorCode.INVALID_REQUEST, "The request arrived too slowly", headers=_CLOSE)
_ENDING = structs.replace(
    make_busy_refusal("The server is shutting down", 5), headers={"retry-after": "5", "connection": "close"}
)
_ALWAYS = 8  # Requests that one client may always have in progress.


class HttpLimits(Struct, frozen=True, kw_only=True):
    body: int = 1 << 20  # Bytes of a request.
    head: int = 32 << 10  # Bytes of the headers of a request.
    arrival: float = 10  # Time for a request's headers, from its first byte, and again for its body.
    arriving: int = 64 << 20  # Bytes of all arriving requests; above this limit, the slowest request is refused.
    keep_alive: int = 60  # How long a connection may stay idle between requests.
    unread: float = 30  # How long a client may leave answers unread.
    connections: int = 2048
    requests: int = 512  # Requests in progress at the same time, apart from streams.
    streams: int = 800  # Open notification streams.
    sessions: int = 1024
    idle_session: float = 1800
    batch: int = 50  # Messages in a batch.
    rate: float = 1000  # Average requests per second of a client; 0 means no limit.
    burst: float = 2000  # Requests that a client may send at once after a pause.
    clients: int = 4096  # Clients whose requests are counted; the least recent ones are forgotten.
    stopping: float = 3  # Time for requests in progress when the server stops.


class AllowedHosts:
    def __init__(self, host: str, more: Iterable[str] = ()) -> None:
        self._names = {_normalize_host(name)[0] for name in (*_LOOPBACK, host, *more)}
        # A server on all interfaces doesn't know all its names. An IP address is safe: DNS can't rebind it.
        self._any_address = host in ("0.0.0.0", "::")

    def allow(self, authority: str) -> bool:
        match = _AUTHORITY.fullmatch(authority)
        if match is None:
            return False
        name, is_address = _normalize_host(match["host"])
        return name in self._names or (self._any_address and is_address)

    def allow_origin(self, origin: str) -> bool:
        match = _ORIGIN.fullmatch(origin)
        return match is not None and self.allow(match["authority"])

    def refuse(self, scope: Scope) -> HttpRefusal | None:
        ##= man/spec/mcp.md#http
        ##% On every path, the server MUST refuse an unexpected `Host` header with 421 and an unexpected `Origin` header
        ##% with 403.
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.allow(hosts[0]):
            return _BAD_HOST
        return None if all(map(self.allow_origin, headers.getlist("origin"))) else _BAD_ORIGIN


@lru_cache(maxsize=16)
def _normalize_host(host: str) -> tuple[str, bool]:
    bare = host.strip("[]").lower()
    try:
        return str(ip_address(bare)), True
    except ValueError:
        return bare.rstrip("."), False


class TokenBuckets:
    def __init__(self, rate: float, burst: float, clients: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clients = clients
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, client: str, cost: float = 1) -> float:
        """Return 0, or the seconds until there are enough tokens."""
        if not self._rate:
            return 0
        now = self._clock()
        tokens, then = self._buckets.get(client, (self._burst, now))
        left = min(self._burst, tokens + (now - then) * self._rate) - min(cost, self._burst)
        if left < 0:
            return -left / self._rate
        self._buckets[client] = (left, now)
        self._buckets.move_to_end(client)
        if len(self._buckets) > self._clients:
            self._buckets.popitem(last=False)
        return 0


class RequestRates:
    def __init__(self, buckets: TokenBuckets, tokens: application.AccessTokens) -> None:
        self._buckets = buckets
        self._tokens = tokens

    def refuse(self, scope: Scope, cost: float = 1) -> HttpRefusal | None:
        caller: Caller | None = None
        key = find_client_address(scope)
        if not self._tokens:
            ##= man/spec/mcp.md#http
            ##% Without tokens, the server MUST give HTTP clients only the scope `reader`.
            caller = application.READER
        elif len(values := Headers(scope=scope).getlist("authorization")) == 1:
            scheme, _, token = values[0].partition(" ")
            caller = application.find_holder(self._tokens, token.strip()) if scheme.lower() == "bearer" else None
            key = f"token {caller.holder}" if caller else key
        scope["caller"] = caller  # None if the token is missing, repeated or unknown.
        ##= man/spec/mcp.md#limits
        ##% The server MUST answer a client that exceeds the rate limit with 429 and `Retry-After`.
        seconds = self._buckets.take(key, cost)
        return make_busy_refusal("Too many requests", seconds, 429) if seconds else None


def find_client_address(scope: Scope) -> str:
    """Return the client's address or, for IPv6, its /64 network, because a client may control all of it."""
    host = (scope.get("client") or ("",))[0]
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return str(host)
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))


def refuse_media_types(scope: Scope) -> HttpRefusal | None:
    headers = Headers(scope=scope)
    sent, accepted = (_PARAMETERS.sub("", ",".join(headers.getlist(one))).lower() for one in ("content-type", "accept"))
    if scope["method"] == "POST" and sent.strip() != "application/json":
        return _OTHER_MEDIA
    for types in _ACCEPTED.get(scope["method"], ()):
        if types.isdisjoint(map(str.strip, accepted.split(","))):
            return _OTHER_ACCEPTED
    return None


class _TooLargeError(Exception):
    pass


class BodyLimit:
    def __init__(self, requests: ConcurrencyLimit, limits: HttpLimits) -> None:
        self._requests = requests
        self._limits = limits
        self._arriving: dict[anyio.CancelScope, int] = {}  # The size of each arriving body, oldest first.
        self._is_ending = False

    def refuse_arriving(self) -> None:
        self._is_ending = True
        for arrival in self._arriving:
            arrival.cancel()

    async def __call__(self, endpoint: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        arrival = anyio.CancelScope(deadline=anyio.current_time() + self._limits.arrival)
        self._arriving[arrival] = 0
        body = None
        try:
            with arrival:
                body = await self._read(arrival, Headers(scope=scope), receive)
        except _TooLargeError as error:
            ##= man/spec/mcp.md#limits
            ##% The server MUST refuse a line of more than 4 MiB on standard input, and an HTTP body above the
            ##% configured limit, before reading the rest.
            message = f"The request has {error} bytes; the limit is {self._limits.body:,}"
            refusal = HttpRefusal(413, ErrorCode.INVALID_REQUEST, message, "split the request", _CLOSE)
            await send_refusal(scope, send, refusal)
            return
        finally:
            self._arriving.pop(arrival, None)
        if arrival.cancelled_caught:
            ##= man/spec/mcp.md#limits
            ##% The server MUST disconnect clients that send or read too slowly, and MUST NOT let them delay other
            ##% clients.
            await send_refusal(scope, send, _ENDING if self._is_ending else _TOO_SLOW)
        elif body is not None:
            scope["body"] = body
            await self._requests(endpoint, scope, receive, send)

    async def _read(self, arrival: anyio.CancelScope, headers: Headers, receive: Receive) -> bytes | None:
        limit = self._limits.body
        # The HTTP parser refuses malformed and contradictory lengths.
        announced = int(headers.get("content-length", "0"))
        if "expect" in headers and announced > limit * MAX_ESCAPED_FACTOR:
            raise _TooLargeError(f"{announced:,}")
        body = bytearray()
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            part = message.get("body", b"")
            size += len(part)
            if size <= limit * MAX_ESCAPED_FACTOR:
                body += part
                if arrival in self._arriving:
                    self._arriving[arrival] = size
                while sum(self._arriving.values()) > self._limits.arriving:
                    oldest = next(iter(self._arriving))
                    del self._arriving[oldest]
                    oldest.cancel()
            if size > limit * _MAX_READ_FACTOR:
                raise _TooLargeError(f"{announced:,}" if announced else f"at least {size:,}")
            if not message.get("more_body"):
                break
        # Libraries choose whether to escape characters, so an escaped one counts as the character itself.
        if size > limit and (size > limit * MAX_ESCAPED_FACTOR or size - _count_escapes(body) > limit):
            raise _TooLargeError(f"{size:,}")
        return bytes(body)


def _count_escapes(body: bytearray) -> int:
    # A surrogate counts as two bytes.
    codes = [int(code, 16) for code in _ESCAPE.findall(body)]
    return sum(5 if code < 0x80 else 4 if code < 0x800 or 0xD800 <= code < 0xE000 else 3 for code in codes)


class ConcurrencyLimit:
    def __init__(self, limits: HttpLimits) -> None:
        self._requests = limits.requests
        self._free = {False: limits.requests, True: limits.streams}
        self._taken: Counter[tuple[bool, str]] = Counter()  # The number in progress, by kind and client.
        self._stopping = False
        self._answered = anyio.Event()
        self._unanswered: set[anyio.CancelScope] = set()  # Requests whose answer has not started, except streams.

    async def __call__(self, endpoint: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        is_get = scope["method"] == "GET" and not scope["path"].startswith(API_PREFIX)
        is_stream = is_get or Headers(scope=scope).getlist("mcp-method") == [messages.LISTEN_METHOD]
        client = find_client_address(scope)
        refusal = None
        if self._stopping:
            refusal = _ENDING
        elif not self._free[is_stream]:
            refusal = make_busy_refusal("Too many requests at once", 1)
        elif self._taken[is_stream, client] >= max(self._free[is_stream], _ALWAYS):
            refusal = make_busy_refusal("Too many requests from this client at once", 1)
        if refusal:
            await send_refusal(scope, send, refusal)
            return
        self._free[is_stream] -= 1
        self._taken[is_stream, client] += 1
        # The request counts until its answer is complete or has failed.
        place = ExitStack()
        place.callback(self._leave, is_stream, client)
        has_begun = False

        async def send_and_release(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            self._unanswered.discard(work)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                place.close()
            if message.get("status") == 503:
                # The SDK's answer when there are too many sessions doesn't say when to try again.
                message = {**message, "headers": [*message["headers"], (b"retry-after", b"5")]}
            await send(message)

        with anyio.CancelScope() as work:
            if not is_stream:
                self._unanswered.add(work)
            try:
                await endpoint(scope, receive, send_and_release)
            finally:
                self._unanswered.discard(work)
                place.close()
        if work.cancelled_caught and not has_begun:
            await send_refusal(scope, send, _ENDING)

    def _leave(self, is_stream: bool, client: str) -> None:
        self._free[is_stream] += 1
        self._taken[is_stream, client] -= 1
        if not self._taken[is_stream, client]:
            del self._taken[is_stream, client]
        if self._stopping and self._free[False] == self._requests:
            self._answered.set()

    async def drain(self, seconds: float) -> None:
        self._stopping = True
        if self._free[False] < self._requests:
            with anyio.move_on_after(seconds):
                await self._answered.wait()
        for work in list(self._unanswered):
            work.cancel()
