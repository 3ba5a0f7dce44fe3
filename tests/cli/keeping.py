"""A project that was taken in, `duvet` in it, and the backups of it"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.running import Run, runner
from tests.unit.knowledge.stored import fill
from tests.unit.tools.made import FILES

KEPT = ".duvet/knowledge"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    config = json.dumps({"ingest": {"semantic": False}, "toolPacks": {"knowledge": {}}})
    return fill(make(tmp_path / "pot", {**FILES, "duvet.config.json": config}))


@pytest.fixture
def duvet(duvet_command: str, project: Path) -> Run:
    return runner(duvet_command, project)


def backups(project: Path) -> list[str]:
    return sorted(path.relative_to(project).as_posix() for path in project.rglob("*.tgz"))
