"""Hands the messages of a request to the SDK, one by one, once they are messages at all."""

from __future__ import annotations

from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from duvet.server.http.answers import answer, refuse, too_busy
from duvet.server.http.batch import answer_in_turn
from duvet.server.http.body import replay
from duvet.server.http.hosts import headers_named
from duvet.server.http.rate import Buckets, Payer
from duvet.server.http.unwrapping import Unwrapping
from duvet.server.messages import INVALID_REQUEST, RefusedError, checked, decoded, encoded

_WITH_BATCHES = "2025-03-26"


class Messages:
    """Takes a body apart."""

    def __init__(self, app: ASGIApp, batch: int, buckets: Buckets, payer: Payer) -> None:
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
            found = decoded(body)
            if isinstance(found, list):
                await self._all(found, scope, receive, send)
            else:
                await self._one(checked(found), body, scope, receive, send)
        except RefusedError as error:
            await answer(send, 400, encoded(error.answer))

    async def _one(self, message: Any, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        ##= man/spec/mcp.md#http
        ##% An answer to `resources/get` that is an array MUST be the array itself, whether it comes as JSON or as an event.
        unwraps = message.get("method") == "resources/get"
        await self._app(scope, replay(body, receive), Unwrapping(send) if unwraps else send)

    async def _all(self, batch: list[object], scope: Scope, receive: Receive, send: Send) -> None:
        ##= man/spec/mcp.md#http
        ##% A batch of messages MUST be answered with an array where the protocol is 2025-03-26, and MUST be refused with 400
        ##% where it is a later one.
        if headers_named(scope, b"mcp-protocol-version") not in ([], [_WITH_BATCHES]):
            raise RefusedError(INVALID_REQUEST, f"Invalid Request: only {_WITH_BATCHES} has batches")
        if not 0 < len(batch) <= self._batch:
            raise RefusedError(INVALID_REQUEST, f"Invalid Request: a batch has 1 to {self._batch} messages")
        if seconds := self._buckets.wait(self._payer(scope), len(batch) - 1):
            await refuse(scope, send, too_busy(429, "Too many requests", seconds))
            return

        async def ask(message: Any, send: Send) -> None:
            await self._one(message, encoded(message), scope, receive, send)

        await answer_in_turn(batch, ask, send)
