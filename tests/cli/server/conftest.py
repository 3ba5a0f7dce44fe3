from collections.abc import Iterator

import pytest

from tests.unit.llm.provider_server import Wire
from tests.unit.server.conftest import client, kettle, mode, project, server, version, wire
from tests.unit.specs.download_server import at_work

__all__ = ["client", "kettle", "mode", "project", "provider", "server", "version", "wire"]


@pytest.fixture
def provider() -> Iterator[Wire]:
    with at_work(Wire()) as wire:
        yield wire
        wire.over.set()
