"""Guards that every request passes: host, rate, authentication, media type, concurrency."""

from __future__ import annotations

import math
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from ipaddress import IPv6Address, ip_address

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from msgspec import Struct, json
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duvet.server.backpressure import set_caller
from duvet.server.http.tokens import ADMIN_HOLDER, READER_HOLDER, AccessTokens, TokenHolder
from duvet.server.messages import LISTEN_METHOD
from duvet.tools.tool import ErrorCode

API_PREFIX = "/api/"


class HttpRefusal(Struct, frozen=True, kw_only=True):
    """A status, and what a client can do about it."""

    status: int
    code: ErrorCode
    message: str
    hint: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    details: object = None


def make_busy_refusal(status: int, message: str, seconds: float) -> HttpRefusal:
    """To be tried again after so many seconds."""
    headers = (("retry-after", str(max(1, math.ceil(seconds)))),)
    return HttpRefusal(
        status=status, code=ErrorCode.UPSTREAM_ERROR, message=message, hint="try again later", headers=headers
    )


async def send_refusal(scope: Scope, send: Send, refusal: HttpRefusal) -> None:
    """Answer with it."""
    error = make_error_body(scope, refusal.code, refusal.message, refusal.hint)
    details = {} if refusal.details is None else {"details": refusal.details}
    await send_json(send, refusal.status, json.encode({**error, **details}), dict(refusal.headers))


def make_error_body(scope: Scope, code: ErrorCode, message: str, hint: str) -> dict[str, object]:
    """What went wrong, in the shape that is usual below a path."""
    ##= man/spec/service.md#rest
    ##% The server MUST answer 400 for a body that is not JSON, an unknown tool and a wrong input, and 500 without
    ##% details for an unexpected failure, with `code` and `hint` beside the `error`.
    if scope["path"].startswith(API_PREFIX):
        return {"status": "error", "error": message, "code": code.value, "hint": hint}
    return {"status": "error", "error": {"code": code.value, "message": message, "hint": hint}}


