"""A project with much that is wrong, `duvet` in it, and what it counts there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.running import Run, runner
from tests.conftest import ROOT
from tests.unit.project.made import FILES

GOLD = ROOT / "tests" / "gold" / "validate"
RIGHT_COUNT = "checked 1 annotation in 1 file: no problems\n"
ALL_COUNT = "checked 23 annotations in 8 files: 12 errors, 5 warnings\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "tea", FILES)


@pytest.fixture
def duvet(duvet_command: str, folder: Path) -> Run:
    return runner(duvet_command, folder)
