"""What one run of a command costs."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

NOISE = re.compile(r"CI|GITHUB_\w+|DUVET_\w+|CLICOLOR\w*|PYTHON\w*")
"""Variables that would change what a command does."""


# A NamedTuple, for a child that is forked counts the memory of its parent: this process has to stay small.
class Cost(NamedTuple):
    """What a run took."""

    cpu: float
    """Seconds, user and system."""
    memory: float
    """The most that was resident, in MB."""


class FailedError(Exception):
    """A command that is measured has failed."""


def environment() -> dict[str, str]:
    """The caller's environment without what would change the work."""
    kept = {name: value for name, value in os.environ.items() if not NOISE.fullmatch(name)}
    return {**kept, "NO_COLOR": "1"}


def once(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Cost:
    """The cost of one run, which has to succeed."""
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            raise FailedError(
                f"{' '.join(command)} answered {child.returncode}\n{said.read().decode(errors='replace')}"
            )
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def least(command: Sequence[str], folder: Path, runs: int) -> Cost:
    """The least of several runs, after one that warms the page cache."""
    variables = environment()
    once(command, folder, variables)
    costs = [once(command, folder, variables) for _ in range(runs)]
    return Cost(min(cost.cpu for cost in costs), min(cost.memory for cost in costs))