async def send_json(send: Send, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    """Send JSON as a whole."""
    await send_body(send, status, body, "application/json", headers)


async def send_body(send: Send, status: int, body: bytes, media: str, headers: Mapping[str, str] | None = None) -> None:
    """Send a body as a whole."""
    given = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    length = str(len(body)).encode()
    fixed = [(b"content-type", media.encode()), (b"content-length", length), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": [*fixed, *given]})
    await send({"type": "http.response.body", "body": body})


_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?", re.ASCII)
_ORIGIN = re.compile(r"https?://(?P<authority>.+)")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE = ("0.0.0.0", "::")

_BAD_HOST = HttpRefusal(
    status=421,
    code=ErrorCode.FORBIDDEN,
    message="This server doesn't go by that name",
    hint="duvet mcp --allow-host NAME",
)
_BAD_ORIGIN = HttpRefusal(
    status=403,
    code=ErrorCode.FORBIDDEN,
    message="Pages of that origin may not ask",
    hint="duvet mcp --allow-host NAME",
)


class AllowedHosts:
    """The names that requests may be sent to, and whose pages may send them."""

    def __init__(self, host: str, more: Iterable[str] = ()) -> None:
        self._names = {_plain(name) for name in (*_LOOPBACK, host, *more)}
        # What is listened at everywhere has names that nobody has told us. An address can't be led astray.
        self._any_address = host in _EVERYWHERE

    def allow(self, authority: str) -> bool:
        """Whether a request for that host, with any port, is meant for this server."""
        found = _AUTHORITY.fullmatch(authority)
        return bool(found) and self._is_ours(_plain(found["host"]))  # type: ignore[index]

    def allow_origin(self, origin: str) -> bool:
        """Whether a page of that origin may ask."""
        found = _ORIGIN.fullmatch(origin)
        return bool(found) and self.allow(found["authority"])  # type: ignore[index]

    def _is_ours(self, name: str) -> bool:
        return name in self._names or (self._any_address and _is_address(name))


class HostGuard:
    """Lets requests through that are meant for this server."""

    def __init__(self, app: ASGIApp, hosts: AllowedHosts) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(scope)):
            await send_refusal(scope, send, refusal)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> HttpRefusal | None:
        ##= man/spec/mcp.md#http
        ##% On every path, the server MUST refuse a foreign `Host` with 421 and a foreign `Origin` with 403.
        hosts = get_headers(scope, b"host")
        if len(hosts) != 1 or not self._hosts.allow(hosts[0]):
            return _BAD_HOST
        return None if all(map(self._hosts.allow_origin, get_headers(scope, b"origin"))) else _BAD_ORIGIN


def get_headers(scope: Scope, name: bytes) -> list[str]:
    """The values of that header."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _plain(host: str) -> str:
    """One spelling of a name or an address."""
    bare = host.strip("[]").lower()
    return str(ip_address(bare)) if _is_address(bare) else bare.rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


class TokenBuckets:
    """A bucket of tokens for each client: a request takes one, and they come back with time."""

    def __init__(self, rate: float, burst: float, clients: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clients = clients
        self._clock = clock
        self._found: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._found)

    def wait(self, client: str, cost: float = 1) -> float:
        """0 where the client may go on, and has paid for it; else for how many seconds it may not."""
        if not self._rate:
            return 0
        left = self._left(client) - min(cost, self._burst)
        if left < 0:
            return -left / self._rate
        self._found[client] = (left, self._clock())
        self._found.move_to_end(client)
        if len(self._found) > self._clients:
            self._found.popitem(last=False)
        return 0

    def _left(self, client: str) -> float:
        left, then = self._found.get(client, (self._burst, self._clock()))
        return min(self._burst, left + (self._clock() - then) * self._rate)


RateLimitKey = Callable[[Scope], str]


class RateGuard:
    """Lets requests through that don't come too often."""

    def __init__(self, app: ASGIApp, buckets: TokenBuckets, payer: RateLimitKey) -> None:
        """Requests are counted by what the payer says of them."""
        self._app = app
        self._buckets = buckets
        self._payer = payer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ##= man/spec/mcp.md#limits
        ##% The server MUST answer 429 to a client that exceeds its rate, and 503 when too many requests or streams are
        ##% open, each with `Retry-After`.
        if scope["type"] == "http" and (seconds := self._buckets.wait(self._payer(scope))):
            await send_refusal(scope, send, make_busy_refusal(429, "Too many requests", seconds))
        else:
            await self._app(scope, receive, send)


def find_client_address(scope: Scope) -> str:
    """What requests are counted by: an address, or the network of one, for who has one IPv6 address has many."""
    host = (scope.get("client") or ("",))[0]
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return str(host)
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))


_ENDING = make_busy_refusal(503, "The server is about to end", 5)
_ALWAYS = 8
"""Places that one client may take however few are left."""


