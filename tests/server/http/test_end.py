"""How a server ends that is at work."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from duvet.server.http.limits import Limits
from duvet.server.protocol.server import DuvetServer
from tests.server.http.made import Waiting
from tests.server.http.serving import LONGEST, asking, greet, running
from tests.server.wire import request

pytestmark = pytest.mark.anyio


async def test_an_answer_at_work_is_finished(server: DuvetServer, waiting: Waiting) -> None:
    found: list[str] = []
    async with running(server) as (where, served), asking(where) as client:
        session = await greet(client)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_wait, client, session, found)
            await waiting.asked.wait()
            served.leave()
            with anyio.fail_after(LONGEST):
                while (
                    answer := await client.post("/mcp", json=request("ping", id=2), headers=session)
                ).status_code == 200:
                    pass
            waiting.may_answer.set()
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert '"waited":true' in found[0]


async def test_an_answer_that_never_comes_is_not_waited_for(server: DuvetServer, waiting: Waiting) -> None:
    found: list[str] = []
    with anyio.fail_after(LONGEST):
        async with running(server, limits=Limits(stopping=0.1)) as (where, _), asking(where) as client:
            session = await greet(client)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_wait, client, session, found)
                await waiting.asked.wait()
                tasks.cancel_scope.cancel()
    assert found == []


async def _wait(client: Any, session: dict[str, str], found: list[str]) -> None:
    found.append((await client.post("/mcp", json=request("tests/wait"), headers=session)).text)
