import signal
import socket
from pathlib import Path

import pytest

from tests.cli.command import Done, Run, files, start
from tests.cli.sample_project import CONFIG, SOURCE, SPECIFICATION, make
from tests.cli.terminals import Terminal
from tests.unit.specs.download_server import LONGEST, Held, text

PATHS = ("/good/kettle", "/bad/spout", "/good/lid")
BEGUN = " Downloading                      0/3 0 bytes kettle, spout, lid"


@pytest.fixture
def urls(held: Held, kettle: Path) -> list[str]:
    held.held = None
    urls = [f"{held.url}{path}" for path in PATHS]
    rules = "".join(f"[[specification]]\nsource = '{url}'\n" for url in urls)
    make(kettle, {".duvet/config.toml": f"'$schema' = 'duvet-cli/config/v1'\n{rules}"})
    return urls


def test_progress_is_shown_on_a_terminal(held: Held, urls: list[str], kettle: Path, duvet_command: str) -> None:
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


def test_each_download_is_shown(held: Held, urls: list[str], kettle: Path, duvet_command: str) -> None:
    size = len(text("kettle"))
    terminal = Terminal(duvet_command, kettle, "report", "--allow-http")
    for line, path in {
        BEGUN: PATHS[1],
        " Downloading ━━━━━━╸              1/3 0 bytes kettle, lid": PATHS[0],
        f" Downloading ━━━━━━━━━━━━━        2/3 {size} bytes lid": PATHS[2],
    }.items():
        terminal.until(line)
        held.doors[path].set()
    assert terminal.code() == 1
    lines = terminal.shown.lines
    assert lines[0] == f"  Downloaded 2 specifications, {size + len(text('lid'))} bytes "
    assert f"error: could not download {urls[1]}: the server answered 404 Not Found [DUV045]" in lines


@pytest.mark.parametrize(
    ("columns", "line"),
    [(50, " Downloading             0/3 0 bytes kettle, spou…"), (30, " Downloading   0/3 0 bytes ke…"), (80, BEGUN)],
)
@pytest.mark.usefixtures("urls")
def test_an_interruption_on_a_terminal(columns: int, line: str, kettle: Path, duvet_command: str) -> None:
    terminal = Terminal(duvet_command, kettle, "report", "--allow-http", columns=columns)
    terminal.until(line)
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.code() == 130
    assert terminal.shown.lines == ["", "interrupted", ""]
    assert terminal.shown.has_cursor
    assert not (kettle / ".duvet/specifications").exists()


def test_a_terminal_that_can_not_draw_or_is_quiet(
    held: Held, urls: list[str], kettle: Path, duvet_command: str
) -> None:
    held.held = set()
    terminal = Terminal(duvet_command, kettle, "report", "--allow-http", term="dumb")
    assert terminal.code() == 1
    assert terminal.shown.lines[:3] == [f" Downloading {url}" for url in urls]
    assert b"\x1b" not in terminal.written
    terminal = Terminal(duvet_command, kettle, "-q", "extract", "--allow-http", "-f", "auto", urls[2])
    assert (terminal.code(), terminal.written) == (0, b"")


def test_no_progress_without_a_terminal(held: Held, urls: list[str], kettle: Path, duvet_command: str) -> None:
    process = start(duvet_command, kettle, "report", "--allow-http")
    assert process.stderr is not None
    began = [process.stderr.readline() for _ in range(3)]
    held.doors[PATHS[2]].set()
    ended = [process.stderr.readline()]
    held.doors[PATHS[1]].set()
    held.doors[PATHS[0]].set()
    ended += [process.stderr.readline()]
    assert began == [f" Downloading {url}\n" for url in urls]
    assert ended == [f"  Downloaded {urls[2]} \n", f"  Downloaded {urls[0]} \n"]
    process.communicate(timeout=LONGEST)
    assert process.returncode == 1


@pytest.fixture
def dead_url() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"https://127.0.0.1:{server.getsockname()[1]}/spec"


@pytest.mark.parametrize(
    ("option", "reason"), [("--offline", "downloads are disabled"), ("--strict", "Connection refused")]
)
@pytest.mark.parametrize("is_configured", [True, False])
def test_a_failed_download_is_one_problem(
    is_configured: bool, option: str, reason: str, dead_url: str, reported: Path, duvet: Run
) -> None:
    citation = f"//= {dead_url}#heating\n//# The kettle MUST boil water.\n"
    make(reported, {"src/a.rs": f"{citation}\n{citation}", "src/b.rs": citation})
    if is_configured:
        make(reported, {".duvet/config.toml": CONFIG.replace('"spec.md"', f'"{dead_url}"')})
    before = files(reported)
    code, out, err = duvet("-q", "report", option)
    assert (code, out, err.count(reason), err.count("error:"), err.count("[DUV045]")) == (1, "", 1, 1, 1)
    assert f"\n --> {'.duvet/config.toml:5:10' if is_configured else 'src/a.rs:1:5'}\n" in err
    remedy = "leave out --offline, or " if option == "--offline" else ""
    assert f"  = help: {remedy}save the specification's text as .duvet/specifications/127.0.0.1/spec.txt\n" in err
    after = files(reported)
    assert {name for name in after if after[name] != before.get(name)} == {".duvet/reports/report.html"}
    make(reported, {".duvet/specifications/127.0.0.1/spec.txt": SPECIFICATION})
    make(reported, {"src/a.rs": SOURCE.replace("spec.md", dead_url), "src/b.rs": ""})
    if is_configured and option == "--offline":
        assert duvet("-q", "report", option) == Done(0, "", "")
