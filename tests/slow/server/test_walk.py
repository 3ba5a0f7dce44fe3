from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client._memory import InMemoryTransport
from mcp.client.streamable_http import streamable_http_client
from msgspec import json

from tests.interop.external_programs import listening
from tests.slow.test_conformance import copy_with_links
from tests.unit.server.clients import VERSIONS, Transport, client_of, over_stdio, text
from tests.unit.server.servers import server_of
from tests.unit.server.walk import Plan, Walked, plan_of, walk

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def golden(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_with_links(shared / "golden/dataplane-7b1f4a0/project", tmp_path_factory.mktemp("walk") / "golden")


@pytest.fixture(scope="module")
def plan(golden: Path) -> Plan:
    return plan_of(golden)


@pytest.fixture(scope="module")
def walks() -> list[Walked]:
    return []


@pytest.fixture(scope="module")
def url(duvet_command: str, golden: Path) -> Iterator[str]:
    with listening(duvet_command, "-C", golden, "mcp", "--http", "127.0.0.1:0") as url:
        yield url


@pytest.fixture(params=["stdio", "http", "memory"])
def transport(request: pytest.FixtureRequest, duvet_command: str, golden: Path, url: str) -> Transport:
    if request.param == "stdio":
        return over_stdio(duvet_command, golden)
    return streamable_http_client(url) if request.param == "http" else InMemoryTransport(server_of(golden))


@pytest.mark.criterion("core 2.1.1")
@pytest.mark.parametrize("version", VERSIONS)
async def test_every_protocol_version_works_over_every_transport(
    transport: Transport, plan: Plan, version: str, walks: list[Walked]
) -> None:
    async with client_of(transport, version, cache=None) as client:
        assert client.protocol_version == version
        walked = await walk(client, plan)
        part = json.decode(await text(client, "duvet:///requirements?limit=3"))
    assert part == walked.resources["duvet:///requirements"][:3]
    assert (set(walked.answers), set(walked.prompts)) == (set(plan.tools), set(plan.prompts))
    # Servers in memory have other instructions.
    walked.prompts.pop("system")
    walks.append(walked)
    assert walked == walks[0]
