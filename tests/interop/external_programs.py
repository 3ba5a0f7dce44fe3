"""Other projects' programs, each with a time limit, and the server that they call."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.clients import serving_at
from tests.bench.measure import ROOT, FailedError

LONGEST = 120


def output_of(*command: str | Path, where: Path, allowed: Sequence[int] = (0,)) -> str:
    # What it keeps for its user must not be kept in the home of whoever runs this.
    environ = {**os.environ, "HOME": str(where), "NO_COLOR": "1", "CI": "true"}
    words = [str(word) for word in command]
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    done = subprocess.run(words, cwd=where, env=environ, timeout=LONGEST, check=False, **streams)
    if done.returncode not in allowed:
        raise FailedError(f"{' '.join(words)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return str(done.stdout)


@contextmanager
def listening(*command: str | Path) -> Iterator[str]:
    """Run a server, and yield the URL that it prints on standard error."""
    with serving_at([str(word) for word in command], ROOT) as (_, (host, port)):
        yield f"http://{host}:{port}/mcp"


def duvet() -> Path:
    return Path(sys.executable).with_name("duvet")
