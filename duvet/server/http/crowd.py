"""How many requests are at work at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duvet.server.http.answers import API, Refusal, refuse, too_busy
from duvet.server.http.hosts import headers_named
from duvet.server.http.rate import client_of
from duvet.server.messages import LASTING

_ENDING = too_busy(503, "The server is about to end", 5)
_ALWAYS = 8
"""Places that one client may take however few are left."""


class Crowd:
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
        kind = _is_stream(scope), client_of(scope)
        if refusal := self._refusal(*kind):
            await refuse(scope, send, refusal)
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
            await refuse(scope, send, _ENDING)

    def give_up(self) -> None:
        """Refuse what was let in and has no answer yet."""
        ##= man/spec/service.md#rest
        ##% A call that is not done when the server has to end MUST be refused with 503 and a `Retry-After`.
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

    def _refusal(self, is_stream: bool, client: str) -> Refusal | None:
        if self._stopping:
            return _ENDING
        ##= man/spec/mcp.md#limits
        ##% Where too many requests are at work, or too many streams are open, a further one MUST be refused with 503 and a
        ##% `Retry-After`.
        left = self._room[is_stream]
        if not left:
            return too_busy(503, "Too many requests at once", 1)
        ##= man/spec/mcp.md#limits
        ##% A further request of a client that has 8 or more at work, and no fewer than there is room left for, MUST be
        ##% refused with 503 and a `Retry-After`; the same holds for streams.
        if self._held[is_stream, client] >= max(left, _ALWAYS):
            return too_busy(503, "Too many requests of this client at once", 1)
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
    is_plain = scope["path"].startswith(API)
    return (scope["method"] == "GET" and not is_plain) or headers_named(scope, b"mcp-method") == [LASTING]
