"""`duvet mcp` over pipes, for lines of JSON-RPC that may be invalid."""

import json
import os
import select
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.cli.command import environment
from tests.unit.server.clients import MODERN
from tests.unit.specs.download_server import LONGEST
from tests.zygote import spawn

Message = dict[str, Any]
CLIENT = {"name": "tests", "version": "1"}


def request(method: str, params: Message | None = None, id: int | str = 1) -> Message:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}


def hello(version: str = "2025-11-25", id: int | str = 0) -> Message:
    return request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}, id)


def enveloped(params: Message | None = None, version: str = MODERN) -> Message:
    """Return the parameters of a request in the protocol without a handshake."""
    prefix = "io.modelcontextprotocol"
    meta = {f"{prefix}/protocolVersion": version, f"{prefix}/clientCapabilities": {}, f"{prefix}/clientInfo": CLIENT}
    return {**(params or {}), "_meta": meta}


class Wire:
    """`duvet mcp`, or another command that serves; the caller must end it."""

    def __init__(self, command: str, folder: Path, *args: str, **environ: str) -> None:
        """Insert `mcp` as the first argument unless it follows later."""
        serves = "mcp" in args or command.endswith("-mcp")
        # A file instead of a pipe, because nothing reads it before the end and a full pipe would block the process.
        self._told = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `kill`
        self.process = spawn(
            [command, *([] if serves else ["mcp"]), *args],
            cwd=folder,
            env=environment(**environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._told,
            bufsize=0,
        )
        self._unread = b""

    def send(self, *messages: object) -> None:
        assert self.process.stdin is not None
        for one in messages:
            data = one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n"
            while data:
                data = data[self.process.stdin.write(data) or 0 :]

    def line(self) -> bytes:
        """Return the next line without its line end; empty at the end, AssertionError on a timeout."""
        assert self.process.stdout is not None
        handle = self.process.stdout.fileno()
        while b"\n" not in self._unread:
            assert select.select([handle], [], [], LONGEST)[0], (self._unread, self.told())
            data = os.read(handle, 1 << 16)
            if not data:
                return b""
            self._unread += data
        line, self._unread = self._unread.split(b"\n", 1)
        return line

    def read(self) -> Message:
        line = self.line()
        assert line, self.told()
        message: Message = json.loads(line)
        return message

    def ask(self, method: str, params: Message | None = None, id: int | str = 1) -> Message:
        """Return the answer to a request; earlier messages are skipped."""
        self.send(request(method, params, id))
        while True:
            answer = self.read()
            if answer.get("id") == id and "method" not in answer:
                return answer

    def greet(self, version: str = "2025-11-25") -> Message:
        self.send(hello(version))
        answer = self.read()
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def told(self) -> str:
        # The process writes at the position of this very file: reading must not move it.
        return os.pread(self._told.fileno(), 1 << 20, 0).decode(errors="replace")

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(LONGEST)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._told):
            if stream is not None:
                stream.close()
