"""A server with a method that is never answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.project import Project
from duvet.server.identity import Identity
from duvet.server.live import Live
from duvet.server.protocol.server import DuvetServer
from duvet.tools.desk import Desk
from duvet.tools.registry import Registry
from tests.unit.server.conftest import INSTRUCTIONS, PAGE_SIZE
from tests.unit.server.stdio.talking import Odd


@pytest.fixture
def odd() -> Odd:
    return Odd()


@pytest.fixture
def patient(project: Path, odd: Odd) -> DuvetServer:
    live = Live(lambda: Project(str(project)), PAGE_SIZE)
    return DuvetServer(Identity(), INSTRUCTIONS, live, Desk(Registry(), live), parts=(odd,))
