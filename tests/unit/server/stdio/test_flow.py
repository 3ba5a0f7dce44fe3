"""Bytes through descriptors that block, without blocking."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from duvet.server.stdio.session import ByteStream, PolledStream, ThreadedStream

pytestmark = pytest.mark.anyio
BIG = bytes(range(256)) * 4096
LONGEST = 30
kinds = pytest.mark.parametrize("kind", [PolledStream, ThreadedStream])


@kinds
async def test_all_of_it_arrives(kind: Callable[[int], ByteStream]) -> None:
    reading, writing = os.pipe()
    heard = bytearray()

    async def write() -> None:
        await kind(writing).write(BIG)
        os.close(writing)

    with anyio.fail_after(LONGEST):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            while data := await kind(reading).read():
                heard += data
    os.close(reading)
    assert heard == BIG


@kinds
async def test_who_waits_can_be_stopped(kind: Callable[[int], ByteStream]) -> None:
    reading, writing = os.pipe()
    came = []
    with anyio.fail_after(LONGEST):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(kind(reading).read)
            tasks.start_soon(kind(writing).write, BIG + BIG)
            await anyio.wait_all_tasks_blocked()
            came.append("here")
            tasks.cancel_scope.cancel()
    os.close(reading)
    os.close(writing)
    assert came == ["here"]


@kinds
async def test_nobody_reads(kind: Callable[[int], ByteStream]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        await kind(writing).write(b"a")
    os.close(writing)


async def test_files_are_read_to_their_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"words")
    descriptor = os.open(path, os.O_RDONLY)
    flow = PolledStream(descriptor)
    assert (await flow.read(), await flow.read(), flow.hung_up) == (b"words", b"", False)
    os.close(descriptor)


async def test_the_other_end_is_closed() -> None:
    reading, writing = os.pipe()
    flow = PolledStream(reading)
    before = flow.hung_up
    os.write(writing, b"unread")
    os.close(writing)
    assert (before, flow.hung_up) == (False, True)
    os.close(reading)
