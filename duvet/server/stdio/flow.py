"""Bytes through descriptors that others hold as well, so that they can't be set not to block."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import anyio
from anyio import to_thread

from duvet.server.stdio.blocking import CHUNK

_SURE = 4096
"""Bytes that go without blocking into a pipe which can be written to."""


class Flow(Protocol):
    """One direction of a connection."""

    async def read(self) -> bytes:
        """What has arrived; nothing at the end."""

    async def write(self, data: bytes) -> None:
        """Send all of it."""

    @property
    def hung_up(self) -> bool:
        """Whether nobody is at the other end, as far as the system tells."""


def flow(descriptor: int) -> Flow:
    """The way that this system offers."""
    return Polled(descriptor) if hasattr(select, "poll") else Threaded(descriptor)


class Polled:
    """Asks whether a call would block, and waits on the event loop if so: nothing is left behind by who gives up."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._reading = _poll(descriptor, select.POLLIN)
        self._writing = _poll(descriptor, select.POLLOUT)
        self._ending = _poll(descriptor, 0)

    async def read(self) -> bytes:
        if self._reading(0):
            await anyio.lowlevel.checkpoint()
        else:
            await anyio.wait_readable(self._descriptor)
        while True:
            try:
                return os.read(self._descriptor, CHUNK)
            except BlockingIOError:
                # Somebody else who holds it was faster.
                await anyio.wait_readable(self._descriptor)

    async def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            if not self._writing(0):
                await anyio.wait_writable(self._descriptor)
            # It may be set not to block all the same.
            with suppress(BlockingIOError):
                rest = rest[os.write(self._descriptor, rest[:_SURE]) :]

    @property
    def hung_up(self) -> bool:
        return bool(self._ending(0))


def _poll(descriptor: int, event: int) -> Callable[[int], list[tuple[int, int]]]:
    poll = select.poll()
    poll.register(descriptor, event)
    return poll.poll


class Threaded:
    """Blocks in a thread, which is left alone by who gives up."""

    hung_up = False

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def read(self) -> bytes:
        return await to_thread.run_sync(os.read, self._descriptor, CHUNK, abandon_on_cancel=True)

    async def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[await to_thread.run_sync(os.write, self._descriptor, rest, abandon_on_cancel=True) :]
