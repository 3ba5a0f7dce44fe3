"""A provider on loopback, routers to it, and a clock that nobody waits for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.llm.wire import Wire
from tests.unit.specs.serving import at_work


@pytest.fixture
def anyio_backend() -> str:
    """What asynchronous tests run on."""
    return "asyncio"


@pytest.fixture
def wire() -> Iterator[Wire]:
    with at_work(Wire()) as server:
        yield server
        server.over.set()


@pytest.fixture
def other() -> Iterator[Wire]:
    """Another host."""
    with at_work(Wire()) as server:
        yield server
        server.over.set()