class ConcurrencyLimit:
    """Lets requests through while there is room, and knows when the last of them has its answer."""

    def __init__(self, app: ASGIApp, requests: int, streams: int) -> None:
        self._app = app
        self._room = {False: requests, True: streams}
        self._held: Counter[tuple[bool, str]] = Counter()
        """Places, by who has taken them."""
        self._stopping = False
        self._answered = anyio.Event()
        self._requests = requests
        self._unanswered: set[anyio.CancelScope] = set()
        """Requests of which nothing is answered yet, without streams."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = _is_stream(scope), find_client_address(scope)
        if refusal := self._refusal(*kind):
            await send_refusal(scope, send, refusal)
            return
        release = self._enter(*kind)

        begun = False

        async def heard(message: Message) -> None:
            nonlocal begun
            begun = True
            self._unanswered.discard(work)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                release()
            await send(_with_pause(message))

        with anyio.CancelScope() as work:
            if not kind[0]:
                self._unanswered.add(work)
            try:
                await self._app(scope, receive, heard)
            finally:
                self._unanswered.discard(work)
                release()
        if work.cancelled_caught and not begun:
            await send_refusal(scope, send, _ENDING)

    def give_up(self) -> None:
        """Refuse what was let in and has no answer yet."""
        for work in list(self._unanswered):
            work.cancel()

    async def answered(self) -> None:
        """Let nobody in any more, and wait until every request but the streams is answered."""
        self._stopping = True
        if self._is_at_work:
            await self._answered.wait()

    @property
    def _is_at_work(self) -> bool:
        return self._room[False] < self._requests

    def _refusal(self, is_stream: bool, client: str) -> HttpRefusal | None:
        if self._stopping:
            return _ENDING
        left = self._room[is_stream]
        if not left:
            return make_busy_refusal(503, "Too many requests at once", 1)
        if self._held[is_stream, client] >= max(left, _ALWAYS):
            return make_busy_refusal(503, "Too many requests of this client at once", 1)
        return None

    def _enter(self, is_stream: bool, client: str) -> Callable[[], None]:
        """Take a place; what gives it back, once, when the answer is complete or will never be."""
        self._room[is_stream] -= 1
        self._held[is_stream, client] += 1
        left = ExitStack()
        left.callback(self._leave, is_stream, client)
        return left.close

    def _leave(self, is_stream: bool, client: str) -> None:
        self._room[is_stream] += 1
        self._held[is_stream, client] -= 1
        if not self._held[is_stream, client]:
            del self._held[is_stream, client]
        if self._stopping and not self._is_at_work:
            self._answered.set()


def _with_pause(message: Message) -> Message:
    """The SDK says that there are too many sessions, but not when to try again."""
    if message.get("status") != 503:
        return message
    return {**message, "headers": [*message["headers"], (b"retry-after", b"5")]}


def _is_stream(scope: Scope) -> bool:
    is_plain = scope["path"].startswith(API_PREFIX)
    return (scope["method"] == "GET" and not is_plain) or get_headers(scope, b"mcp-method") == [LISTEN_METHOD]


def find_token_holder(scope: Scope, tokens: AccessTokens) -> TokenHolder | None:
    """Who shows a token that is known, and no other."""
    shown = get_headers(scope, b"authorization")
    if len(shown) != 1:
        return None
    scheme, _, token = shown[0].partition(" ")
    return tokens.holder(token.strip()) if scheme.lower() == "bearer" else None


def find_rate_limit_key(scope: Scope, tokens: AccessTokens) -> str:
    """A token that is known, or else an address: whoever shows another one pays for it where it is."""
    holder = find_token_holder(scope, tokens) if tokens else None
    return f"token {holder.name}" if holder else find_client_address(scope)


_CHALLENGE = 'Bearer realm="duvet"'


class BearerGuard:
    """Lets callers through that show a token, and says for their requests what they may do."""

    def __init__(self, app: ASGIApp, tokens: AccessTokens) -> None:
        self._app = app
        self._tokens = tokens
        # The SDK holds who uses a session against who has begun it.
        self._users = {holder: _user(holder) for holder in (READER_HOLDER, ADMIN_HOLDER)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        shown = get_headers(scope, b"authorization") if self._tokens else []
        holder = self._holder(scope)
        if holder is None:
            await send_refusal(scope, send, _unauthorized(bool(shown)))
            return
        with set_caller(holder.scopes, holder.name):
            await self._app({**scope, "user": self._users[holder]}, receive, send)

    def _holder(self, scope: Scope) -> TokenHolder | None:
        ##= man/spec/mcp.md#http
        ##% Without tokens, `duvet mcp --http` MUST refuse an address that other machines can reach, and MUST let
        ##% callers only read.
        if not self._tokens:
            return READER_HOLDER
        return find_token_holder(scope, self._tokens)


def _user(holder: TokenHolder) -> AuthenticatedUser:
    return AuthenticatedUser(AccessToken(token="", client_id=holder.name, scopes=sorted(holder.scopes)))


def _unauthorized(is_wrong: bool) -> HttpRefusal:
    ##= man/spec/mcp.md#http
    ##% With tokens, the server MUST answer a request to `/mcp` without a valid one with 401 and `WWW-Authenticate`, and
    ##% bind each session to its token.
    challenge = f'{_CHALLENGE}, error="invalid_token"' if is_wrong else _CHALLENGE
    return HttpRefusal(
        status=401,
        code=ErrorCode.UNAUTHORIZED,
        message="This token is not known" if is_wrong else "A token is needed",
        hint="send Authorization: Bearer TOKEN",
        headers=(("www-authenticate", challenge),),
    )


MCP_METHODS = ("GET", "POST", "DELETE")
_OTHER_MEDIA = HttpRefusal(
    status=415,
    code=ErrorCode.INVALID_REQUEST,
    message="A message is application/json",
    headers=(("accept", "application/json"),),
)
_OTHER_ACCEPTED = HttpRefusal(
    status=406,
    code=ErrorCode.INVALID_REQUEST,
    message="Answers are application/json or text/event-stream",
    hint="accept both",
)
_JSON = ("application/json", "application/*", "*/*")
_EVENTS = ("text/event-stream", "text/*", "*/*")


class MediaGuard:
    """Lets requests through that the SDK understands."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if refusal := _refusal(scope):
            await send_refusal(scope, send, refusal)
        else:
            await self._app(scope, receive, send)


