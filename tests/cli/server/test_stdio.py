import array
import fcntl
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import environment, run
from tests.unit.server.stdio_server import Message, Wire, enveloped, hello, request
from tests.unit.specs.download_server import LONGEST
from tests.zygote import spawn

Start = Callable[..., Wire]
NOTICE = {"jsonrpc": "2.0", "method": "notifications/initialized"}
RESOLVE: Message = {"name": "resolve_spec_id", "arguments": {"url": "tea.md"}}
CALL = request("tools/call", RESOLVE, id="call")
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


def cancel(id: object) -> Message:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}


def test_printed_text_does_not_reach_the_client() -> None:
    ##= man/spec/mcp.md#standard-input-and-output
    ##% The server MUST write only protocol messages to standard output, even if its code or a child process prints
    ##% something else.
    done = subprocess.run([sys.executable, "-c", PRINTS], input=b"heard\n", capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"before\nmessage\nheard\n", b"printed\nwritten\nchild ''\ncode 1\n")


@pytest.mark.parametrize("missing", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "</dev/null"])
def test_missing_streams_end_it(missing: str, duvet_command: str, project: Path) -> None:
    command = ["sh", "-c", f'exec "$0" mcp {missing}', duvet_command]
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True}
    done = subprocess.run(command, cwd=project, env=environment(), timeout=LONGEST, check=False, **streams)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_file_of_messages_is_answered(duvet_command: str, project: Path) -> None:
    (project / "messages").write_text("\n".join(json.dumps(one) for one in (hello(), NOTICE, CALL)))
    with (project / "messages").open("rb") as messages, (project / "answers").open("wb") as answers:
        assert run(duvet_command, project, "mcp", stdin=messages, stdout=answers) == (0, "", "")
    greeting, called = (json.loads(line) for line in (project / "answers").read_bytes().splitlines())
    assert (greeting["id"], called["id"]) == (0, "call")
    assert called["result"]["structuredContent"] == {"spec_id": "tea"}


def test_requests_that_are_written_at_once_are_all_answered(wire: Start) -> None:
    process = wire()
    # More than may be open at once: each answer makes room for another request.
    ids = range(1, 1201)
    messages = (hello(), NOTICE, *(request("tools/call", RESOLVE, id) for id in ids))
    process.send(b"".join(json.dumps(one).encode() + b"\n" for one in messages))
    assert process.read()["id"] == 0
    answers = {answer["id"]: answer["result"]["structuredContent"] for answer in (process.read() for _ in ids)}
    assert answers == {id: {"spec_id": "tea"} for id in ids}
    assert (process.end(), process.line(), process.told()) == (0, b"", "")


