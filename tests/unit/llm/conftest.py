from collections.abc import Iterator

import pytest

from tests.unit.llm.provider_server import Wire
from tests.unit.specs.download_server import at_work


@pytest.fixture
def wire() -> Iterator[Wire]:
    with at_work(Wire()) as server:
        yield server
        server.over.set()


other = wire
