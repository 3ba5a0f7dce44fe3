"""Sessions make room for others, and are told what they could not be told before."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import anyio.lowlevel
import httpx2
import pytest

from duvet.server.http.guards import HttpLimits
from duvet.server.protocol.server import DuvetServer
from tests.cli.made import KETTLE, SPECIFICATION, make
from tests.unit.server.conftest import server_of
from tests.unit.server.http.serving import LONGEST, MEDIA, answer_in, asking, greet, serving
from tests.unit.server.wire import hello, request
from tests.unit.watching.edits import create, save_by_rename

pytestmark = pytest.mark.anyio
OTHER = "127.0.0.2"
HEATING = "duvet:///specifications/spec/sections/heating"


async def status(client: httpx2.AsyncClient, session: dict[str, str]) -> int:
    return (await client.post("/mcp", json=request("ping"), headers=session)).status_code


async def test_the_session_that_is_idle_for_longest_makes_room(server: DuvetServer) -> None:
    async with serving(server, limits=HttpLimits(sessions=3)) as where, asking(where) as client:
        sessions = [await greet(client) for _ in range(3)]
        assert await status(client, sessions[0]) == 200
        sessions.append(await greet(client))
        assert [await status(client, one) for one in sessions] == [200, 404, 200, 200]


@pytest.mark.skipif(sys.platform != "linux", reason="every address of loopback")
async def test_who_has_most_sessions_makes_room(server: DuvetServer) -> None:
    ##= man/spec/mcp.md#limits
    ##= type=test
    ##% The server MUST close connections beyond the limit and, beyond that of sessions, end the longest idle one of the
    ##% client that has the most.
    async with serving(server, limits=HttpLimits(sessions=3)) as where, asking(where) as client:
        async with asking(where, at=OTHER) as flood:
            session = await greet(client)
            sessions = [await greet(flood) for _ in range(10)]
            found = [await status(flood, one) for one in sessions]
        assert await status(client, session) == 200
    assert found == [404] * 8 + [200] * 2


async def test_sessions_with_streams_stay(server: DuvetServer) -> None:
    async with (
        serving(server, limits=HttpLimits(sessions=2)) as where,
        asking(where) as client,
        AsyncExitStack() as stack,
    ):
        sessions = [await greet(client) for _ in range(2)]
        for session in sessions:
            stream = await stack.enter_async_context(client.stream("GET", "/mcp", headers=session))
            assert stream.status_code == 200
        refused = await client.post("/mcp", json=hello(), headers=MEDIA)
        assert (await client.delete("/mcp", headers=sessions[0])).status_code == 200
        sessions.append(await greet(client))
        assert [await status(client, one) for one in sessions] == [404, 200, 200]
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    return make(tmp_path / "kettle", KETTLE)


@pytest.fixture
async def telling(kettle: Path) -> AsyncIterator[DuvetServer]:
    """The product, which looks out for changes."""
    server = server_of(kettle)
    await server.live.context()
    yield server
    server.live.close()


async def test_what_happens_while_no_stream_is_open_is_told_later(kettle: Path, telling: DuvetServer) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% The server MUST notify each client independently of slow ones, over HTTP as soon as the client opens a stream.
    async with serving(telling) as where, asking(where) as client:
        silent, session = await greet(client), await greet(client)
        for one in (silent, session):
            asked = request("resources/subscribe", {"uri": HEATING})
            assert answer_in((await client.post("/mcp", json=asked, headers=one)).text)["result"] == {}
        async with client.stream("GET", "/mcp", headers=session) as stream:
            lines = stream.aiter_lines()
            for count in range(2):
                save_by_rename("spec.md", SPECIFICATION.replace("# Heating", f"# Heating\n\n{count}."))(kettle)
                assert await _methods(lines, 1) == {"notifications/resources/updated"}
        with anyio.fail_after(LONGEST):
            while telling.subscriptions.reaches(session["mcp-session-id"]):
                await anyio.lowlevel.checkpoint()
        create("src/b.rs", "//= spec.md#pouring\n//# The spout MAY drip.\n")(kettle)
        async with client.stream("GET", "/mcp", headers=session) as stream:
            assert await _methods(stream.aiter_lines(), 1) == {"notifications/resources/list_changed"}
        async with client.stream("GET", "/mcp", headers=silent) as stream:
            assert await _methods(stream.aiter_lines(), 2) == {
                "notifications/resources/updated",
                "notifications/resources/list_changed",
            }


async def _methods(lines: AsyncIterator[str], count: int) -> set[str]:
    """What the next messages of a stream tell."""
    found: set[str] = set()
    with anyio.fail_after(LONGEST):
        while len(found) < count:
            line = await anext(lines)
            if line.startswith("data: "):
                found.add(answer_in(line)["method"])
    return found
