"""A `git` that holds an ingest run in the middle of its transaction."""

import os
import select
from pathlib import Path
from shutil import which
from typing import Self


class HeldGit:
    """The first git process waits until it is released or killed, and others do so as long as it waits."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._gate = folder / "gate"
        os.mkfifo(self._gate)
        program = folder / "git"
        program.write_text(f'#!/bin/sh\n[ -p {self._gate} ] && read line < {self._gate}\nexec {which("git")} "$@"\n')
        program.chmod(0o755)
        self.path = f"{folder}{os.pathsep}{os.environ['PATH']}"
        self._writer = -1

    def wait(self) -> Self:
        self._writer = os.open(self._gate, os.O_WRONLY)
        return self

    def release(self) -> None:
        self._gate.unlink()
        os.close(self._writer)

    def has_ended(self, seconds: float = 30) -> bool:
        poll = select.poll()
        poll.register(self._writer, 0)
        return bool(poll.poll(seconds * 1000))
