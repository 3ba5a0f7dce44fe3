from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from duvet.server.live_project import LiveProject
from duvet.server.protocol.server import DuvetServer
from tests.unit.server.http.http_server import connected
from tests.unit.server.http.waiting_server import Waiting, waiting_server
from tests.unit.server.servers import live_of


@pytest.fixture
def live(project: Path) -> LiveProject:
    return live_of(project)


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


@pytest.fixture
def server(live: LiveProject, waiting: Waiting) -> DuvetServer:
    return waiting_server(live, waiting)


@pytest.fixture
async def http(server: DuvetServer) -> AsyncIterator[httpx2.AsyncClient]:
    async with connected(server) as client:
        yield client
