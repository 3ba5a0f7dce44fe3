"""`duvet mcp --http` as a process."""

from __future__ import annotations

import re
import select
import signal
import subprocess
from pathlib import Path
from typing import Self

from tests.cli.running import environment
from tests.unit.server.http.serving import LONGEST, Where
from tests.zygote import spawn

_SERVING = re.compile(r"duvet mcp: serving http://(?P<host>\S+):(?P<port>\d+)/mcp\n")


class Command:
    """Serves in a folder at a free port of loopback. Whoever starts one ends it, as by `with`."""

    def __init__(self, command: str, folder: Path, *args: str, address: str | None = "0", **environ: str) -> None:
        """Without an address, the configuration says where."""
        self.process = spawn(
            [command, "mcp", *([] if address is None else ["--http", address]), *args],
            cwd=folder,
            env=environment(**environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.first = self._line()

    @property
    def where(self) -> Where:
        """The host and the port that it says it serves at."""
        found = _SERVING.fullmatch(self.first)
        assert found, self.first
        return found["host"].strip("[]"), int(found["port"])

    @property
    def url(self) -> str:
        return self.first.split()[-1]

    def end(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Its exit code after a signal, and what it has printed beside its first line."""
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=LONGEST)
        return self.process.returncode, out, err

    def _line(self) -> str:
        assert self.process.stderr is not None
        assert select.select([self.process.stderr], [], [], LONGEST)[0]
        return str(self.process.stderr.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()
