"""Clients that measure a server over pipes and HTTP, alone or many at once; CPU time and memory are the server's."""

import asyncio
import json
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.bench.measure import FailedError, environment, p99

CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
MEDIA = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
_CPU_OF_A_PROCESS = 2  # The clock type in the kernel's numbers of CPU clocks of processes.
_SERVING = re.compile(rb".*serving http://(?P<host>[^:/]+):(?P<port>\d+)/mcp\s*")


def resident(process: int) -> float:
    """Return the memory of a process in MB."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024 / 1024


def answer_in(body: bytes) -> Any:
    return json.loads((body.partition(b"data: ")[2] or body).strip())


class Client:
    """A client over pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._unread = b""
        self._asked = 0

    def greet(self) -> None:
        self.ask("initialize", CLIENT)

    def begin(self) -> None:
        self._say({"method": "notifications/initialized"})

    def ask(self, method: str, params: object) -> Any:
        self._asked += 1
        body = self._say({"id": self._asked, "method": method, "params": params})
        while (answer := answer_in(body or self._line())).get("id") != self._asked:
            pass
        if "result" not in answer or answer["result"].get("isError"):
            raise FailedError(json.dumps(answer))
        return answer["result"]

    def call(self, tool: str, arguments: Mapping[str, object]) -> Any:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def _say(self, message: dict[str, object]) -> bytes:
        """Send a message, and return the answer if the carrier has one for each message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        return b""

    def _line(self) -> bytes:
        assert self.process.stdout is not None
        while b"\n" not in self._unread:
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                raise FailedError(f"{self.process.args!r} has ended")
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    @property
    def cpu(self) -> float:
        return time.clock_gettime(~self.process.pid << 3 | _CPU_OF_A_PROCESS)

    @property
    def memory(self) -> float:
        return resident(self.process.pid)


class HttpClient(Client):
    def __init__(self, process: subprocess.Popen[bytes], where: tuple[str, int]) -> None:
        super().__init__(process)
        self.where = where
        self.connection = HTTPConnection(*where, timeout=60)
        self._session: dict[str, str] = {}
        self.greet()
        self.begin()

    def _say(self, message: dict[str, object]) -> bytes:
        headers = {**MEDIA, **self._session}
        self.connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **message}), headers)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status >= 400:
            raise FailedError(f"{answer.status} {body!r}")
        self._session = {"mcp-session-id": answer.headers["mcp-session-id"]}
        return body


@contextmanager
def started(
    command: Sequence[str], folder: Path, variables: Mapping[str, str], **streams: int
) -> Iterator[subprocess.Popen[bytes]]:
    given: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL) | streams
    with subprocess.Popen[bytes](command, cwd=folder, env={**environment(), **variables}, **given) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def talking(command: Sequence[str], folder: Path, **variables: str) -> Iterator[Client]:
    with started(command, folder, variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        yield Client(process)


@contextmanager
def serving_at(
    command: Sequence[str], folder: Path, **variables: str
) -> Iterator[tuple[subprocess.Popen[bytes], tuple[str, int]]]:
    """Start a server that prints its address on standard error, and end it afterwards."""
    with started(command, folder, variables, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        found = _SERVING.fullmatch(process.stderr.readline())
        if not found:
            raise FailedError(f"{command!r} doesn't serve")
        yield process, (found["host"].decode(), int(found["port"]))


@contextmanager
def talking_http(command: Sequence[str], folder: Path) -> Iterator[HttpClient]:
    with serving_at(command, folder) as (process, where):
        yield HttpClient(process, where)


def post(connection: HTTPConnection, tool: str, given: Mapping[str, object], token: str = "") -> bytes:
    shown = {"authorization": f"Bearer {token}"} if token else {}
    connection.request("POST", "/api/mcp", json.dumps({"tool": tool, "input": given}), shown)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise FailedError(f"{answer.status} {body!r}")
    return body


CLIENTS, EACH = 200, 20
_MODERN = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}


def load(where: tuple[str, int], tools: Mapping[str, Mapping[str, object]]) -> tuple[float, float]:
    """Return the answers per second to many clients at once, and the 99th percentile in seconds."""
    requests = [request_of(name, arguments) for name, arguments in tools.items()]

    async def visit(number: int) -> list[float]:
        reading, writing = await asyncio.open_connection(*where)
        found = []
        for step in range(EACH):
            began = time.perf_counter()
            writing.write(requests[(number + step) % len(requests)])
            status, body = await read_answer(reading)
            if status != 200 or "result" not in answer_in(body):
                raise FailedError(f"{status} {body!r}")
            found.append(time.perf_counter() - began)
        writing.close()
        return found

    async def visit_all() -> list[float]:
        return [one for client in await asyncio.gather(*map(visit, range(CLIENTS))) for one in client]

    began = time.perf_counter()
    seconds = asyncio.run(visit_all())
    return len(seconds) / (time.perf_counter() - began), p99(seconds)


async def read_answer(reading: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reading.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0] or b"0")
    return int(head.split()[1]), await reading.readexactly(length)


def request_of(name: str, arguments: Mapping[str, object]) -> bytes:
    params = {"name": name, "arguments": arguments, "_meta": _META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    named = {"mcp-protocol-version": _MODERN, "mcp-method": "tools/call", "mcp-name": name}
    headers = {**MEDIA, **named, "host": "localhost:80", "content-length": str(len(body))}
    lines = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body
