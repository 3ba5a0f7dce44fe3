"""The measuring itself, on programs that are known."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench.measure import FailedError, environment, least


def test_a_run_costs_time_and_memory(tmp_path: Path) -> None:
    cost = least([sys.executable, "-c", "sum(range(10**6))"], tmp_path, 1)
    assert cost.cpu > 0 and cost.memory > 1


def test_a_command_that_fails_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(FailedError, match="answered 3\nbroken"):
        least([sys.executable, "-c", "import sys; print('broken', file=sys.stderr); sys.exit(3)"], tmp_path, 1)


def test_what_would_change_the_work_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "GITHUB_ACTIONS", "DUVET_SHARED"):
        monkeypatch.setenv(name, "1")
    assert {"CI", "GITHUB_ACTIONS", "DUVET_SHARED"} & environment().keys() == set()
