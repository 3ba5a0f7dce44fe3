"""What the bar adds up; how it looks is seen in tests/cli/test_download_progress.py."""

from __future__ import annotations

import pytest

from duvet.console.command import TerminalSettings
from duvet.console.progress import ProgressLines
from duvet.console.progress_bar import DownloadBar

ENVIRON = {"DUVET_INTERNAL_CI": "true"}


@pytest.mark.parametrize(
    ("colour", "line"),
    [
        (False, "  Downloaded 1 specification, 1.5 kB \n"),
        (True, "\x1b[32;1m  Downloaded\x1b[0m 1 specification, 1.5 kB \n"),
    ],
)
def test_what_has_failed_is_over_and_comes_to_nothing(
    colour: bool, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bar = DownloadBar(ProgressLines(TerminalSettings(ENVIRON, colour=colour)), 2)
    with bar:
        bar.begin("https://host/a")
        bar.begin("https://host/b")
        bar.amount("https://host/a", 1_000_000)
        bar.amount("https://host/b", 1_500)
        bar.fail("https://host/a")
        bar.end("https://host/b")
    written = capsys.readouterr().err
    assert written.endswith(line)
    assert ("\x1b[1;36m" in written) is colour
    assert " 2/2 1.5 kB" in written


def test_nothing_is_said_where_nothing_came(capsys: pytest.CaptureFixture[str]) -> None:
    bar = DownloadBar(ProgressLines(TerminalSettings(ENVIRON)), 1)
    with bar:
        bar.begin("https://host/a")
        bar.fail("https://host/a")
    assert "Downloaded" not in capsys.readouterr().err
