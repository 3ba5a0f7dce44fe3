"""A server with a name, a title and a version of its own, and one version of the protocol: every criterion for its
handshake, over the pipes of a real process"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.made import make
from tests.cli.server.spexus.made import FILES, ID, SPEXUS, Start
from tests.unit.server.wire import Message, Wire, hello


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "spexus", FILES)


@pytest.fixture
def start(duvet_command: str, folder: Path) -> Iterator[Start]:
    """Starts the server with that configuration, or another one."""
    started: list[Wire] = []

    def begin(config: Path = SPEXUS) -> Wire:
        started.append(Wire(duvet_command, folder, "--config", str(config), "mcp"))
        return started[-1]

    yield begin
    for one in started:
        one.kill()


@pytest.fixture
def server(start: Start) -> Wire:
    return start()


@pytest.fixture
def line(server: Wire) -> bytes:
    """The answer to `initialize` as it came."""
    server.send(hello("2025-11-25", ID))
    return server.line()


@pytest.fixture
def answer(line: bytes) -> Message:
    message: Message = json.loads(line)
    return message


@pytest.fixture
def result(answer: Message) -> dict[str, Any]:
    found: dict[str, Any] = answer["result"]
    return found


@pytest.fixture
def instructions(result: dict[str, Any]) -> str:
    return str(result["instructions"])
