import os
import select
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.cli.command import environment
from tests.unit.specs.download_server import LONGEST
from tests.zygote import spawn

WAITING = "    Watching for changes; press Ctrl-C to stop\n"


class Told(NamedTuple):
    changed: str
    """The names that it began with."""
    problems: int
    verdict: str


class Watched:
    """The process, which has to be ended because it never ends by itself."""

    def __init__(self, command: str, folder: Path, *args: str, **environ: str) -> None:
        self.process = spawn(
            [command, *args],
            cwd=folder,
            env=environment(**environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._unread = b""

    def until(self, end: str = WAITING) -> str:
        assert self.process.stderr is not None
        handle = self.process.stderr.fileno()
        while end.encode() not in self._unread:
            assert select.select([handle], [], [], LONGEST)[0], self._unread.decode()
            data = os.read(handle, 1 << 16)
            assert data, self._unread.decode()
            self._unread += data
        told, self._unread = self._unread.split(end.encode(), 1)
        return told.decode() + end

    def told(self) -> Told:
        """Return the output of the next run, up to where it waits."""
        lines = self.until().splitlines()
        assert lines[0].startswith("     Changed ")
        verdicts = [line for line in lines if line.startswith("coverage: ")]
        problems = sum(line.startswith(("error", "warning")) for line in lines)
        return Told(lines[0].removeprefix("     Changed "), problems, " ".join(verdicts))

    def interrupted(self) -> tuple[int, str, str]:
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=LONGEST)
        return self.process.returncode, out.decode(), (self._unread + err).decode()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


Watch = Callable[..., Watched]
"""Begins to watch the project."""
