"""Clients that leave before they are answered, and clients that want all there is."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack

import anyio
import anyio.lowlevel
import pytest

from duvet.server.http.guards import HttpLimits
from duvet.server.protocol.server import DuvetServer
from tests.unit.server.http.made import Waiting
from tests.unit.server.http.serving import LONGEST, MEDIA, Where, asking, error_of, greet, serving
from tests.unit.server.http.test_operations import counted
from tests.unit.server.wire import hello

pytestmark = pytest.mark.anyio
BODY = json.dumps({"tool": "wait"}).encode()
CALL = b"POST /api/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
ELSEWHERE = "127.0.0.2"
MANY = 20


async def begun(stack: AsyncExitStack, where: Where, count: int, waiting: Waiting) -> None:
    """So many calls are at work, until the stack lets go of their connections."""
    for number in range(count):
        stream = await stack.enter_async_context(await anyio.connect_tcp(*where))
        await stream.send(CALL)
        while waiting.at_work <= number:
            await anyio.lowlevel.checkpoint()


async def test_a_call_ends_when_its_client_leaves(server: DuvetServer, waiting: Waiting) -> None:
    ##= man/spec/service.md#rest
    ##= type=test
    ##% The server MUST cancel a call when its client disconnects, and answer calls that it cannot finish before it
    ##% stops with 503 and `Retry-After`.
    with anyio.fail_after(LONGEST):
        async with serving(server, limits=HttpLimits(requests=MANY)) as where, asking(where) as client:
            for _ in range(MANY):
                async with AsyncExitStack() as stack:
                    await begun(stack, where, 1, waiting)
                while waiting.at_work:
                    await anyio.lowlevel.checkpoint()
            assert waiting.given_up.is_set()
            assert (await client.post("/api/mcp", json={"tool": "coverage_summary"})).status_code == 200
            metrics = (await client.get("/metrics")).text
    assert counted(metrics, "duvet_http_requests_at_work") == {(): 1}


@pytest.mark.parametrize(("places", "most"), [(9, 8), (24, 12)])
async def test_one_client_leaves_room_for_others(server: DuvetServer, waiting: Waiting, places: int, most: int) -> None:
    ##= man/spec/mcp.md#limits
    ##= type=test
    ##% The server MUST answer 429 to a client that exceeds its rate, and 503 when too many requests or streams are
    ##% open, each with `Retry-After`.
    with anyio.fail_after(LONGEST):
        async with (
            serving(server, limits=HttpLimits(requests=places)) as where,
            asking(where) as greedy,
            asking(where, at=ELSEWHERE) as other,
            AsyncExitStack() as stack,
        ):
            await begun(stack, where, most, waiting)
            refused = await greedy.post("/mcp", headers=MEDIA, json=hello())
            assert (await other.post("/api/mcp", json={"tool": "coverage_summary"})).status_code == 200
            waiting.may_answer.set()
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert refused.json() == error_of("upstream_error", "Too many requests of this client at once", "try again later")


async def test_one_client_leaves_streams_to_others(server: DuvetServer) -> None:
    with anyio.fail_after(LONGEST):
        async with (
            serving(server, limits=HttpLimits(streams=9)) as where,
            asking(where) as greedy,
            AsyncExitStack() as stack,
        ):
            for _ in range(8):
                session = await greet(greedy)
                stream = await stack.enter_async_context(greedy.stream("GET", "/mcp", headers=session))
                assert stream.status_code == 200
            assert (await greedy.get("/mcp", headers=await greet(greedy))).status_code == 503
            async with asking(where, at=ELSEWHERE) as other:
                session = await greet(other)
                async with other.stream("GET", "/mcp", headers=session) as stream:
                    assert stream.status_code == 200
