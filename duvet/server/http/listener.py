"""Listens for connections, enforces deadlines, and runs the HTTP server until a signal stops it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from errno import EADDRNOTAVAIL
from functools import partial
from ipaddress import ip_address
from types import FrameType
from typing import Any, NoReturn, cast

import anyio
import h11
import uvicorn
from msgspec import Struct
from uvicorn.protocols.http.h11_impl import H11Protocol

from duvet.errors import DuvetError, QueryError
from duvet.server import messages
from duvet.server.application import AccessTokens, Application
from duvet.server.http import guards
from duvet.server.http.app import HttpApplication
from duvet.server.http.metrics import ServerMetrics
from duvet.server.protocol.server import make_server
from duvet.tools import tool
from duvet.version import VERSION

_ADDRESS = re.compile(r"(?:(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+)):)?(?P<port>[0-9]{1,5})", re.ASCII)
_LOOPBACK = "127.0.0.1"
_OTHER_HOST = "choose an address of this machine, such as 127.0.0.1"
_MALFORMED = {431: "The headers are too large", 400: "The request is not valid HTTP"}


class ServerAddress(Struct, frozen=True):
    host: str  # As the user wrote it.
    port: int  # 0 is any free port.

    @property
    def authority(self) -> str:
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def check_reach(self, anywhere: bool) -> tuple[int, tuple[str, int]]:
        try:
            resolved = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise DuvetError(f"can't listen on {self.authority}: unknown host", hint=_OTHER_HOST) from error
        ##= man/spec/mcp.md#http
        ##% Without tokens, `duvet mcp --http` MUST refuse to listen on an address that other machines can reach.
        if not anywhere and not all(ip_address(str(one[4][0]).partition("%")[0]).is_loopback for one in resolved):
            raise DuvetError(
                f"other machines can reach {self.host}, but no token is set",
                hint="set DUVET_READER_TOKEN or DUVET_ADMIN_TOKEN, or listen on 127.0.0.1",
            )
        return resolved[0][0], resolved[0][4][:2]  # type: ignore[return-value]


def parse_address(text: str) -> ServerAddress:
    match = _ADDRESS.fullmatch(text)
    if not match or int(match["port"]) > 0xFFFF:
        raise QueryError(
            f"{text!r} is not an address", hint="use PORT, HOST:PORT or [IPV6]:PORT, such as 127.0.0.1:8931"
        )
    return ServerAddress(match["six"] or match["name"] or _LOOPBACK, int(match["port"]))


def open_listener(address: ServerAddress, anywhere: bool) -> socket.socket:
    family, place = address.check_reach(anywhere)
    try:
        return socket.create_server(place, family=family, backlog=1024)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        hint = _OTHER_HOST if error.errno == EADDRNOTAVAIL else "choose another port"
        raise DuvetError(f"can't listen on {address.authority}: {reason}", hint=hint) from error


class _StoppedError(BaseException): ...


def serve_over_http(
    application: Application,
    address: ServerAddress,
    tokens: AccessTokens,
    more_hosts: Sequence[str],
    rate: float,
    announce: Callable[[str], None],
) -> None:
    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise _StoppedError

    try:
        # Until the server handles signals, they stop the preparation.
        with _handle_signals(stop), open_listener(address, anywhere=bool(tokens)) as listener:
            # Reading the project takes longest, so it starts first.
            application.live.begin()
            log, metrics = application.log, ServerMetrics(VERSION)
            server = make_server(application, [log.record_call, metrics.record_call])
            metrics.dispatcher = server.dispatcher
            hosts = guards.AllowedHosts(address.host, more_hosts)
            limits = guards.HttpLimits(rate=rate, burst=2 * rate, stopping=server.settings.shutdown_timeout)
            app = HttpApplication(server, hosts, tokens, log, metrics, limits)
            chosen = ServerAddress(address.host, listener.getsockname()[1])
            running = HttpServer(app, limits, lambda: announce(f"http://{chosen.authority}/mcp"))
            anyio.run(running.serve, [listener])
    except _StoppedError:
        return


@contextmanager
def _handle_signals(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


class HttpServer(uvicorn.Server):
    def __init__(self, app: HttpApplication, limits: guards.HttpLimits, begun: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app.asgi,
                http=cast(type[asyncio.Protocol], partial(Connection, limits)),
                ws="none",
                loop="asyncio",
                lifespan="on",
                log_config=None,
                access_log=False,
                # Proxy headers are easy to forge.
                proxy_headers=False,
                server_header=False,
                h11_max_incomplete_event_size=limits.head,
                timeout_keep_alive=limits.keep_alive,
                timeout_graceful_shutdown=1,
                reset_contextvars=True,
            )
        )
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
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn's own method raises the signal again at exit, which would change the exit code. The handler is not
        # a method of this server: sse_starlette would find it there, and cut off streams that still have data to send.
        with _handle_signals(lambda *_: self.leave()):
            yield


class Connection(H11Protocol):
    def __init__(self, limits: guards.HttpLimits, **given: Any) -> None:
        super().__init__(**given)
        self._limits = limits
        self._arrival = _Deadline(limits.arrival)
        self._unread = _Deadline(limits.unread)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast(asyncio.Transport, CoalescingTransport(transport)))
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
            # The next request has already started.
            self._arrival.begin(self.transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrival.end()
        self._unread.end()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        ##= man/spec/mcp.md#limits
        ##% The server MUST disconnect clients that send or read too slowly, and MUST NOT let them delay other clients.
        self._unread.begin(self.transport)

    def resume_writing(self) -> None:
        self._unread.end()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        message = _MALFORMED.get(status, _MALFORMED[400])
        body = messages.encode_message(guards.make_error_body("", tool.ErrorCode.INVALID_REQUEST, message))
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
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, transport: asyncio.Transport) -> None:
        self._timer = self._timer or asyncio.get_running_loop().call_later(self._seconds, transport.abort)

    def end(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


class CoalescingTransport:
    """Sends all writes of one event loop iteration together."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._unsent: list[bytes] = []
        connection = transport.get_extra_info("socket")
        if connection is not None:
            # asyncio sets this only on sockets that it creates. Without it, a small write waits for the last acknowledgement.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def write(self, data: bytes) -> None:
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._send)
        self._unsent.append(data)

    def close(self) -> None:
        self._send()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _send(self) -> None:
        data = b"".join(self._unsent)
        self._unsent.clear()
        if data:
            self._transport.write(data)
