"""Measures the cost of one run of a command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

NOISE = re.compile(r"CI|GITHUB_\w+|DUVET_\w+|CLICOLOR\w*|PYTHON\w*")  # Variables that would change what a command does.
LAUNCHER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("launcher.py")))
ENOUGH = 2.0  # CPU seconds after which more runs are useless.
SETTLED = 2.5  # Seconds after which a cache trusts the time of a file.


class Cost(NamedTuple):
    cpu: float  # seconds, user and system
    memory: float  # the most that was resident, in MB


class FailedError(Exception):
    """Raised when a measured command fails."""


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not NOISE.fullmatch(name)}
    return {**kept, "NO_COLOR": "1"}


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace"}
    return subprocess.run(command, cwd=folder, env=environment(), check=False, **streams)


def once(command: Sequence[str], folder: Path) -> Cost:
    """Return the cost of one run, which must succeed."""
    done = _run([*LAUNCHER, *command], folder)
    code, seconds, memory = done.stdout.split() or (done.returncode, 0, 0)
    if int(code):
        raise FailedError(f"{' '.join(command)} answered {int(code)}\n{done.stderr}")
    return Cost(float(seconds), float(memory))


def output_of(command: Sequence[str], folder: Path) -> str:
    done = _run(command, folder)
    if done.returncode:
        raise FailedError(done.stderr)
    return done.stdout


def nothing() -> None:
    pass


def settle(command: Sequence[str], folder: Path) -> None:
    """Run a command, and wait until the files that it wrote count as old."""
    once(command, folder)
    time.sleep(SETTLED)


def least(command: Sequence[str], folder: Path, runs: int, prepare: Callable[[], None] = nothing) -> Cost:
    """Return the cheapest of several runs, after one that warms the page cache; short runs are repeated more often.

    The cost of `prepare`, which is called before each run, is not counted.
    """
    prepare()
    once(command, folder)
    costs: list[Cost] = []
    while len(costs) < runs or (len(costs) < 3 * runs and sum(cost.cpu for cost in costs) < ENOUGH):
        prepare()
        costs.append(once(command, folder))
    return Cost(*map(min, zip(*costs, strict=True)))
