"""A server that is spoken to over HTTP, by one client."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.bench.measure import FailedError, environment
from tests.bench.talking import CLIENT, resident, result_of

_SERVING = re.compile(rb".*serving http://(?P<host>[^:/]+):(?P<port>\d+)/mcp\s*")
MEDIA = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


class Http:
    """One session over one connection."""

    def __init__(self, host: str, port: int, process: int) -> None:
        self.where = host, port
        self._connection = HTTPConnection(host, port, timeout=60)
        self._headers: Mapping[str, str] = MEDIA
        self.process = process
        self._asked = 0
        self.ask("initialize", CLIENT)
        self._post({"method": "notifications/initialized"})

    def ask(self, method: str, params: object) -> Any:
        self._asked += 1
        return result_of(answer_in(self._post({"id": self._asked, "method": method, "params": params})))

    def _post(self, message: dict[str, object]) -> bytes:
        self._connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **message}), dict(self._headers))
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status >= 400:
            raise FailedError(f"{answer.status} {body!r}")
        session = answer.headers["mcp-session-id"]
        self._headers = {**MEDIA, "mcp-session-id": session}
        return body

    @property
    def memory(self) -> float:
        return resident(self.process)


@contextmanager
def talking_http(command: Sequence[str], folder: Path) -> Iterator[Http]:
    """A session with a server that has just been started, and ends afterwards."""
    with serving_at(command, folder) as (process, where):
        yield Http(*where, process.pid)


@contextmanager
def serving_at(
    command: Sequence[str], folder: Path, **variables: str
) -> Iterator[tuple[subprocess.Popen[bytes], tuple[str, int]]]:
    """A server that has just been started and says where on standard error, and is ended afterwards."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**environment(), **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            assert process.stderr is not None
            found = _SERVING.fullmatch(process.stderr.readline())
            if not found:
                raise FailedError(f"{command!r} doesn't serve")
            yield process, (found["host"].decode(), int(found["port"]))
        finally:
            process.kill()


def answer_in(body: bytes) -> Any:
    """The message of an answer, which comes as an event or as it is."""
    event = body.partition(b"data: ")[2]
    return json.loads((event or body).strip())
