"""Reads a request: as a whole, not too much of it, and not for long."""

from __future__ import annotations

import anyio
from msgspec.structs import replace
from starlette.types import ASGIApp, Receive, Scope, Send

from duvet.server.http.answers import Refusal, refuse
from duvet.server.http.hosts import headers_named
from duvet.tools.errors import Code

_CLOSE = (("connection", "close"),)
_SWALLOWED = 16
"""Times the limit. A client that can't send on doesn't read the answer, either."""

TOO_LARGE = Refusal(status=413, code=Code.INVALID_REQUEST, message="The request is too large", headers=_CLOSE)
"""The hint says how large it may be."""
TOO_SLOW = Refusal(status=408, code=Code.INVALID_REQUEST, message="The request came too slowly", headers=_CLOSE)
ENDING = Refusal(
    status=503,
    code=Code.UPSTREAM_ERROR,
    message="The server is about to end",
    hint="try again later",
    headers=(("retry-after", "5"), *_CLOSE),
)


class TooLargeError(Exception):
    """There is more of it than may be."""


class _Arrival:
    """A request that is arriving."""

    def __init__(self, seconds: float) -> None:
        self.size = 0
        self.scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)


class BodyGuard:
    """Hands requests on that are there as a whole."""

    def __init__(self, app: ASGIApp, limit: int, room: int, seconds: float) -> None:
        """No request may have more bytes than the limit, nor take longer than that; all together have so much room."""
        self._app = app
        self._limit = limit
        self._room = room
        self._seconds = seconds
        self._arriving: dict[_Arrival, None] = {}
        self._is_ending = False

    def end(self) -> None:
        """Wait for nothing that has not arrived."""
        self._is_ending = True
        for arrival in self._arriving:
            arrival.scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await self._arrived(scope, receive)
        except TooLargeError:
            ##= man/spec/mcp.md#limits
            ##% A request whose body is larger than the limit MUST be refused with 413, before it is parsed.
            hint = f"it may have {self._limit:,} bytes: send less at once, and text as UTF-8, which is shorter than escapes"
            await refuse(scope, send, replace(TOO_LARGE, hint=hint))
        except TimeoutError:
            ##= man/spec/mcp.md#limits
            ##% A client that sends a request too slowly MUST be refused.
            await refuse(scope, send, ENDING if self._is_ending else TOO_SLOW)
        else:
            if body is not None:
                await self._app(scope, replay(body, receive), send)

    async def _arrived(self, scope: Scope, receive: Receive) -> bytes | None:
        arrival = _Arrival(self._seconds)
        self._arriving[arrival] = None
        try:
            with arrival.scope:
                return await self._read(arrival, scope, receive)
            raise TimeoutError
        finally:
            self._arriving.pop(arrival, None)

    async def _read(self, arrival: _Arrival, scope: Scope, receive: Receive) -> bytes | None:
        """The body; None where the client has left."""
        if self._declares_too_much(scope) and headers_named(scope, b"expect"):
            raise TooLargeError
        body = bytearray()
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            part = message.get("body", b"")
            size += len(part)
            if size <= self._limit:
                body += part
                arrival.size = size
                self._make_room()
            if size > self._limit * _SWALLOWED:
                raise TooLargeError
            if not message.get("more_body"):
                break
        if size > self._limit:
            raise TooLargeError
        return bytes(body)

    def _make_room(self) -> None:
        ##= man/spec/mcp.md#limits
        ##% Requests that are arriving MUST NOT keep others out: where they are too much together, the one that takes
        ##% longest is refused.
        while sum(one.size for one in self._arriving) > self._room:
            oldest = next(iter(self._arriving))
            del self._arriving[oldest]
            oldest.scope.cancel()

    def _declares_too_much(self, scope: Scope) -> bool:
        return any(
            value.isdigit() and int(value[:20]) > self._limit for value in headers_named(scope, b"content-length")
        )


def replay(body: bytes, receive: Receive) -> Receive:
    """The body again, in one piece; then what else there is to hear from the client."""
    parts = [body]

    async def heard() -> dict[str, object]:
        if parts:
            return {"type": "http.request", "body": parts.pop(), "more_body": False}
        return dict(await receive())

    return heard
