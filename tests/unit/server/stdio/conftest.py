"""A server with a method that is never answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.project.project import Project
from duvet.server.live_project import LiveProject
from duvet.server.messages import ServerIdentity
from duvet.server.protocol.server import DuvetServer
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry
from tests.unit.server.conftest import INSTRUCTIONS, PAGE_SIZE
from tests.unit.server.stdio.talking import Odd


@pytest.fixture
def odd() -> Odd:
    return Odd()


@pytest.fixture
def patient(project: Path, odd: Odd) -> DuvetServer:
    live = LiveProject(lambda: Project(str(project)), PAGE_SIZE)
    return DuvetServer(ServerIdentity(), INSTRUCTIONS, live, ToolDispatcher(Registry(), live), parts=(odd,))
