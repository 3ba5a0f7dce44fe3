"""A project in a scratch history, and `duvet diff` in it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.cli.made import KETTLE
from tests.cli.running import Run, run
from tests.histories import ENVIRON, history


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project in which nothing has changed since its only commit."""
    return history(tmp_path / "kettle", KETTLE)


@pytest.fixture
def diff(duvet_command: str, folder: Path) -> Run:
    """`duvet diff` in it."""
    return partial(run, duvet_command, folder, "diff", environ=ENVIRON)
