"""What is written in one go is sent in one go."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import anyio
import pytest

from duvet.server.http.listener import CoalescingTransport

pytestmark = pytest.mark.anyio


class Transport:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def get_extra_info(self, name: str) -> None:
        """There is no socket."""

    def write(self, data: bytes) -> None:
        self.told.append(data)

    def close(self) -> None:
        self.told.append("closed")


async def test_pieces_are_joined() -> None:
    transport = Transport()
    joining = CoalescingTransport(cast(asyncio.Transport, transport))
    joining.write(b"head")
    joining.write(b"body")
    assert transport.told == []
    await anyio.lowlevel.checkpoint()
    joining.write(b"more")
    joining.close()
    await anyio.lowlevel.checkpoint()
    assert transport.told == [b"headbody", b"more", "closed"]
