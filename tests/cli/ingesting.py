"""A project to take in without vectors, runs that do, and what is known afterwards"""

from __future__ import annotations

import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.running import start
from tests.unit.knowledge.ingest.made import LEDGER, opened, written

WITHOUT_VECTORS = {"duvet.config.yaml": "ingest: {semantic: false}\n"}
STORE = ".duvet/knowledge/store.db"


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return written(tmp_path / "ledger", {**LEDGER, **WITHOUT_VECTORS})


def known(folder: Path) -> list[str]:
    with closing(opened(folder)) as store:
        return list(store.artifacts())


def started(command: str, folder: Path) -> subprocess.Popen[str]:
    return start(command, folder, "ingest")
