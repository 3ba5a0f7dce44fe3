"""The installed command as clients start it: how it begins, what gets out of it, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import environment
from tests.unit.server.wire import Wire, hello, request
from tests.unit.specs.serving import LONGEST

Start = Callable[..., Wire]
NOTICE = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CALL = request("tools/call", {"name": "resolve_spec_id", "arguments": {"url": "tea.md"}}, id="call")
PRINTS = """
import os, subprocess, sys
from duvet.server.stdio.handshake import take_standard_streams
print("before", flush=True)
wire = take_standard_streams()
print("printed")
sys.stdout.flush()
os.write(1, b"written\\n")
os.write(wire.writing, b"message\\n")
child = f"import os, sys; print('child', repr(sys.stdin.read())); os.write({wire.writing}, b'inherited')"
code = subprocess.run([sys.executable, "-c", child], stderr=subprocess.DEVNULL).returncode
print("code", code, flush=True)
os.write(wire.writing, os.read(wire.reading, 100))
"""


def test_what_is_printed_does_not_reach_the_client() -> None:
    ##= man/spec/mcp.md#standard-input-and-output
    ##= type=test
    ##% The server MUST write nothing to its client but messages of the protocol, each one line of UTF-8 that ends in a
    ##% line feed, whatever it or a child process prints.
    done = subprocess.run([sys.executable, "-c", PRINTS], input=b"heard\n", capture_output=True, check=True)
    assert done.stdout == b"before\nmessage\nheard\n"
    assert done.stderr == b"printed\nwritten\nchild ''\ncode 1\n"


@pytest.mark.parametrize("missing", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-", "</dev/null", "</dev/null >&-"])
def test_streams_that_are_missing(missing: str, duvet_command: str, project: Path) -> None:
    command = ["sh", "-c", f'exec "$0" mcp {missing}', duvet_command]
    done = subprocess.run(
        command,
        cwd=project,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LONGEST,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_file_of_messages(duvet_command: str, project: Path) -> None:
    path = project / "messages"
    path.write_text("\n".join(json.dumps(one) for one in (hello(), NOTICE, CALL)))
    with path.open("rb") as messages, (project / "answers").open("wb") as answers:
        done = subprocess.run(
            [duvet_command, "mcp"],
            cwd=project,
            env=environment(),
            stdin=messages,
            stdout=answers,
            stderr=subprocess.PIPE,
            timeout=LONGEST,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    greeting, called = (json.loads(line) for line in (project / "answers").read_bytes().splitlines())
    assert (greeting["id"], called["id"]) == (0, "call")
    assert called["result"]["structuredContent"] == {"spec_id": "tea"}


def test_everything_at_once(wire: Start) -> None:
    ##= man/spec/mcp.md#standard-input-and-output
    ##= type=test
    ##% The server MUST exit with 0 at the end of its input, after at most ten seconds for open requests, and
    ##% immediately on SIGINT, SIGTERM or a closed output.
    process = wire()
    ids = range(1, 201)
    process.send(
        b"".join(json.dumps(one).encode() + b"\n" for one in (hello(), NOTICE, *(request("ping", id=i) for i in ids)))
    )
    assert process.read()["id"] == 0
    assert sorted(process.read()["id"] for _ in ids) == list(ids)
    assert (process.end(), process.line(), process.told()) == (0, b"", "")


def test_pipes_that_do_not_block(wire: Start, duvet_command: str, project: Path) -> None:
    theirs, ours = socket.socketpair()
    with theirs, ours:
        theirs.setblocking(False)
        process = subprocess.Popen(
            [duvet_command, "mcp"],
            cwd=project,
            env=environment(),
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.PIPE,
        )
        try:
            ours.settimeout(LONGEST)
            # Once this is taken, there is nothing to read.
            ours.sendall(b" ")
            _until_taken(theirs.fileno(), process)
            lines = ours.makefile("rb")
            for asked in (hello(), CALL):
                ours.sendall(json.dumps(asked).encode() + b"\n")
                assert json.loads(lines.readline())["id"] == asked["id"]
            ours.shutdown(socket.SHUT_WR)
            _, told = process.communicate(timeout=LONGEST)
            assert (process.returncode, told) == (0, b"")
        finally:
            process.kill()
            process.wait()


def test_the_end_comes_while_it_is_starting(wire: Start) -> None:
    process = wire()
    process.send(hello())
    assert process.end() == 0
    assert process.read()["id"] == 0
    assert (process.line(), process.told()) == (b"", "")


def test_a_first_line_that_is_none_of_a_handshake(wire: Start) -> None:
    process = wire()
    process.send(b"{\n")
    assert process.read()["error"]["code"] == -32700
    assert process.greet()["id"] == 0
    assert process.ask("ping", id=2) == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert (process.end(), process.told()) == (0, "")


@pytest.mark.parametrize("sort", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("words", [0, 1, 2])
def test_signals_end_it(sort: signal.Signals, words: int, wire: Start) -> None:
    ##= man/spec/mcp.md#standard-input-and-output
    ##= type=test
    ##% The server MUST exit with 0 at the end of its input, after at most ten seconds for open requests, and
    ##% immediately on SIGINT, SIGTERM or a closed output.
    process = wire()
    process.send(b" ")
    if words:
        process.send(hello())
        process.read()
    else:
        assert process.process.stdin is not None
        _until_taken(process.process.stdin.fileno(), process.process)
    if words == 2:
        process.ask("ping")
    process.process.send_signal(sort)
    assert (process.process.wait(LONGEST), process.told()) == (0, "")


def _until_taken(descriptor: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until it reads: what was sent is gone from the pipe, and its own descriptors lead to it."""
    import array
    import fcntl
    import termios

    left = array.array("i", [1])
    while left[0]:
        fcntl.ioctl(descriptor, termios.FIONREAD, left)
        assert process.poll() is None


def test_it_ends_when_nobody_listens(wire: Start) -> None:
    process = wire()
    process.greet()
    process.ask("ping")
    assert process.process.stdout is not None
    process.process.stdout.close()
    process.send(request("ping"))
    assert (process.process.wait(LONGEST), process.told()) == (0, "")


def test_a_person_at_a_terminal_is_told_what_it_waits_for(duvet_command: str, project: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [duvet_command, "mcp"],
        cwd=project,
        env=environment(),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    os.close(theirs)
    try:
        assert process.stderr is not None
        first = process.stderr.readline()
        os.write(ours, b"\x04")
        out, rest = process.communicate(timeout=LONGEST)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert (process.returncode, out) == (0, b"")
    assert (first + rest).decode() == (
        "duvet mcp waits on standard input for an agent, which speaks the Model Context Protocol; Ctrl-C ends it.\n"
        "`duvet mcp --print-config claude` prints what makes that agent start it; the others are in `duvet mcp --help`.\n"
    )
