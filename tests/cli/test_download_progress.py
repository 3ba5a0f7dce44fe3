"""What is seen of downloads: a bar on a terminal, and lines elsewhere."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.running import environment
from tests.unit.specs.serving import LONGEST, Held, text

if sys.platform == "win32":
    pytest.skip("no pseudo-terminals", allow_module_level=True)

from tests.cli.terminals import Terminal

PATHS = ("/good/kettle", "/bad/spout", "/good/lid")


@pytest.fixture
def urls(held: Held, kettle: Path) -> list[str]:
    """What is to be downloaded, each when its door is opened."""
    held.held = None
    urls = [f"{held.url}{path}" for path in PATHS]
    rules = "".join(f"[[specification]]\nsource = '{url}'\n" for url in urls)
    make(kettle, {".duvet/config.toml": f"'$schema' = 'duvet-cli/config/v1'\n{rules}"})
    return urls


def test_a_terminal(held: Held, urls: list[str], kettle: Path, duvet_command: str) -> None:
    terminal = Terminal(duvet_command, kettle, "extract", "--allow-http", "-f", "auto", urls[0])
    terminal.until(" Downloading                      0/1 0 bytes kettle")
    held.doors[PATHS[0]].set()
    assert terminal.code() == 0
    assert terminal.shown.lines == [
        f"  Extracting requirements from {urls[0]}",
        f"  Downloaded 1 specification, {len(text('kettle'))} bytes ",
        "   Extracted 1 requirements across 1 sections ",
        "",
    ]
    assert terminal.shown.has_cursor


def test_one_after_another(held: Held, urls: list[str], kettle: Path, duvet_command: str) -> None:
    size = len(text("kettle"))
    terminal = Terminal(duvet_command, kettle, "report", "--allow-http")
    for line, path in {
        " Downloading                      0/3 0 bytes kettle, spout, lid": PATHS[1],
        " Downloading ━━━━━━╸              1/3 0 bytes kettle, lid": PATHS[0],
        f" Downloading ━━━━━━━━━━━━━        2/3 {size} bytes lid": PATHS[2],
    }.items():
        terminal.until(line)
        held.doors[path].set()
    assert terminal.code() == 1
    lines = terminal.shown.lines
    assert lines[:3] == [
        "  Extracting requirements",
        f"  Downloaded 2 specifications, {size + len(text('lid'))} bytes ",
        "   Extracted requirements from 3 specifications ",
    ]
    assert f"error: could not download {urls[1]}: the server answered 404 Not Found [DUV045]" in lines


@pytest.mark.parametrize(
    ("columns", "line"),
    [(50, " Downloading             0/3 0 bytes kettle, spou…"), (30, " Downloading   0/3 0 bytes ke…")],
)
def test_a_narrow_terminal(
    columns: int, line: str, held: Held, urls: list[str], kettle: Path, duvet_command: str
) -> None:
    terminal = Terminal(duvet_command, kettle, "report", "--allow-http", columns=columns)
    terminal.until(line)
    for path in PATHS:
        held.doors[path].set()
    assert terminal.code() == 1


def test_an_interruption(held: Held, urls: list[str], kettle: Path, duvet_command: str) -> None:
    terminal = Terminal(duvet_command, kettle, "report", "--allow-http")
    terminal.until(" Downloading                      0/3 0 bytes kettle, spout, lid")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.code() == 130
    assert terminal.shown.lines == ["  Extracting requirements", "", "interrupted", ""]
    assert terminal.shown.has_cursor
    assert not (kettle / ".duvet/specifications").exists()


def test_a_terminal_that_can_not_draw(held: Held, urls: list[str], kettle: Path, duvet_command: str) -> None:
    held.held = set()
    terminal = Terminal(duvet_command, kettle, "report", "--allow-http", term="dumb")
    assert terminal.code() == 1
    assert terminal.shown.lines[1:4] == [f" Downloading {url}" for url in urls]
    assert b"\x1b" not in terminal.written


def test_a_quiet_terminal(held: Held, urls: list[str], kettle: Path, duvet_command: str) -> None:
    held.held = set()
    terminal = Terminal(duvet_command, kettle, "-q", "extract", "--allow-http", "-f", "auto", urls[0])
    assert (terminal.code(), terminal.written) == (0, b"")


def test_no_terminal(held: Held, urls: list[str], kettle: Path, duvet_command: str) -> None:
    process = subprocess.Popen(
        [duvet_command, "report", "--allow-http"],
        cwd=kettle,
        env=environment(NO_PROXY="127.0.0.1"),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    began = [process.stderr.readline() for _ in range(4)]
    held.doors[PATHS[2]].set()
    ended = [process.stderr.readline()]
    held.doors[PATHS[1]].set()
    held.doors[PATHS[0]].set()
    ended += [process.stderr.readline() for _ in range(2)]
    assert began == ["  Extracting requirements\n", *(f" Downloading {url}\n" for url in urls)]
    assert ended == [
        f"  Downloaded {urls[2]} \n",
        f"  Downloaded {urls[0]} \n",
        "   Extracted requirements from 3 specifications \n",
    ]
    process.communicate(timeout=LONGEST)
    assert process.returncode == 1
