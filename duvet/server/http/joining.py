"""What is written in one go is sent in one go: an answer is written as its headers and its body, and each send costs."""

from __future__ import annotations

import asyncio
import socket
from typing import Any


class Joining:
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
