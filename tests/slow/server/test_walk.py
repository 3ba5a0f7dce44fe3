"""The client of the SDK walks through a real project, over every transport with every version of the protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from duvet.project.project import Project
from tests.interop.running import listening
from tests.slow.test_conformance import copy_with_links
from tests.unit.server.clients import MODERN, client_of, over_stdio
from tests.unit.server.conftest import server_of
from tests.unit.server.plan import Plan, plan_of
from tests.unit.server.walk import Walked, read, walk

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def h3(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_with_links(shared / "golden/h3-704b37a/project", tmp_path_factory.mktemp("walk") / "h3")


@pytest.fixture(scope="module")
def plan(h3: Path) -> Plan:
    return plan_of(h3)


def check(walked: Walked, folder: Path, plan: Plan) -> None:
    """Nothing is missing, and the same is said everywhere."""
    catalogue = Project(str(folder)).catalogue
    kinds = Counter(uri.split("/")[-2] for uri in walked.objects if "/citations/" not in uri)
    assert kinds == {
        "specifications": len(catalogue.specifications),
        "sections": sum(len(one.sections) for one in catalogue.specifications),
        "requirements": len({catalogue.full_path_of(one) for one in catalogue.requirements}),
    }
    everything = walked.collections["duvet:///citations"]
    assert {one["id"] for one in everything} == {one.id for one in catalogue.citations}
    assert len(walked.collections["duvet:///requirements"]) == kinds["requirements"]
    assert set(walked.answers) == set(plan.tools) and set(walked.prompts) == set(plan.prompts)
    for uri, rows in walked.collections.items():
        below = {one for one in walked.objects if one.startswith(f"{uri}/") and one.count("/") == uri.count("/") + 1}
        if uri.count("/") > 3 and not uri.endswith("/citations"):
            assert len(below) == len(rows), uri


@pytest.fixture(scope="module")
def walks() -> dict[str, Walked]:
    """What each of the walks has seen, to be held against the others."""
    return {}


async def test_every_version_over_pipes(
    duvet_command: str, h3: Path, plan: Plan, version: str, walks: dict[str, Walked]
) -> None:
    async with client_of(over_stdio(duvet_command, h3), version, cache=None) as client:
        assert client.protocol_version == version
        walks[version] = await walk(client, plan)
    check(walks[version], h3, plan)
    # Servers in memory have instructions of their own.
    walks[version].prompts.pop("system")
    assert all(walked == walks[version] for walked in walks.values())


@pytest.fixture(scope="module")
def url(duvet_command: str, h3: Path) -> Iterator[str]:
    """Where a server over HTTP listens."""
    with listening(duvet_command, "-C", h3, "mcp", "--http", "127.0.0.1:0") as url:
        yield url


async def test_every_version_over_http(url: str, h3: Path, plan: Plan, version: str, walks: dict[str, Walked]) -> None:
    async with client_of(streamable_http_client(url), version, cache=None) as client:
        assert client.protocol_version == version
        walked = walks[f"http {version}"] = await walk(client, plan)
    check(walked, h3, plan)
    walked.prompts.pop("system")
    assert all(walked == one for one in walks.values())


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_both_eras_in_memory(h3: Path, plan: Plan, mode: str, walks: dict[str, Walked]) -> None:
    async with Client(server_of(h3), mode=mode, cache=None) as client:
        walks[mode] = await walk(client, plan)
        whole = await read(client, "duvet:///requirements")
        part = await read(client, "duvet:///requirements?limit=3")
    assert part == whole[:3]
    check(walks[mode], h3, plan)
    walks[mode].prompts.pop("system")
    assert all(walked == walks[mode] for walked in walks.values())
