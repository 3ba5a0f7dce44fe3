"""A server over a small project, and clients of both eras of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from mcp import Client

from duvet.server.live_project import LiveProject
from duvet.server.messages import ServerIdentity
from duvet.server.protocol.server import DuvetServer
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry
from tests.cli.made import make
from tests.cli.made_tea import TEA_PROJECT
from tests.unit.server.clients import MODERN, VERSIONS
from tests.unit.server.opened import opened
from tests.unit.server.wire import Wire

INSTRUCTIONS = "Ask before you cite."
PAGE_SIZE = 50


@pytest.fixture
def anyio_backend() -> str:
    """What asynchronous tests run on."""
    return "asyncio"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with an RFC and Markdown, requirements in every state, and a few citations that are wrong."""
    return make(tmp_path / "tea", TEA_PROJECT)


def server_of(folder: Path, page_size: int = PAGE_SIZE) -> DuvetServer:
    """A server over the project in a folder."""
    live = LiveProject(lambda: opened(folder), page_size)
    return DuvetServer(ServerIdentity(), INSTRUCTIONS, live, ToolDispatcher(Registry(), live))


@pytest.fixture
def server(project: Path) -> Iterator[DuvetServer]:
    server = server_of(project)
    yield server
    server.live.close()


@pytest.fixture(params=["legacy", MODERN])
async def client(request: pytest.FixtureRequest, server: DuvetServer) -> AsyncIterator[Client]:
    """A client in memory, of the era with a handshake and of the one without."""
    async with Client(server, mode=request.param) as client:
        yield client


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Each version of the protocol; `tests.unit.server.clients` connects with it."""
    return str(request.param)


@pytest.fixture
def wire(duvet_command: str, project: Path) -> Iterator[Callable[..., Wire]]:
    """Starts `duvet mcp` in the project, to be spoken to in lines; whatever the test comes to, nothing is left running."""
    started: list[Wire] = []

    def start(*args: str, **environ: str) -> Wire:
        started.append(Wire(duvet_command, project, *args, words=("mcp",), **environ))
        return started[-1]

    yield start
    for one in started:
        one.kill()
