"""Answers that a client does not read don't fill the memory."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.lowlevel import Server
from mcp_types import RequestParams

from duvet.server.live_project import LiveProject
from duvet.server.messages import ServerIdentity
from duvet.server.protocol.server import DuvetServer
from duvet.server.protocol.session import ServerRequest
from duvet.server.stdio.handshake import ClientPipes, SessionOpening
from duvet.server.stdio.session import MAX_UNREAD_BYTES, converse
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry
from tests.unit.server.conftest import INSTRUCTIONS, PAGE_SIZE
from tests.unit.server.opened import LONGEST, opened
from tests.unit.server.stdio.talking import said
from tests.unit.server.wire import hello, request

BIG = "tests/big"
SIZE = MAX_UNREAD_BYTES // 4


class Big:
    """A method whose answer is large; it is made up from the project."""

    def __init__(self, live: LiveProject) -> None:
        self._live = live
        self.made = 0

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler(BIG, RequestParams, self._answer)

    async def _answer(self, ctx: ServerRequest, params: RequestParams) -> dict[str, Any]:
        return {"text": await self._live.ask(self._make)}

    def _make(self, context: ProjectSnapshot) -> str:
        self.made += 1
        return "x" * SIZE


@pytest.fixture
def live(project: Path) -> LiveProject:
    return LiveProject(lambda: opened(project), PAGE_SIZE)


@pytest.fixture
def big(live: LiveProject) -> Big:
    return Big(live)


@pytest.fixture
def server(live: LiveProject, big: Big) -> DuvetServer:
    return DuvetServer(ServerIdentity(), INSTRUCTIONS, live, ToolDispatcher(Registry(), live), parts=(big,))


def lines_of(*messages: object) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def test_no_more_is_made_up_than_may_wait(server: DuvetServer, big: Big, live: LiveProject) -> None:
    ##= man/spec/mcp.md#limits
    ##= type=test
    ##% The server MUST stop reading while 512 requests or 16 MiB of them are open, or 64 MiB of answers are unread.
    (reading, our_writing), (our_reading, writing) = os.pipe(), os.pipe()
    found: list[int] = []

    async def stay() -> None:
        await live.context()
        words = lines_of(hello(), *(request(BIG, id=id) for id in range(1, 21)))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(converse, ClientPipes(reading, writing), SessionOpening(words), server)
            await anyio.wait_all_tasks_blocked()
            found.append(big.made)
            lines = 0
            with anyio.fail_after(LONGEST):
                while lines < 21:
                    await anyio.wait_readable(our_reading)
                    lines += os.read(our_reading, 1 << 20).count(b"\n")
            tasks.cancel_scope.cancel()

    anyio.run(stay)
    for descriptor in (reading, our_writing, our_reading, writing):
        os.close(descriptor)
    # One is on its way already.
    assert (found, big.made) == ([5], 20)


def test_batches_are_not_made_up_without_end(server: DuvetServer) -> None:
    ##= man/spec/mcp.md#limits
    ##= type=test
    ##% The server MUST stop reading while 512 requests or 16 MiB of them are open, or 64 MiB of answers are unread.
    batch = [request(BIG, id=id) for id in range(1, 7)]
    _, first, second = said(server, lines_of(hello("2025-03-26"), batch), lines_of([request(BIG, id=7)]))
    told = [one.get("error", {}).get("code") for one in json.loads(first)]
    assert (len(told), told[:3], set(told[3:])) == (6, [None] * 3, {-32010})
    assert json.loads(second)[0]["result"]["text"] == "x" * SIZE
