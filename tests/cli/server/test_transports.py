"""Features of duvet beyond the SDK, over pipes and HTTP, in the oldest and the newest version of the protocol."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.cli.sample_project import SPECIFICATION
from tests.edits import create, save_by_rename
from tests.unit.server.clients import LISTS, MODERN, Transport, client_of, got, hearing, list_below, over_stdio
from tests.unit.server.http.command import Command
from tests.unit.server.http.http_server import MEDIA, MODERN_HEADERS, messages_in
from tests.unit.server.servers import LONGEST
from tests.unit.server.stdio_server import Wire, enveloped, hello, request

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")]
HEATING = "duvet:///specifications/spec/sections/heating"
CITATIONS = "duvet:///citations"
KETTLE = {
    "id": "spec",
    "name": "Kettle",
    "url": "spec.md",
    "description": "The kettle MUST boil water. It SHOULD whistle when done.",
}

Connect = Callable[[], Transport]


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest, duvet_command: str, kettle: Path) -> Iterator[Connect]:
    if request.param == "stdio":
        yield lambda: over_stdio(duvet_command, kettle)
        return
    with Command(duvet_command, kettle) as command:
        yield lambda: streamable_http_client(command.url)


async def test_our_own_methods(connect: Connect, version: str) -> None:
    with anyio.fail_after(LONGEST):
        async with client_of(connect(), version) as client:
            assert await got(client, path="/specifications/spec") == KETTLE
            assert await got(client, uri="duvet:///specifications/spec") == KETTLE
            (child,) = (await list_below(client, "/specifications")).resources
            assert (child.uri, child.meta) == ("duvet:///specifications/spec", {"duvet/object": KETTLE})
            assert len((await list_below(client, "/requirements?limit=2")).resources) == 2
            for path in ("/specifications/tee", "/nothing"):
                for ask in (got(client, path=path), list_below(client, path)):
                    with pytest.raises(MCPError) as refused:
                        await ask
                    code = -32602 if version == MODERN else -32002
                    assert (refused.value.code, refused.value.data) == (code, {"uri": path})


@pytest.mark.criterion("core 2.2.2")
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_answers_are_bare_arrays_and_objects(duvet_command: str, kettle: Path, transport: str, version: str) -> None:
    asked: list[dict[str, Any]] = [{"path": "/specifications"}, {"uri": "duvet:///specifications"}]
    asked.append({"path": "/specifications/spec"})
    params = [enveloped(one) if version == MODERN else one for one in asked]
    if transport == "stdio":
        process = Wire(duvet_command, kettle)
        if version != MODERN:
            process.greet(version)
        answers = [process.ask("resources/get", one) for one in params]
        process.kill()
    else:
        with Command(duvet_command, kettle) as command, command.client() as client:
            headers = {**MODERN_HEADERS, "mcp-method": "resources/get"}
            if version != MODERN:
                greeted = client.post("/mcp", json=hello(version), headers=MEDIA)
                headers = {**MEDIA, "mcp-session-id": greeted.headers["mcp-session-id"]}
            texts = [client.post("/mcp", json=request("resources/get", one), headers=headers) for one in params]
            answers = [one.json() if version == MODERN else messages_in(one.text)[0] for one in texts]
    results = [answer.pop("result") for answer in answers]
    assert answers == [{"jsonrpc": "2.0", "id": 1}] * 3
    if version == MODERN:
        assert set(results[2].pop("_meta")) == {"io.modelcontextprotocol/serverInfo"}
        assert results[2].pop("resultType") == "complete"
    assert results == [[KETTLE], [KETTLE], KETTLE]


async def test_changes_are_notified(connect: Connect, mode: str, kettle: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##% The server MUST notify clients of changes in subscribed resources, and of new and removed specifications,
    ##% requirements, citations and pages.
    with anyio.fail_after(LONGEST):
        async with hearing(connect(), mode, [HEATING, CITATIONS]) as heard:
            save_by_rename("spec.md", SPECIFICATION.replace("# Heating", "# Heating\n\nQuickly."))(kettle)
            await heard.until(HEATING)
            create("src/b.rs", "//= spec.md#pouring\n//# The spout MAY drip.\n")(kettle)
            await heard.until(CITATIONS, LISTS)
