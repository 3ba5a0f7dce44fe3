"""A step of many parts on a terminal."""

from __future__ import annotations

import pytest

from duvet.console.command import TerminalSettings
from duvet.console.progress import ProgressLines
from duvet.console.progress_bar import CountedBar


def drawn(capsys: pytest.CaptureFixture[str], soon: float) -> str:
    """What is drawn of a step that is worth a line after so many seconds."""
    with CountedBar(ProgressLines(TerminalSettings({})), "Reading files", 5, soon) as counted:
        for _ in range(3):
            counted.advance()
    return capsys.readouterr().err


def test_it_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    written = drawn(capsys, 0)
    assert "Reading files" in written and "3/5" in written
    # The line is taken away in the end, and the cursor comes back.
    assert written.endswith("\x1b[1A\x1b[2K") and "\x1b[?25h" in written


def test_nothing_is_drawn_of_what_is_over_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert drawn(capsys, 3600) == ""
