"""A server that is measured while it is spoken to. Its clock and its memory are those that Linux tells of a process."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from tests.bench.measure import FailedError, environment

VERSION = "2025-11-25"
CLIENT = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
_CPU_OF_A_PROCESS = 2
"""What the kernel puts into the number of such a clock, beside the process."""


class Server(Protocol):
    """Whatever carries the words."""

    def ask(self, method: str, params: object) -> Any:
        """The result of a request; FailedError where there is none."""

    @property
    def memory(self) -> float:
        """MB that are resident."""


class Stdio:
    """`duvet mcp` at two pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._unread = b""
        self._asked = 0

    def greet(self) -> None:
        """Begin a handshake, and wait for the answer."""
        self.ask("initialize", CLIENT)

    def begin(self) -> None:
        """Say that the handshake is over."""
        self._say({"method": "notifications/initialized"})

    def ask(self, method: str, params: object) -> Any:
        self._asked += 1
        self._say({"id": self._asked, "method": method, "params": params})
        while (answer := json.loads(self._line())).get("id") != self._asked:
            pass
        return result_of(answer)

    def _say(self, message: dict[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        while b"\n" not in self._unread:
            data = os.read(self._process.stdout.fileno(), 1 << 20)
            if not data:
                raise FailedError(f"{self._process.args!r} has ended")
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    @property
    def cpu(self) -> float:
        """Seconds of its life on a processor."""
        return spent(self._process.pid)

    @property
    def memory(self) -> float:
        return resident(self._process.pid)


@contextmanager
def talking(command: Sequence[str], folder: Path, **variables: str) -> Iterator[Stdio]:
    """A server that has just been started, and ends afterwards."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**environment(), **variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    ) as process:
        try:
            yield Stdio(process)
        finally:
            process.kill()


def spent(process: int) -> float:
    """Seconds that a process has been on a processor."""
    return time.clock_gettime(~process << 3 | _CPU_OF_A_PROCESS)


def resident(process: int) -> float:
    """MB of a process that are in memory."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024 / 1024


def result_of(answer: dict[str, Any]) -> Any:
    """What a request was answered; FailedError where it was refused."""
    if "result" not in answer or answer["result"].get("isError"):
        raise FailedError(json.dumps(answer))
    return answer["result"]
