from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from mcp import Client

from duvet.server.protocol.server import DuvetServer
from tests.cli.sample_project import KETTLE, make
from tests.cli.tea_project import TEA_PROJECT
from tests.unit.server.clients import HANDSHAKES, MODERN
from tests.unit.server.servers import server_of
from tests.unit.server.stdio_server import Wire


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "tea", TEA_PROJECT)


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    return make(tmp_path / "kettle", KETTLE)


@pytest.fixture
def server(project: Path) -> Iterator[DuvetServer]:
    server = server_of(project)
    yield server
    server.live.close()


@pytest.fixture(params=["legacy", MODERN])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def client(mode: str, server: DuvetServer) -> AsyncIterator[Client]:
    async with Client(server, mode=mode) as client:
        yield client


@pytest.fixture(params=[HANDSHAKES[0], MODERN])
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def wire(duvet_command: str, project: Path) -> Iterator[Callable[..., Wire]]:
    """Start `duvet mcp` in the project for conversations line by line, and kill it after the test."""
    started: list[Wire] = []

    def start(*args: str, **environ: str) -> Wire:
        started.append(Wire(duvet_command, project, *args, **environ))
        return started[-1]

    yield start
    for one in started:
        one.kill()
