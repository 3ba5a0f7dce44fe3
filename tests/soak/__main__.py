"""python -m tests.soak --duvet COMMAND --seconds N: load a server, and say what came of it."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.bench.clients import resident, serving_at
from tests.soak.clients import Tally, Where, questions, visit
from tests.soak.workplace import EDITED, TOOLS, furnish, waiting

CLIENTS = 200
SLOWEST = 1.0
"""Seconds of all but a hundredth."""
GROWTH = 1.05
WARMING = 1 / 3
"""The part of the time after which memory must not grow any more."""
SLACK = 0.05
"""Seconds in which a request may still be on its way."""


class Outcome(NamedTuple):
    """What came of it."""

    calls: int
    waits: int
    """Calls that had to wait in the server."""
    errors: Sequence[str]
    slowest: float
    before: float
    after: float
    lost: int
    code: int

    @property
    def faults(self) -> list[str]:
        """What must not be."""
        found = [f"error: {error}" for error in self.errors[:5]]
        if self.slowest > SLOWEST:
            found.append(f"p99 is {self.slowest:.2f} s")
        if self.after > self.before * GROWTH:
            found.append(f"memory grew from {self.before:.1f} to {self.after:.1f} MB")
        if self.lost:
            found.append(f"{self.lost} answers were lost at the end")
        if self.code:
            found.append(f"the server ended with {self.code}")
        return found


async def soak(process: subprocess.Popen[bytes], where: Where, edited: Path, seconds: float) -> Outcome:
    """Ask for so long, with edits in between, and end the server in the middle of it."""
    tally = Tally()
    asked = [questions(TOOLS, waiting(number)) for number in range(CLIENTS)]
    clients = [asyncio.create_task(visit(where, asked[number], number, tally)) for number in range(CLIENTS)]
    # What so many at once need is asked of the system bit by bit, as they happen to come together.
    await _edit(edited, seconds * WARMING)
    before = resident(process.pid)
    await _edit(edited, seconds * (1 - WARMING))
    after = resident(process.pid)
    tally.ends_at = time.perf_counter()
    process.send_signal(signal.SIGTERM)
    code = await asyncio.to_thread(process.wait, 30)
    tally.is_over = True
    await asyncio.wait(clients, timeout=30)
    unanswered = [*tally.waiting.values(), *tally.refused]
    lost = sum(began < tally.ends_at - SLACK for began in unanswered)
    slowest = sorted(tally.seconds)[-1 - len(tally.seconds) // 100]
    calls = len(tally.seconds) + len(tally.waited)
    return Outcome(calls, len(tally.waited), tally.errors, slowest, before, after, lost, code)


async def _edit(path: Path, seconds: float) -> None:
    """Change a source again and again."""
    text = path.read_text()
    ends = time.monotonic() + seconds
    number = 0
    while time.monotonic() < ends:
        number += 1
        path.write_text(f"{text}\n// {number}\n")
        await asyncio.sleep(0.5)
    path.write_text(text)


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="soak")
    parser.add_argument("--duvet", required=True, type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project, site = furnish(Path(folder))
        command = [given.duvet, "mcp", "--http", "127.0.0.1:0", "--rate", "0"]
        with serving_at(command, project, PYTHONPATH=str(site)) as (process, where):
            found = asyncio.run(soak(process, where, project / EDITED, given.seconds))
    print(
        f"soak: {found.calls:,} calls of {CLIENTS} clients in {given.seconds:g} s, {found.waits:,} of them of a "
        f"workflow that waits, {len(found.errors)} errors, "
        f"p99 {found.slowest * 1000:.0f} ms, {found.before:.1f} MB after a third of it and {found.after:.1f} MB in the end, "
        f"{found.lost} answers lost at the end"
    )
    for fault in found.faults:
        print(f"soak: {fault}", file=sys.stderr)
    return bool(found.faults)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
