"""Programs of others, each with a bound, and the server that they speak to."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LONGEST = 120
_URL = re.compile(rb"http://\S+:\d+/mcp\b")


class FailedError(Exception):
    """Something is not as it has to be."""


def output_of(*command: str | Path, where: Path, allowed: Sequence[int] = (0,)) -> str:
    """What a program writes; FailedError where it ends otherwise."""
    # What it keeps for its user must not be kept in the home of whoever runs this.
    environ = {**os.environ, "HOME": str(where), "NO_COLOR": "1", "CI": "true"}
    words = [str(word) for word in command]
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    done = subprocess.run(words, cwd=where, env=environ, timeout=LONGEST, check=False, **streams)
    if done.returncode not in allowed:
        raise FailedError(f"{' '.join(words)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    said: str = done.stdout
    return said


@contextmanager
def listening(*command: str | Path) -> Iterator[str]:
    """Runs a server, and gives the URL that it names on standard error."""
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    try:
        yield _url(process)
    finally:
        process.terminate()
        try:
            process.communicate(timeout=LONGEST)
        finally:
            process.kill()


def _url(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    said, until = b"", time.monotonic() + LONGEST
    while time.monotonic() < until:
        if select.select([process.stderr], [], [], 1)[0]:
            data = os.read(process.stderr.fileno(), 1 << 16)
            said += data
            if found := _URL.search(said):
                return found[0].decode()
            if not data:
                break
    raise FailedError(f"the server does not say where it listens: {said.decode()}")


def duvet() -> Path:
    """The installed command of the Python that runs this."""
    return Path(sys.executable).with_name("duvet")
