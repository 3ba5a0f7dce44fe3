"""What the product has beyond the SDK, over real pipes and sockets: methods of its own, and notices of changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from duvet.server.protocol.server import DuvetServer
from tests.cli.made import KETTLE, SPECIFICATION, make
from tests.unit.server.asking import below, got
from tests.unit.server.clients import MODERN, Transport, client_of, over_stdio
from tests.unit.server.hearing import LISTS, hearing
from tests.unit.server.http.command import Command
from tests.unit.server.http.serving import MODERN_HEADERS, answer_in, asking, greet, serving
from tests.unit.server.opened import LONGEST
from tests.unit.server.wire import Message, Wire, enveloped, request
from tests.unit.watching.edits import create, save_by_rename

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")]
HEATING = "duvet:///specifications/spec/sections/heating"
CITATIONS = "duvet:///citations"
SPECIFICATION_OBJECT = {
    "id": "spec",
    "name": "Kettle",
    "url": "spec.md",
    "description": "The kettle MUST boil water. It SHOULD whistle when done.",
}

Connect = Callable[[], Transport]


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    return make(tmp_path / "kettle", KETTLE)


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest, duvet_command: str, kettle: Path) -> Iterator[Connect]:
    """Begins a connection to the installed command."""
    if request.param == "stdio":
        yield lambda: over_stdio(duvet_command, kettle)
        return
    with Command(duvet_command, kettle) as command:
        yield lambda: streamable_http_client(command.url)


async def test_our_own_methods(connect: Connect, version: str) -> None:
    with anyio.fail_after(LONGEST):
        async with client_of(connect(), version) as client:
            assert await got(client, path="/specifications/spec") == SPECIFICATION_OBJECT
            assert await got(client, uri="duvet:///specifications/spec") == SPECIFICATION_OBJECT
            (child,) = (await below(client, "/specifications")).resources
            assert (child.uri, child.meta) == (
                "duvet:///specifications/spec",
                {"duvet/object": SPECIFICATION_OBJECT},
            )
            assert len((await below(client, "/requirements?limit=2")).resources) == 2
            for path in ("/specifications/tee", "/nothing"):
                await _refused(client, path, -32602 if version == MODERN else -32002)


def test_arrays_over_pipes(wire: Callable[..., Wire], version: str) -> None:
    """By hand, for the client of the SDK knows no answer that is an array."""
    process = wire()
    params: Message = {"path": "/specifications"}
    if version == MODERN:
        params = enveloped(params)
    else:
        process.greet(version)
    assert [one["id"] for one in process.ask("resources/get", params)["result"]] == ["rfc7168", "tea"]


async def test_arrays_over_http(server: DuvetServer, version: str) -> None:
    asked = request("resources/get", {"path": "/specifications"})
    async with serving(server) as where, asking(where) as client:
        if version == MODERN:
            asked["params"] = enveloped(asked["params"])
            answer = await client.post("/mcp", json=asked, headers={**MODERN_HEADERS, "mcp-method": "resources/get"})
            found = answer.json()
        else:
            answer = await client.post("/mcp", json=asked, headers=await greet(client, version))
            found = answer_in(answer.text)
    assert [one["id"] for one in found["result"]] == ["rfc7168", "tea"]


async def _refused(client: Client, path: str, code: int) -> None:
    for ask in (got(client, path=path), below(client, path)):
        with pytest.raises(MCPError) as refused:
            await ask
        assert (refused.value.error.code, refused.value.error.data) == (code, {"uri": path})


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_notices_of_changes(connect: Connect, mode: str, kettle: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% The server MUST notify a client when a resource that it has subscribed to changes, and when specifications,
    ##% requirements or citations come or go.
    with anyio.fail_after(LONGEST):
        async with hearing(connect(), mode, [HEATING, CITATIONS]) as heard:
            save_by_rename("spec.md", SPECIFICATION.replace("# Heating", "# Heating\n\nQuickly."))(kettle)
            await heard.until(HEATING)
            create("src/b.rs", "//= spec.md#pouring\n//# The spout MAY drip.\n")(kettle)
            await heard.until(CITATIONS, LISTS)
