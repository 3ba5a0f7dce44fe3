from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.knowledge.ingest.ingest_projects import LEDGER, PLAIN, written
from tests.unit.tools.knowledge.knowledge_calls import Asking, asking


@pytest.fixture
def known(tmp_path: Path) -> Iterator[Asking]:
    with asking(tmp_path) as found:
        yield found


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    """An indexed project for tests that only read."""
    with asking(tmp_path_factory.mktemp("indexed")) as found:
        yield found


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Asking]:
    found = Asking(written(tmp_path / "ledger", LEDGER), PLAIN)
    yield found
    found.knowledge.close()
