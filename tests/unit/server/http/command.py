"""`duvet mcp --http` as a process, and clients of it."""

import re
import select
import signal
import subprocess
from pathlib import Path
from typing import Any, Self

import httpx2

from tests.cli.command import environment
from tests.unit.server.http.http_server import API, LONGEST, MODERN_HEADERS, Where, json_of
from tests.unit.server.stdio_server import enveloped, request
from tests.zygote import spawn

_SERVING = re.compile(r".*\bhttp://(?P<host>\S+):(?P<port>\d+)/mcp\S*\n")


class HttpClient(httpx2.Client):
    def post_tool(self, tool: str, /, **given: Any) -> tuple[int, Any]:
        answer = self.post(API, content=json_of({"tool": tool, "input": given}))
        found = answer.json()
        return answer.status_code, found["result"] if answer.status_code == 200 else found

    def call(self, tool: str, /, **given: Any) -> Any:
        message = request("tools/call", enveloped({"name": tool, "arguments": given}))
        headers = {**MODERN_HEADERS, "mcp-method": "tools/call", "mcp-name": tool}
        return self.post("/mcp", content=json_of(message), headers=headers).json()

    @property
    def listed(self) -> dict[str, Any]:
        return {tool["name"]: tool for tool in self.get(API).json()["tools"]}


class Command:
    """Serves a folder on a free port of loopback; the caller must end it, for example with `with`."""

    def __init__(self, command: str, folder: Path, *args: str, address: str | None = "0", **environ: str) -> None:
        """If there is no address, the configuration sets it."""
        self.process = spawn(
            [command, "mcp", *([] if address is None else ["--http", address]), *args],
            cwd=folder,
            env=environment(**environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        assert select.select([self.process.stderr], [], [], LONGEST)[0]
        self.first = str(self.process.stderr.readline())

    @property
    def where(self) -> Where:
        found = _SERVING.fullmatch(self.first)
        assert found, self.first
        return found["host"].strip("[]"), int(found["port"])

    @property
    def url(self) -> str:
        return self.first.split()[-1]

    def client(self, token: str = "") -> HttpClient:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        host, port = self.where
        return HttpClient(base_url=f"http://{host}:{port}", headers=headers, timeout=60, trust_env=False)

    def end(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Send a signal; return the exit code, and the output after the first line."""
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=LONGEST)
        return self.process.returncode, out, err

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()
