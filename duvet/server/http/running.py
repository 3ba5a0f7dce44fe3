"""Runs the application until a signal ends it."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from duvet.server.http.app import App
from duvet.server.http.connection import connections
from duvet.server.http.limits import Limits
from duvet.server.http.serve import SIGNALS


class Running(uvicorn.Server):
    """Says when it listens; lets streams end before it waits for them."""

    def __init__(self, app: App, limits: Limits, begun: Callable[[], None]) -> None:
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
        before = {one: signal.signal(one, lambda *_: self.leave()) for one in SIGNALS}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def _config(app: App, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        app.asgi,
        http=connections(limits),
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
