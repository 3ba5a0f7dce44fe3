"""Requests that nobody waits for any more."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from mcp import Client

from tests.unit.server.clients import MODERN
from tests.unit.server.protocol.made import Slow, made
from tests.unit.specs.serving import LONGEST

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_a_cancelled_call_ends_and_the_server_goes_on(project: Path, mode: str) -> None:
    live = Slow(project)
    with anyio.fail_after(LONGEST):
        async with Client(made(live), mode=mode) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "twice", {"number": 1})
                while not live.asked:
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
            live.door.set()
            answer = await client.call_tool("twice", {"number": 1})
            assert answer.structured_content == {"number": 2}
