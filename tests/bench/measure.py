"""Measures the cost of commands, and the speed of this machine: the CPU seconds of a fixed piece of work, called cu."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
NOISE = re.compile(r"CI|GITHUB_\w+|DUVET_\w+|CLICOLOR\w*|PYTHON\w*")  # Variables that would change what a command does.
# A small separate program, because the peak memory of a process begins with that of its parent.
_LAUNCHER = """
import os, sys
quiet = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
"""
ENOUGH = 2.0  # CPU seconds after which more runs are useless.
SETTLED = 2.5  # Seconds after which a cache trusts the time of a file.
MINUTE = 60.0


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
    done = _run([sys.executable, "-I", "-S", "-c", _LAUNCHER, *command], folder)
    code, seconds, memory = done.stdout.split() or (done.returncode, 0, 0)
    if int(code):
        raise FailedError(f"{' '.join(command)} answered {int(code)}\n{done.stderr}")
    return Cost(float(seconds), float(memory))


def output_of(command: Sequence[str], folder: Path) -> str:
    done = _run(command, folder)
    if done.returncode:
        raise FailedError(done.stderr)
    return done.stdout


def settle(command: Sequence[str], folder: Path) -> None:
    """Run a command, and wait until the files that it wrote count as old."""
    once(command, folder)
    time.sleep(SETTLED)


def least(command: Sequence[str], folder: Path, runs: int, prepare: Callable[[], None] = lambda: None) -> Cost:
    """Return the cheapest of several runs, after one that warms the page cache; short runs are repeated more often.

    The cost of `prepare`, which is called before each run, is not counted.
    """
    costs: list[Cost] = []
    # The first run warms the page cache.
    while len(costs) <= runs or (len(costs) <= 3 * runs and sum(cost.cpu for cost in costs[1:]) < ENOUGH):
        prepare()
        costs.append(once(command, folder))
    return Cost(*map(min, zip(*costs[1:], strict=True)))


class Clock:
    """Returns the unit, and measures it again after a minute."""

    def __init__(self, runs: int, shared: Path | None) -> None:
        script = shared / "tools/calib.py" if shared else Path()
        own = Path(__file__).with_name("calibration.py")
        self._command = [sys.executable, str(script if script.is_file() else own), "--json", "--runs", str(runs)]
        self._measured = float("-inf")
        self._units: list[float] = []

    def unit(self) -> float:
        if time.monotonic() - self._measured > MINUTE:
            report = json.loads(subprocess.run(self._command, check=True, capture_output=True).stdout)
            self._units.append(float(report["cpu_seconds"]["total"]["min"]))
            self._measured = time.monotonic()
        return self._units[-1]

    @property
    def milliseconds(self) -> int:
        return round(1000 * sorted(self._units)[len(self._units) // 2])


def milliseconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def p99(values: Iterable[float]) -> float:
    ordered = sorted(values)
    return ordered[-1 - len(ordered) // 100]