def wait_until_read(descriptor: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until the process has read everything from the pipe."""
    left = array.array("i", [1])
    while left[0]:
        fcntl.ioctl(descriptor, termios.FIONREAD, left)
        assert process.poll() is None


def test_pipes_that_do_not_block(duvet_command: str, project: Path) -> None:
    theirs, ours = socket.socketpair()
    with theirs, ours:
        theirs.setblocking(False)
        streams: dict[str, Any] = {"stdin": theirs.fileno(), "stdout": theirs.fileno(), "stderr": subprocess.PIPE}
        process = spawn([duvet_command, "mcp"], cwd=project, env=environment(), **streams)
        try:
            ours.settimeout(LONGEST)
            # Once this is read, there is nothing else to read.
            ours.sendall(b" ")
            wait_until_read(theirs.fileno(), process)
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


@pytest.mark.parametrize(
    ("sort", "messages"), [(signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGTERM, 1), (signal.SIGINT, 2)]
)
def test_signals_end_it(sort: signal.Signals, messages: int, wire: Start) -> None:
    process = wire()
    process.send(b" ")
    if messages:
        process.send(hello())
        process.read()
    else:
        assert process.process.stdin is not None
        wait_until_read(process.process.stdin.fileno(), process.process)
    if messages == 2:
        process.ask("ping")
    process.process.send_signal(sort)
    assert (process.process.wait(LONGEST), process.told()) == (0, "")


def test_a_closed_output_ends_it(wire: Start) -> None:
    process = wire()
    process.greet()
    process.ask("ping")
    assert process.process.stdout is not None
    process.process.stdout.close()
    process.send(request("ping"))
    assert (process.process.wait(LONGEST), process.told()) == (0, "")


def test_a_person_at_a_terminal_reads_what_it_waits_for(duvet_command: str, project: Path) -> None:
    ours, theirs = pty.openpty()
    streams: dict[str, Any] = {"stdin": theirs, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = spawn([duvet_command, "mcp"], cwd=project, env=environment(), bufsize=0, **streams)
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
        "duvet mcp is waiting for MCP messages from an agent on standard input; press Ctrl-C to stop.\n"
        "To configure an agent, run `duvet mcp --print-config claude`; `duvet mcp --help` lists the other agents.\n"
    )


INVALID, UNKNOWN, WRONG_ERA, WRONG_VERSION = -32602, -32601, -32600, -32022
Asked = list[tuple[str, Any, int]]
EARLY: Asked = [
    ("nothing", None, UNKNOWN),
    ("tools/list", None, INVALID),
    ("tools/call", RESOLVE, INVALID),
    ("tools/list", {"cursor": 5}, INVALID),
    ("server/discover", None, UNKNOWN),
    ("initialize", None, INVALID),
    ("initialize", {"protocolVersion": 20250326, "capabilities": [], "clientInfo": "me"}, INVALID),
]
WRONG_URIS: list[Any] = [{}, 7, None, "duvet:///\0"]
WRONG: Asked = [
    *((method, {}, UNKNOWN) for method in ("nothing", "", "tools/list ", "notifications/initialized")),
    ("tools/call", None, INVALID),
    *(("tools/call", {"name": name}, INVALID) for name in (5, None, ["resolve_spec_id"], "../../etc/passwd")),
    *(("tools/call", {"name": name}, INVALID) for name in ("\0\x1b[31m" * 100, "resolve_spec_id" * 100_000)),
    *(("tools/call", {**RESOLVE, "arguments": given}, INVALID) for given in ([1], "url")),
    *((f"{kind}/list", {"cursor": cursor}, INVALID) for kind in ("tools", "prompts") for cursor in (5, "5")),
    *(("tools/list", {"_meta": meta}, INVALID) for meta in (5, {"progressToken": [1]})),
    *(("logging/setLevel", {"level": level}, INVALID) for level in ("loud", 7)),
    ("server/discover", {}, UNKNOWN),
    ("tools/list", enveloped(), WRONG_ERA),
    *((f"resources/{verb}", {"uri": uri}, INVALID) for verb in ("read", "get") for uri in WRONG_URIS),
]
MODERN: Asked = [
    ("initialize", hello()["params"], WRONG_VERSION),
    ("tools/list", {}, INVALID),
    *(("tools/list", enveloped(version=version), WRONG_VERSION) for version in ("2026-01-01", "2025-11-25")),
    ("tools/list", enveloped(version=5), INVALID),  # type: ignore[arg-type]
    *((f"{kind}/list", enveloped({"cursor": "5"}), INVALID) for kind in ("tools", "prompts")),
    ("ping", enveloped(), UNKNOWN),
    ("nothing", enveloped(), UNKNOWN),
    ("resources/subscribe", enveloped({"uri": "duvet:///specifications"}), UNKNOWN),
    ("logging/setLevel", enveloped({"level": "debug"}), UNKNOWN),
    *(("tools/call", enveloped({"name": name}), INVALID) for name in (5, "nothing")),
]
DEEP: dict[str, Any] = {}
for _ in range(60):
    DEEP = {"deeper": [DEEP]}
BAD_ARGUMENTS: list[Any] = [{}, {"url": 5}, {"url": None}, {"url": ["tea.md"]}, {"url": DEEP}, {"url": "x", "more": 1}]
ODD_URLS = [
    *("", "\0", "\x1b[31m", "../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "x" * 1_000_000, "%00%2e%2e%2f")
]


def check_errors(process: Wire, asked: Asked) -> None:
    """Check that each request is refused with its code, and that no error reveals internals."""
    for method, params, code in asked:
        answer = process.ask(method, params)
        said = str(answer["error"])
        assert (set(answer), answer["error"]["code"]) == ({"jsonrpc", "id", "error"}, code), (method, params)
        assert "Traceback" not in said and "duvet/" not in said and len(said) < 2_000, said


def test_requests_before_a_handshake_are_refused_but_ping(wire: Start) -> None:
    process = wire()
    process.send(b"{\n", cancel(1))
    assert process.read()["error"]["code"] == -32700
    check_errors(process, EARLY)
    assert process.ask("ping")["result"] == {}
    assert process.greet()["result"]["serverInfo"]["name"] == "duvet"
    assert process.ask("tools/list")["result"]["tools"]
    assert (process.end(), process.told()) == (0, "")


def test_wrong_requests_are_refused_and_the_next_one_is_answered(wire: Start) -> None:
    process = wire()
    process.greet()
    check_errors(process, WRONG)
    for arguments in BAD_ARGUMENTS:
        answer = process.ask("tools/call", {**RESOLVE, "arguments": arguments})
        assert answer["result"]["isError"], answer
    for url in ODD_URLS:
        answer = process.ask("tools/call", {**RESOLVE, "arguments": {"url": url}})
        assert not answer["result"].get("isError") or len(str(answer)) < 1_000
        assert "passwd:" not in str(answer)
    # Cancelling unknown requests changes nothing.
    process.send(*map(cancel, (99, "99", None, [], {"id": 1})))
    assert process.ask("ping")["result"] == {}
    assert (process.end(), process.told()) == (0, "")


def test_the_era_without_a_handshake_refuses_requests_of_the_other(wire: Start) -> None:
    process = wire()
    assert process.ask("server/discover", enveloped())["result"]["supportedVersions"] == ["2026-07-28"]
    check_errors(process, MODERN)
    assert process.ask("tools/list", enveloped())["result"]["tools"]


CONFIG = """
providers: { mine: { kind: client } }
workflows:
  sum:
    description: Sums up
    steps:
      - { id: count, tool: coverage_summary }
      - { id: tell, model: mine, prompt: "A secret: ${steps.count.result.total}" }
      - { id: again, tool: coverage_summary }
"""


@pytest.fixture
def asking(wire: Start, project: Path) -> Wire:
    (project / "duvet.config.yaml").write_text(CONFIG)
    server = wire()
    server.ask("initialize", {**hello("2025-11-25")["params"], "capabilities": {"sampling": {}}}, id=0)
    server.send(NOTICE)
    return server


def begin_workflow(server: Wire, id: str) -> Any:
    """Call a workflow, and return the id of its question to the client's model."""
    server.send(request("tools/call", {"name": "workflow.sum", "arguments": {}}, id=id))
    while (question := server.read()).get("method") != "sampling/createMessage":
        pass
    return question["id"]


def test_an_answer_of_a_model_that_is_not_text_fails_the_step(asking: Wire) -> None:
    answers: dict[str, Message] = {
        "nothing": {},
        "no text": {"role": "assistant", "model": "theirs", "content": {"type": "text"}},
        "no model": {"role": "assistant", "content": {"type": "text", "text": "tea"}},
        "a drawing": {"role": "assistant", "model": "theirs", "content": {"type": "image", "data": 1}},
    }
    for name, answer in answers.items():
        asking.send({"jsonrpc": "2.0", "id": begin_workflow(asking, name), "result": answer})
        while (called := asking.read()).get("id") != name:
            pass
        told = called["result"]["content"][0]["text"]
        assert called["result"]["isError"] and '"code":"model_failed"' in told
        assert "the client's model returned something other than text" in told
        assert re.findall('"status":"(success|error|skipped)"', told)[-3:] == ["success", "error", "skipped"]


def test_a_cancelled_workflow_begins_no_further_step(asking: Wire) -> None:
    begin_workflow(asking, "call")
    asking.send(cancel("call"))
    asking.ask("ping", id="over")
    assert asking.end() == 0
    steps = 'steps="count=success tell=error again=skipped"'
    line = rf"(?m)^\S+ WARN run workflow=sum status=error code=cancelled step=tell duration_ms=[\d.]+ {steps}$"
    assert len(re.findall(line, told := asking.told())) == told.count(" run ") == 1
