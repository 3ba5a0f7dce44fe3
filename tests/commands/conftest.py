"""A small project, as it is and reported on, and the command in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.made import KETTLE, make
from tests.commands.running import Run, runner
from tests.specs.serving import Held, serving


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    """A project in which nothing is wrong."""
    return make(tmp_path / "kettle", KETTLE)


@pytest.fixture
def duvet(duvet_command: str, kettle: Path) -> Run:
    """The installed command in the project."""
    return runner(duvet_command, kettle)


@pytest.fixture(scope="session")
def reported_once(duvet_command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with every file that a report writes, for all tests to copy."""
    folder = make(tmp_path_factory.mktemp("reported") / "kettle", KETTLE)
    assert runner(duvet_command, folder)("report").code == 0
    return folder


@pytest.fixture
def held() -> Iterator[Held]:
    """A server that answers when it is told to."""
    with serving() as server:
        yield server


@pytest.fixture
def reported(reported_once: Path, kettle: Path) -> Path:
    """The project with every file that a report writes."""
    shutil.copytree(reported_once, kettle, dirs_exist_ok=True)
    return kettle
