"""The measuring itself, on programs that are known."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from tests.bench.measure import FailedError, environment, least


def test_a_run_costs_time_and_memory(tmp_path: Path) -> None:
    cost = least([sys.executable, "-c", "sum(range(10**6))"], tmp_path, 1)
    assert cost.cpu > 0 and cost.memory > 1


def test_memory_is_not_that_of_the_program_which_measures(tmp_path: Path) -> None:
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert least([sys.executable, "-I", "-S", "-c", ""], tmp_path, 1).memory < own / 2


def test_each_run_is_prepared(tmp_path: Path) -> None:
    log = tmp_path / "log"
    said = "print('run', file=open('log', 'a'))"

    def prepare() -> None:
        with log.open("a") as file:
            file.write("prepared ")

    least([sys.executable, "-c", said], tmp_path, 1, prepare)
    lines = log.read_text().splitlines()
    assert len(lines) > 1 and set(lines) == {"prepared run"}


def test_a_command_that_fails_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(FailedError, match="answered 3\nbroken"):
        least([sys.executable, "-c", "import sys; print('broken', file=sys.stderr); sys.exit(3)"], tmp_path, 1)


def test_what_would_change_the_work_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "GITHUB_ACTIONS", "DUVET_SHARED"):
        monkeypatch.setenv(name, "1")
    assert {"CI", "GITHUB_ACTIONS", "DUVET_SHARED"} & environment().keys() == set()
