"""Reads request bodies with limits, and splits batches."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from msgspec import json as msgspec_json
from msgspec.structs import replace
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duvet.server.http.guards import (
    HttpRefusal,
    RateLimitKey,
    TokenBuckets,
    get_headers,
    make_busy_refusal,
    send_json,
    send_refusal,
)
from duvet.server.messages import (
    INVALID_REQUEST,
    InvalidMessageError,
    check_message,
    decode_message,
    encode_message,
    unwrap_array,
)
from duvet.tools.tool import ErrorCode

_CLOSE = (("connection", "close"),)
_SWALLOWED = 16
"""Times the limit. A client that can't send on doesn't read the answer, either."""

TOO_LARGE = HttpRefusal(status=413, code=ErrorCode.INVALID_REQUEST, message="The request is too large", headers=_CLOSE)
"""The hint says how large it may be."""
TOO_SLOW = HttpRefusal(
    status=408, code=ErrorCode.INVALID_REQUEST, message="The request came too slowly", headers=_CLOSE
)
SHUTTING_DOWN = HttpRefusal(
    status=503,
    code=ErrorCode.UPSTREAM_ERROR,
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
            ##% The server MUST refuse a line of more than 4 MiB with the error -32600, and a larger body than
            ##% configured with 413, without reading it all.
            hint = f"it may have {self._limit:,} bytes: send less at once, and text as UTF-8, which is shorter than escapes"
            await send_refusal(scope, send, replace(TOO_LARGE, hint=hint))
        except TimeoutError:
            ##= man/spec/mcp.md#limits
            ##% The server MUST disconnect clients that send or read too slowly, and MUST NOT let them block others.
            await send_refusal(scope, send, SHUTTING_DOWN if self._is_ending else TOO_SLOW)
        else:
            if body is not None:
                await self._app(scope, replay_body(body, receive), send)

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
        if self._declares_too_much(scope) and get_headers(scope, b"expect"):
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
        while sum(one.size for one in self._arriving) > self._room:
            oldest = next(iter(self._arriving))
            del self._arriving[oldest]
            oldest.scope.cancel()

    def _declares_too_much(self, scope: Scope) -> bool:
        return any(value.isdigit() and int(value[:20]) > self._limit for value in get_headers(scope, b"content-length"))


def replay_body(body: bytes, receive: Receive) -> Receive:
    """The body again, in one piece; then what else there is to hear from the client."""
    parts = [body]

    async def heard() -> dict[str, object]:
        if parts:
            return {"type": "http.request", "body": parts.pop(), "more_body": False}
        return dict(await receive())

    return heard


_DATA = b"data: "


class ArrayUnwrapper:
    """Sends the answer to one request on, whether it comes as JSON or as a stream of events."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message = {}
        self._held = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            if self._is_stream:
                await self._send(message)
        elif self._is_stream:
            # The SDK sends each event in one piece.
            await self._send({**message, "body": _unwrap_events(message.get("body", b""))})
        else:
            self._held += message.get("body", b"")
            if not message.get("more_body"):
                await self._send_whole()

    @property
    def _is_stream(self) -> bool:
        return read_content_type(self._start).startswith(b"text/event-stream")

    async def _send_whole(self) -> None:
        body = (
            _unwrap(bytes(self._held)) if read_content_type(self._start) == b"application/json" else bytes(self._held)
        )
        headers = [pair for pair in self._start["headers"] if pair[0] != b"content-length"]
        length = (b"content-length", str(len(body)).encode())
        await self._send({**self._start, "headers": [*headers, length]})
        await self._send({"type": "http.response.body", "body": body})


def read_content_type(start: Message) -> bytes:
    """What an answer begins as."""
    found = [value for name, value in start.get("headers", ()) if name.lower() == b"content-type"]
    return bytes(found[0]) if found else b""


def _unwrap_events(events: bytes) -> bytes:
    lines = events.split(b"\n")
    return b"\n".join(
        _DATA + _unwrap(line[len(_DATA) :].rstrip(b"\r")) + line[len(line.rstrip(b"\r")) :]
        if line.startswith(_DATA)
        else line
        for line in lines
    )


