"""Servers over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.server.live_project import LiveProject
from duvet.server.protocol.server import DuvetServer
from tests.unit.server.conftest import server_of
from tests.unit.server.http.made import Waiting, server_with


@pytest.fixture
def live(project: Path) -> LiveProject:
    return server_of(project).live


@pytest.fixture
def waiting() -> Waiting:
    """What tests decide when it answers."""
    return Waiting()


@pytest.fixture
def server(live: LiveProject, waiting: Waiting) -> DuvetServer:
    """The product with methods of the tests."""
    return server_with(live, waiting)
