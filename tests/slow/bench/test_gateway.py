"""The project that a team shares to measure that."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench.gateway import measured
from tests.slow.bench.test_knowledge import SENTENCES


@pytest.mark.skipif(sys.platform != "linux", reason="the clock of another process is one of Linux")
def test_what_a_team_waits_for(duvet_command: str, tmp_path: Path) -> None:
    figures = list(measured(duvet_command, tmp_path, 30, SENTENCES))
    assert [figure.name for figure in figures] == [
        "km-search through a gateway, to the same without",
        "feedback is kept, p50 in ms",
        "feedback is kept, p99 in ms",
        "a text is kept, p50 in ms",
        "a text is kept, p99 in ms",
        "a backup, ms",
        "a restore, ms",
        "the archive, to the store",
    ]
    assert all(figure.value > 0 for figure in figures)
