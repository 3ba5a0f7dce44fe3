"""A project to search, the command in it, and the golden files of its answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.made import make
from tests.cli.running import Run, runner
from tests.conftest import ROOT
from tests.unit.queries.made import SEARCH_FILES as FILES


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    return make(tmp_path / "tea", FILES)


@pytest.fixture
def find(duvet_command: str, tea: Path) -> Run:
    """The command in the project."""
    return runner(duvet_command, tea)


@pytest.fixture
def gold(snapshot: Snapshot) -> Snapshot:
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "search"
    return snapshot
