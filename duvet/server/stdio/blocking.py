"""Bytes through descriptors, with all the waiting that it takes, even where somebody has set them not to block."""

from __future__ import annotations

import os
import select

CHUNK = 1 << 16


def read_some(descriptor: int) -> bytes:
    """What has arrived; nothing at the end."""
    while True:
        try:
            return os.read(descriptor, CHUNK)
        except BlockingIOError:
            ##= man/spec/mcp.md#transport
            ##% An input that is set not to block MUST be waited for.
            select.select([descriptor], [], [])


def write_all(descriptor: int, data: bytes) -> None:
    """Send all of it."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            select.select([], [descriptor], [])
