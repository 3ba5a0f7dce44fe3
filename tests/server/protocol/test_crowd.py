"""Many requests at once, and requests that nobody waits for any more."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from duvet.server.protocol.crowd import MOST
from tests.server.clients import MODERN
from tests.server.protocol.made import Slow, made
from tests.specs.serving import LONGEST

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_requests_beyond_the_limit_are_turned_away_and_all_others_answered(project: Path, mode: str) -> None:
    ##= man/spec/mcp.md#limits
    ##= type=test
    ##% While 1,000 requests are being answered, or 1,000 streams of changes are open, another one MUST be refused with
    ##% the code -32010.
    live = Slow(project)
    found: list[object] = []

    async def ask(number: int) -> None:
        answer = await client.call_tool("twice", {"number": number})
        found.append(answer.structured_content)

    with anyio.fail_after(LONGEST):
        async with Client(made(live), mode=mode) as client:
            # Its schemas are known before, or every one of the callers asks for them.
            await client.list_tools()
            async with anyio.create_task_group() as tasks:
                for number in range(MOST):
                    tasks.start_soon(ask, number)
                while live.asked < MOST:
                    await anyio.lowlevel.checkpoint()
                with pytest.raises(MCPError) as raised:
                    await client.call_tool("twice", {"number": 0})
                assert raised.value.error.code == -32010
                live.door.set()
            assert len(found) == MOST
            await ask(0)


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
