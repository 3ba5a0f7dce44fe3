"""The sessions of clients with a handshake, of which there is always room for another."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import GET_STREAM_KEY, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from duvet.server.http.limits import Limits
from duvet.server.http.rate import client_of


class Sessions(StreamableHTTPSessionManager):
    """Ends idle sessions where there are too many, and tells when one gets a stream for what it is told of changes."""

    def __init__(self, server: Server[Any], limits: Limits, opened: Callable[[str], None]) -> None:
        # Hosts, origins and bodies are looked at before the SDK sees them.
        super().__init__(
            server,
            session_idle_timeout=limits.idle_session,
            max_sessions=limits.sessions,
            max_request_body_size=limits.body,
        )
        self._most = limits.sessions
        self._opened = opened
        self._clients: dict[str, str] = {}

    def has_stream(self, session: str | None) -> bool:
        """Whether a client can be told of something that it hasn't asked for just now."""
        transport = self._server_instances.get(session or "")
        return transport is not None and GET_STREAM_KEY in transport._request_streams

    async def end(self) -> None:
        """End all of them."""
        for transport in list(self._server_instances.values()):
            await transport.terminate()

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        if len(self._server_instances) >= self._most:
            self._make_room()
        transport = super()._admit_session(requestor)
        if transport is not None:
            transport._request_streams = _Streams(partial(self._opened, transport.mcp_session_id or ""))
        return transport

    def _make_room(self) -> None:
        """End the session that was idle for longest, of those of the client that has most."""
        ##= man/spec/mcp.md#limits
        ##% Where there are too many sessions, the one that was idle for longest MUST make room for another, of those of
        ##% the client that has most of them.
        held = Counter(self._clients.get(id) for id in self._server_instances)
        idle = [
            (-held[self._clients.get(id)], transport.idle_scope.deadline, id)
            for id, transport in self._server_instances.items()
            if transport.idle_scope and transport.idle_scope.deadline < math.inf
        ]
        if idle:
            *_, id = min(idle)
            transport = self._server_instances.pop(id)
            self._session_owners.pop(id, None)
            self._clients.pop(id, None)
            assert transport.idle_scope
            transport.idle_scope.cancel()

    async def _serve_opening_request(
        self, http_transport: StreamableHTTPServerTransport, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._clients[http_transport.mcp_session_id or ""] = client_of(scope)
        await super()._serve_opening_request(http_transport, scope, receive, send)

    async def _discard_session(self, session_id: str, transport: StreamableHTTPServerTransport) -> None:
        self._clients.pop(session_id, None)
        await super()._discard_session(session_id, transport)


class _Streams(dict[Any, Any]):
    """The streams of a session; tells when the one comes that belongs to no request."""

    def __init__(self, opened: Callable[[], None]) -> None:
        super().__init__()
        self._opened = opened

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if key == GET_STREAM_KEY:
            self._opened()
