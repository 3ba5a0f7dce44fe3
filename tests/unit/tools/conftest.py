from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.tools.context import ProjectSnapshot
from tests.cli.sample_project import make
from tests.conftest import ROOT
from tests.unit.llm.conftest import wire
from tests.unit.tools.tool_calls import FILES, context_of

__all__ = ["wire"]


@pytest.fixture(scope="session")
def context() -> ProjectSnapshot:
    return context_of(FILES)


@pytest.fixture
def answers(snapshot: Snapshot) -> Snapshot:
    """Return the golden files of answers."""
    snapshot.snapshot_dir = ROOT / "tests/gold/tools"
    return snapshot


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "site"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "project", FILES)