def _unwrap(text: bytes) -> bytes:
    answer = json.loads(text)
    if not (isinstance(answer, dict) and isinstance(answer.get("result"), dict)):
        return text
    # Escapes throughout: names of files may hold what is no character.
    return json.dumps({**answer, "result": unwrap_array(answer["result"])}, separators=(",", ":")).encode()


MessageHandler = Callable[[Any, Send], Awaitable[None]]


async def answer_batch(batch: list[object], ask: MessageHandler, send: Send) -> None:
    """Ask for each, and answer for all of them: with what the first was refused with, if one was."""
    answers: list[object] = []
    for value in batch:
        heard = _Heard()
        try:
            await _ask(value, ask, heard)
        except InvalidMessageError as error:
            answers.append(error.answer)
            continue
        if heard.status >= 400:
            await heard.pass_on(send)
            return
        answers += heard.answers()
    if answers:
        await send_json(send, 200, encode_message(answers))
    else:
        await send_json(send, 202, b"")


async def _ask(value: object, ask: MessageHandler, heard: _Heard) -> None:
    message = check_message(value)
    if message.get("method") == "initialize":
        raise InvalidMessageError(INVALID_REQUEST, "Invalid Request: initialize comes alone", message.get("id"))
    await ask(message, heard)


class _Heard:
    """What the SDK sent for one message."""

    def __init__(self) -> None:
        self._start: Message = {}
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
        else:
            self._body += message.get("body", b"")

    @property
    def status(self) -> int:
        return int(self._start.get("status", 500))

    async def pass_on(self, send: Send) -> None:
        await send(self._start)
        await send({"type": "http.response.body", "body": bytes(self._body)})

    def answers(self) -> list[object]:
        """The answer, if it is a request; what is told on the way has no place in an array of answers."""
        body = bytes(self._body)
        if read_content_type(self._start).startswith(b"text/event-stream"):
            texts = [line[len(_DATA) :] for line in body.splitlines() if line.startswith(_DATA)]
        else:
            texts = [body] if body else []
        found = [msgspec_json.decode(text) for text in texts]
        return [one for one in found if "result" in one or "error" in one]


_WITH_BATCHES = "2025-03-26"


class MessageSplitter:
    """Takes a body apart."""

    def __init__(self, app: ASGIApp, batch: int, buckets: TokenBuckets, payer: RateLimitKey) -> None:
        self._app = app
        self._batch = batch
        self._buckets = buckets
        self._payer = payer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = (await receive())["body"]
        try:
            found = decode_message(body)
            if isinstance(found, list):
                await self._all(found, scope, receive, send)
            else:
                await self._one(check_message(found), body, scope, receive, send)
        except InvalidMessageError as error:
            await send_json(send, 400, encode_message(error.answer))

    async def _one(self, message: Any, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        ##= man/spec/mcp.md#resources
        ##% `resources/get` MUST return the object or the array itself, or with `?limit=` the first entries.
        unwraps = message.get("method") == "resources/get"
        await self._app(scope, replay_body(body, receive), ArrayUnwrapper(send) if unwraps else send)

    async def _all(self, batch: list[object], scope: Scope, receive: Receive, send: Send) -> None:
        ##= man/spec/mcp.md#standard-input-and-output
        ##% The server MUST answer a batch with one array in versions of the protocol that have batches, and refuse it
        ##% in all others, over HTTP too.
        if get_headers(scope, b"mcp-protocol-version") not in ([], [_WITH_BATCHES]):
            raise InvalidMessageError(INVALID_REQUEST, f"Invalid Request: only {_WITH_BATCHES} has batches")
        if not 0 < len(batch) <= self._batch:
            raise InvalidMessageError(INVALID_REQUEST, f"Invalid Request: a batch has 1 to {self._batch} messages")
        if seconds := self._buckets.wait(self._payer(scope), len(batch) - 1):
            await send_refusal(scope, send, make_busy_refusal(429, "Too many requests", seconds))
            return

        async def ask(message: Any, send: Send) -> None:
            await self._one(message, encode_message(message), scope, receive, send)

        await answer_batch(batch, ask, send)
