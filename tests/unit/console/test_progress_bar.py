import pytest

from duvet.console.command import TerminalSettings
from duvet.console.progress import ProgressLines
from duvet.console.progress_bar import CountedBar, DownloadBar

ENVIRON = {"DUVET_INTERNAL_CI": "true"}


@pytest.mark.parametrize("colour", [False, True])
def test_failed_downloads_end_and_add_no_bytes(colour: bool, capsys: pytest.CaptureFixture[str]) -> None:
    bar = DownloadBar(ProgressLines(TerminalSettings(ENVIRON, colour=colour)), 2)
    with bar:
        bar.begin("https://host/a")
        bar.begin("https://host/b")
        bar.amount("https://host/a", 1_000_000)
        bar.amount("https://host/b", 1_500)
        bar.fail("https://host/a")
        bar.end("https://host/b")
    written = capsys.readouterr().err
    verb = "\x1b[32;1m  Downloaded\x1b[0m" if colour else "  Downloaded"
    assert written.endswith(f"{verb} 1 specification, 1.5 kB \n")
    assert (" 2/2 1.5 kB" in written, "\x1b[1;36m" in written) == (True, colour)
    # Without received bytes, no size is shown.
    with (bar := DownloadBar(ProgressLines(TerminalSettings(ENVIRON)), 1)):
        bar.begin("https://host/a")
        bar.fail("https://host/a")
    assert "Downloaded" not in capsys.readouterr().err


@pytest.mark.parametrize("soon", [0, 3600])
def test_a_step_is_counted_if_it_takes_long(soon: float, capsys: pytest.CaptureFixture[str]) -> None:
    with CountedBar(ProgressLines(TerminalSettings({})), "Reading files", 5, soon) as counted:
        for _ in range(3):
            counted.advance()
    written = capsys.readouterr().err
    assert ("Reading files" in written and "3/5" in written, written == "") == (not soon, bool(soon))
    # The line is taken away in the end, and the cursor comes back.
    assert soon or (written.endswith("\x1b[1A\x1b[2K") and "\x1b[?25h" in written)
