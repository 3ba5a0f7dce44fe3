"""A connection that neither sends nor reads too slowly."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from duvet.server.http.joining import Joining
from duvet.server.http.limits import Limits
from duvet.server.messages import encoded
from duvet.tools.errors import Code

_MEANT = {431: "The headers are too large", 400: "This is not HTTP"}


class Connection(H11Protocol):
    """One client's, with a deadline for what is asked and for what is read."""

    def __init__(self, limits: Limits, **given: Any) -> None:
        super().__init__(**given)
        self._limits = limits
        self._arrival = _Deadline(limits.arrival)
        self._unread = _Deadline(limits.unread)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast(asyncio.Transport, Joining(transport)))
        ##= man/spec/mcp.md#limits
        ##% Connections beyond the limit MUST be closed.
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
        ##% A client that leaves what is sent to it unread MUST be cut off.
        self._unread.begin(self.transport)

    def resume_writing(self) -> None:
        self._unread.end()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Say what is wrong with the headers; h11 knows, and is about to be heard."""
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        fault = {"code": Code.INVALID_REQUEST.value, "message": _MEANT.get(status, _MEANT[400]), "hint": ""}
        body = encoded({"status": "error", "error": fault})
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


def connections(limits: Limits) -> type[asyncio.Protocol]:
    """What makes connections with these limits."""
    return cast(type[asyncio.Protocol], partial(Connection, limits))
