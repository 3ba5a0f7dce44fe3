"""An interrupted run ends at once, with exit code 130, and leaves what was there."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.made import CONFIG, make
from tests.cli.running import files, start
from tests.unit.specs.serving import LONGEST, Held, text

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes in folders")


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.fixture
def silent_server() -> Iterator[int]:
    """The port of a server that takes every call and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_while_downloading(silent_server: int, reported: Path, duvet_command: str) -> None:
    url = f"http://127.0.0.1:{silent_server}/spec"
    before = files(make(reported, {".duvet/config.toml": CONFIG.replace('"spec.md"', f'"{url}"')}))
    process = start(duvet_command, reported, "report", "--allow-http")
    assert process.stderr is not None
    lines = [process.stderr.readline() for _ in range(2)]
    assert lines == ["  Extracting requirements\n", f" Downloading {url}\n"]
    assert interrupted(process) == (130, "", "\ninterrupted\n")
    assert files(reported) == before


def test_while_downloading_several(held: Held, reported: Path, duvet_command: str) -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet MUST refuse an HTML page as a specification, and leave no file after a failed download.
    held.held = {"/good/slow", "/good/stuck"}
    urls = [f"{held.url}/good/{name}" for name in ("slow", "quick", "stuck")]
    configured = "[[specification]]\n".join(f'source = "{url}"\n' for url in urls)
    before = files(make(reported, {".duvet/config.toml": CONFIG.replace('source = "spec.md"\n', configured)}))
    process = start(duvet_command, reported, "report", "--allow-http")
    assert process.stderr is not None
    lines = [process.stderr.readline() for _ in range(5)]
    assert lines == [
        "  Extracting requirements\n",
        *(f" Downloading {url}\n" for url in urls),
        f"  Downloaded {urls[1]} \n",
    ]
    assert {held.asked.get(timeout=LONGEST) for _ in urls} == {"/good/slow", "/good/quick", "/good/stuck"}
    assert interrupted(process) == (130, "", "\ninterrupted\n")
    assert files(reported) == {**before, ".duvet/specifications/127.0.0.1/good/quick.txt": text("quick")}


def test_while_writing(reported: Path, duvet_command: str) -> None:
    ##= man/spec/trace.md#diagnostics
    ##% duvet MUST exit with 0 for yes, 1 for no, 2 for wrong usage, 3 for a defect of duvet, and 130 when interrupted.
    make(reported, {"src/a.rs": "//= spec.md#heating\n//# The kettle MUST boil water.\n" * 2000})
    before = files(reported)
    os.mkfifo(reported / "pipe")
    reader = os.open(reported / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    process = start(duvet_command, reported, "-q", "report", "--json", "pipe")
    # What comes first is in the pipe, and the rest does not fit.
    assert select.select([reader], [], [], 60)[0] == [reader]
    assert interrupted(process) == (130, "", "\ninterrupted\n")
    os.close(reader)
    assert files(reported) == before
