"""`python -m tests.soak --duvet COMMAND --seconds N`: load a server, and report errors, delays and lost answers."""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from tests.bench.clients import resident, serving_at
from tests.bench.measure import p99
from tests.soak.load import EDITED, Tally, Where, furnish, visit

CLIENTS = 200
SLOWEST = 1.0  # Seconds of all but a hundredth.
GROWTH = 1.05
WARMING = 1 / 3  # The part of the time after which memory must not grow any more.
SLACK = 0.05  # Seconds in which a request may still be on its way.


async def soak(process: subprocess.Popen[bytes], where: Where, edited: Path, seconds: float) -> tuple[str, list[str]]:
    """Load the server for some time, with edits, and stop it meanwhile; return the outcome and its faults."""
    tally = Tally()
    clients = [asyncio.create_task(visit(where, number, tally)) for number in range(CLIENTS)]
    # The server allocates for so many at once bit by bit, as they happen to come together.
    await _edit(edited, seconds * WARMING)
    before = resident(process.pid)
    await _edit(edited, seconds * (1 - WARMING))
    after = resident(process.pid)
    tally.ends_at = time.perf_counter()
    process.send_signal(signal.SIGTERM)
    code = await asyncio.to_thread(process.wait, 30)
    tally.is_over = True
    await asyncio.wait(clients, timeout=30)
    lost = sum(began < tally.ends_at - SLACK for began in [*tally.waiting.values(), *tally.refused])
    slowest = p99(tally.seconds)
    outcome = (
        f"{len(tally.seconds) + len(tally.waited):,} calls of {CLIENTS} clients in {seconds:g} s, "
        f"{len(tally.waited):,} of them of a workflow that waits, {len(tally.errors)} errors, "
        f"p99 {slowest * 1000:.0f} ms, {before:.1f} MB after a third of it and {after:.1f} MB in the end, "
        f"{lost} answers lost at the end"
    )
    faults = {
        f"p99 is {slowest:.2f} s": slowest > SLOWEST,
        f"memory grew from {before:.1f} to {after:.1f} MB": after > before * GROWTH,
        f"{lost} answers were lost at the end": lost,
        f"the server ended with {code}": code,
    }
    return outcome, [*(f"error: {error}" for error in tally.errors[:5]), *(fault for fault in faults if faults[fault])]


async def _edit(path: Path, seconds: float) -> None:
    text = path.read_text()
    ends = time.monotonic() + seconds
    number = 0
    while time.monotonic() < ends:
        number += 1
        path.write_text(f"{text}\n// {number}\n")
        await asyncio.sleep(0.5)
    path.write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(prog="soak")
    parser.add_argument("--duvet", required=True, type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project, site = furnish(Path(folder))
        command = [given.duvet, "mcp", "--http", "127.0.0.1:0", "--rate", "0"]
        with serving_at(command, project, PYTHONPATH=str(site)) as (process, where):
            outcome, faults = asyncio.run(soak(process, where, project / EDITED, given.seconds))
    print(f"soak: {outcome}")
    for fault in faults:
        print(f"soak: {fault}", file=sys.stderr)
    return bool(faults)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
