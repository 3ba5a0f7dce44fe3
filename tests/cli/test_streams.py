"""Standard streams that are closed, full, or read by nobody: no traceback, and the work is done all the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.running import Done, Run, files, runner

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell and its streams")

FULL = "error: can't write to standard output: No space left on device (os error 28) [DUV015]\n --> -\n"
SNAPSHOT = ".duvet/snapshot.txt"


def shell(folder: Path, duvet_command: str, script: str) -> Done:
    """What a shell does with `duvet` in a script."""
    return runner("/bin/sh", folder)("-c", script.replace("duvet", duvet_command))


def unread() -> int:
    """A stream whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def test_a_reader_that_has_read_enough(kettle: Path, duvet_command: str) -> None:
    done = shell(kettle, duvet_command, "duvet -q report --json - | head -c 1")
    assert done == Done(0, "{", "")
    assert (kettle / SNAPSHOT).exists()


@pytest.mark.parametrize("args", [("-q", "report", "--json", "-"), ("config",), ("--help",), ("--version",)])
def test_nobody_reads_standard_output(args: tuple[str, ...], kettle: Path, duvet: Run) -> None:
    stream = unread()
    assert duvet(*args, stdout=stream) == Done(0, "", "")
    os.close(stream)


def test_a_verdict_needs_no_reader(kettle: Path, duvet: Run) -> None:
    stream = unread()
    make(kettle, {"src/a.rs": ""})
    done = duvet("-q", "report", "--ci", "--json", "-", stdout=stream)
    os.close(stream)
    assert (done.code, done.err.count("error: Could not read report snapshot.")) == (1, 1)


@pytest.mark.parametrize(
    ("args", "code"), [(("report",), 0), (("report", "--ci"), 1), (("frobnicate",), 2), ((), 2), (("extract",), 2)]
)
def test_nobody_reads_standard_error(args: tuple[str, ...], code: int, kettle: Path, duvet: Run) -> None:
    stream = unread()
    assert duvet(*args, stderr=stream) == Done(code, "", "")
    os.close(stream)
    assert (kettle / ".duvet/reports/report.json").exists() == (args[:1] == ("report",))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("args", [("report", "--json", "-"), ("config",)])
def test_standard_output_is_full(args: tuple[str, ...], reported: Path, duvet: Run) -> None:
    before = files(make(reported, {"src/a.rs": ""}))
    with open("/dev/full", "wb") as full:
        assert duvet("-q", *args, stdout=full) == Done(1, "", f"{FULL}\nencountered 1 errors\n")
    assert files(reported) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_on_a_full_device(option: str, duvet: Run) -> None:
    with open("/dev/full", "wb") as full:
        done = duvet(option, stdout=full)
    assert done == Done(1, "", "error: No space left on device (os error 28)\n\nencountered 1 errors\n")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed(closed: str, kettle: Path, duvet_command: str) -> None:
    assert shell(kettle, duvet_command, f"duvet -q report {closed}") == Done(0, "", "")
    assert (kettle / SNAPSHOT).exists()


def test_standard_output_is_closed_but_asked_for(reported: Path, duvet_command: str) -> None:
    before = files(make(reported, {"src/a.rs": ""}))
    done = shell(reported, duvet_command, "duvet -q report --json - >&-")
    message = "error: standard output is closed [DUV015]\n --> -\n\nencountered 1 errors\n"
    assert done == Done(1, "", message)
    assert files(reported) == before


def test_standard_error_is_closed_and_something_is_wrong(kettle: Path, duvet_command: str) -> None:
    make(kettle, {"src/a.rs": "//= spec.md#nowhere\n"})
    assert shell(kettle, duvet_command, "duvet report 2>&-") == Done(1, "", "")
    assert shell(kettle, duvet_command, "duvet frobnicate 2>&-").code == 2


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_standard_output_under_each_of_its_names(name: str, reported: Path, duvet_command: str, duvet: Run) -> None:
    expected = json.loads((reported / ".duvet/reports/report.json").read_text())
    piped = duvet("-q", "report", "--json", name)
    assert (piped.code, json.loads(piped.out), piped.err) == (0, expected, "")
    into_file = shell(reported, duvet_command, f"duvet -q report --json {name} >out.json")
    assert (into_file, json.loads((reported / "out.json").read_text())) == (Done(0, "", ""), expected)


def test_a_pipe_with_a_reader(reported: Path, duvet: Run) -> None:
    expected = (reported / ".duvet/reports/report.json").read_bytes()
    os.mkfifo(reported / "pipe")
    with subprocess.Popen(["cat", "pipe"], cwd=reported, stdout=subprocess.PIPE) as reader:
        # Opening it waits for the reader; from here on there is one.
        with open(reported / "pipe", "wb"):
            assert duvet("-q", "report", "--json", "pipe") == Done(0, "", "")
        assert reader.communicate(timeout=60)[0] == expected


def test_merging_what_comes_from_standard_input(reported: Path, duvet: Run) -> None:
    report = duvet("-q", "report", "--json-v2", "-").out.encode()
    merged = duvet("merge", "--input", "-", "--output", "-", stdin=None, input=report)
    assert merged == Done(0, report.decode(), "")