def _refusal(scope: Scope) -> HttpRefusal | None:
    ##= man/spec/mcp.md#http
    ##% The server MUST answer in JSON with 404 for an unknown path, 405 for a method, 415 for a medium, and 406 for an
    ##% `Accept` that it does not support.
    method = scope["method"]
    if method == "POST" and _media(scope, b"content-type") != ["application/json"]:
        return _OTHER_MEDIA
    accepted = _media(scope, b"accept")
    wanted = {"POST": (_JSON, _EVENTS), "GET": (_EVENTS,)}.get(method, ())
    return None if all(set(accepted) & set(one) for one in wanted) else _OTHER_ACCEPTED


def _media(scope: Scope, header: bytes) -> list[str]:
    values = ",".join(get_headers(scope, header)).split(",")
    return [value.partition(";")[0].strip().lower() for value in values]


READ_METHODS = ("GET", "HEAD")


class MethodGuard:
    """Lets requests through whose method is served."""

    def __init__(self, app: ASGIApp, methods: tuple[str, ...]) -> None:
        self._app = app
        self._methods = methods
        self._refusal = HttpRefusal(
            status=405,
            code=ErrorCode.UNSUPPORTED_OPERATION,
            message="This method is not served here",
            headers=(("allow", ", ".join(methods)),),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] in self._methods:
            await self._app(scope, receive, send)
        else:
            await send_refusal(scope, send, self._refusal)


class HttpLimits(Struct, frozen=True, kw_only=True):
    """What is more than this is refused; times are seconds."""

    body: int = 1 << 20
    """Bytes of a request."""
    head: int = 32 << 10
    """Bytes of the headers of a request."""
    arrival: float = 10
    """Within which the headers of a request arrive once it has begun; the body gets as long again."""
    arriving: int = 64 << 20
    """Bytes of all requests that are arriving; where there are more, the one that takes longest is refused."""
    keep_alive: int = 60
    """How long a connection may lie idle between requests."""
    unread: float = 30
    """How long a client may leave what was sent to it unread."""
    connections: int = 2048
    requests: int = 512
    """At work at once, without streams."""
    streams: int = 800
    """Open at once: those that tell of changes, which last."""
    sessions: int = 1024
    idle_session: float = 1800
    batch: int = 50
    """Messages in a batch."""
    rate: float = 1000
    """Requests a second of a client, in the long run; 0 is any number."""
    burst: float = 2000
    """Requests that a client may make at once after a while without any."""
    clients: int = 4096
    """Whose requests are counted; those that were quiet for longest are forgotten."""
    stopping: float = 3
    """For what is at work when the server is told to end."""
