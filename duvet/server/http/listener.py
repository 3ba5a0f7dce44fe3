"""Listens, accepts connections and shuts down."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from types import FrameType
from typing import Any, NoReturn, cast

import h11
import uvicorn
from msgspec import Struct
from uvicorn.protocols.http.h11_impl import H11Protocol

from duvet.errors import DuvetError, QueryError
from duvet.server.http.app import HttpApplication, Telemetry, TrustSettings
from duvet.server.http.guards import AllowedHosts, HttpLimits
from duvet.server.http.metrics import ServerMetrics
from duvet.server.http.tokens import AccessTokens
from duvet.server.live_project import LiveProject
from duvet.server.log import ServerLog, forward_logging
from duvet.server.messages import ServerIdentity, encode_message
from duvet.server.protocol.server import DuvetServer
from duvet.tools.audit import CallObserver
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.tool import ErrorCode
from duvet.version import VERSION

_ADDRESS = re.compile(r"(?:(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+)):)?(?P<port>[0-9]{1,5})", re.ASCII)
_LOOPBACK = "127.0.0.1"
_BACKLOG = 1024


class ServerAddress(Struct, frozen=True):
    """A host, as it was given, and a port; 0 is any that is free."""

    host: str
    port: int

    @property
    def authority(self) -> str:
        """What stands in a URL."""
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.authority}"

    def at(self, port: int) -> ServerAddress:
        """The same host with another port."""
        return ServerAddress(self.host, port)


def parse_address(text: str) -> ServerAddress:
    """`PORT` or `HOST:PORT`; QueryError where it is neither."""
    found = _ADDRESS.fullmatch(text)
    if not found or int(found["port"]) > 0xFFFF:
        raise QueryError(f"{text!r} is not an address", hint="give PORT, HOST:PORT or [IPV6]:PORT, like 127.0.0.1:8931")
    return ServerAddress(found["six"] or found["name"] or _LOOPBACK, int(found["port"]))


def open_listener(address: ServerAddress, anywhere: bool) -> socket.socket:
    """A socket that listens there; DuvetError where that can't be, or where others could come in and may not."""
    family, _, _, _, where = _resolve(address, anywhere)
    try:
        return socket.create_server(where[:2], family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise DuvetError(f"can't listen at {address.authority}: {reason}", hint="choose another port") from error


def check_reach(address: ServerAddress, anywhere: bool) -> None:
    """DuvetError where nobody can listen there, or where others could come in and may not."""
    _resolve(address, anywhere)


_Resolved = tuple[int, int, int, str, tuple[str, int]]


def _resolve(address: ServerAddress, anywhere: bool) -> _Resolved:
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise DuvetError(f"can't listen at {address.authority}: no such host") from error
    ##= man/spec/mcp.md#http
    ##% Without tokens, `duvet mcp --http` MUST refuse an address that other machines can reach, and MUST let callers
    ##% only read.
    if not anywhere and not all(_is_loopback(one[4][0]) for one in found):
        raise DuvetError(
            f"{address.host} can be reached by others, and no token is set",
            hint="set DUVET_READER_TOKEN or DUVET_ADMIN_TOKEN, or listen at 127.0.0.1",
        )
    return found[0]  # type: ignore[return-value]


def _is_loopback(host: str | int) -> bool:
    return ip_address(str(host).partition("%")[0]).is_loopback


STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class ServedApplication(Struct, frozen=True, kw_only=True):
    """What is served: by whom, what is said first, what is known and what can be done."""

    identity: ServerIdentity
    instructions: str | Callable[[], str]
    live: LiveProject
    desk: Callable[[Sequence[CallObserver]], ToolDispatcher]
    """Where tools are called, made once there is time for it; these hear of every call."""


class ServingOptions(Struct, frozen=True, kw_only=True):
    """To whom, and where."""

    address: ServerAddress
    tokens: AccessTokens = AccessTokens()
    hosts: tuple[str, ...] = ()
    """Names that the server goes by, beside the one it listens at."""
    limits: HttpLimits = HttpLimits()


class _EndError(BaseException):
    """A signal came before there was a server to end."""


def serve_over_http(
    offer: ServedApplication, terms: ServingOptions, log: ServerLog, say: Callable[[str], None]
) -> None:
    """Answer until a signal ends it; DuvetError where that can't begin."""
    try:
        with _ending(), open_listener(terms.address, anywhere=bool(terms.tokens)) as listening:
            # What takes longest begins first.
            offer.live.begin()
            _run(offer, terms, listening, log, say)
    except _EndError:
        return


def _run(
    offer: ServedApplication,
    terms: ServingOptions,
    listening: socket.socket,
    log: ServerLog,
    say: Callable[[str], None],
) -> None:
    import anyio

    # A run of the command line has it switched off; what has been imported stays.
    gc.enable()
    gc.freeze()
    forward_logging(log)
    metrics = ServerMetrics(VERSION)
    desk = offer.desk([log.saw, metrics.saw])
    metrics.tell_of(desk)
    server = DuvetServer(offer.identity, offer.instructions, offer.live, desk)
    trust = TrustSettings(AllowedHosts(terms.address.host, terms.hosts), terms.tokens)
    app = HttpApplication(server, trust, Telemetry(log, metrics), terms.limits)
    where = terms.address.at(listening.getsockname()[1])
    ##= man/spec/mcp.md#http
    ##% `duvet mcp --http` MUST print its address on standard error once it listens, and fail when it cannot listen.
    running = HttpServer(app, terms.limits, lambda: say(f"duvet mcp: serving {where.url}/mcp"))
    anyio.run(running.serve, [listening])


@contextmanager
def _ending() -> Iterator[None]:
    """Until the server takes them, signals end what is being prepared."""
    before = {one: signal.signal(one, _end) for one in STOP_SIGNALS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise _EndError


class CoalescingTransport:
    """A transport that waits with what is written until nothing more is for now."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._held: list[bytes] = []
        found = transport.get_extra_info("socket")
        if found is not None:
            # asyncio does it for sockets that it has made itself: a small piece must not wait for the last one's receipt.
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def write(self, data: bytes) -> None:
        if not self._held:
            asyncio.get_running_loop().call_soon(self._send)
        self._held.append(data)

    def close(self) -> None:
        self._send()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _send(self) -> None:
        data = b"".join(self._held)
        self._held.clear()
        if data:
            self._transport.write(data)


_MEANT = {431: "The headers are too large", 400: "This is not HTTP"}


class Connection(H11Protocol):
    """One client's, with a deadline for what is asked and for what is read."""

    def __init__(self, limits: HttpLimits, **given: Any) -> None:
        super().__init__(**given)
        self._limits = limits
        self._arrival = _Deadline(limits.arrival)
        self._unread = _Deadline(limits.unread)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast(asyncio.Transport, CoalescingTransport(transport)))
        ##= man/spec/mcp.md#limits
        ##% The server MUST close connections beyond the limit and, beyond that of sessions, end the longest idle one of
        ##% the client that has the most.
        if len(self.connections) > self._limits.connections:
            transport.abort()
        self._arrival.begin(transport)

    def data_received(self, data: bytes) -> None:
        if self._is_idle:
            self._arrival.begin(self.transport)
        super().data_received(data)
        if not self._is_idle:
            self._arrival.end()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_idle and self.conn.trailing_data[0]:
            # The next request has begun already.
            self._arrival.begin(self.transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrival.end()
        self._unread.end()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        ##= man/spec/mcp.md#limits
        ##% The server MUST disconnect clients that send or read too slowly, and MUST NOT let them block others.
        self._unread.begin(self.transport)

    def resume_writing(self) -> None:
        self._unread.end()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Say what is wrong with the headers; h11 knows, and is about to be heard."""
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        fault = {"code": ErrorCode.INVALID_REQUEST.value, "message": _MEANT.get(status, _MEANT[400]), "hint": ""}
        body = encode_message({"status": "error", "error": fault})
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
        ]
        for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    @property
    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete


class _Deadline:
    """After which a connection is cut off."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, transport: asyncio.Transport) -> None:
        """From now on, unless it is running."""
        self._timer = self._timer or asyncio.get_running_loop().call_later(self._seconds, transport.abort)

    def end(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


def make_connection_class(limits: HttpLimits) -> type[asyncio.Protocol]:
    """What makes connections with these limits."""
    return cast(type[asyncio.Protocol], partial(Connection, limits))


class HttpServer(uvicorn.Server):
    """Says when it listens; lets streams end before it waits for them."""

    def __init__(self, app: HttpApplication, limits: HttpLimits, begun: Callable[[], None]) -> None:
        super().__init__(_config(app, limits))
        self._app = app
        self._begun = begun

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._begun()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        await self._app.end()
        await super().shutdown(sockets)

    def leave(self) -> None:
        """End, as soon as what is at work is answered."""
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn's own raises the signal again at the end, so that the exit code tells of it. And no method of this
        # server: by one, sse_starlette finds it, and cuts off streams that still have something to say.
        before = {one: signal.signal(one, lambda *_: self.leave()) for one in STOP_SIGNALS}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def _config(app: HttpApplication, limits: HttpLimits) -> uvicorn.Config:
    return uvicorn.Config(
        app.asgi,
        http=make_connection_class(limits),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        # Anybody could say that a request comes from somebody else.
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=limits.head,
        timeout_keep_alive=limits.keep_alive,
        timeout_graceful_shutdown=1,
        reset_contextvars=True,
    )
