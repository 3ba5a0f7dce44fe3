"""Measures how soon `duvet report --watch` reacts to an edit, in elapsed milliseconds, because people wait."""

import random
import statistics
import subprocess
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from math import inf
from pathlib import Path

from tests.bench.clients import started
from tests.bench.measure import FailedError, p99
from tests.bench.rows import PAGE_CONFIG, ROWS, Edit, State, make_tree
from tests.bench.table import Figure

EDITS = 50
PAUSE = 0.2  # Maximum seconds between two edits, chosen at random so that edits and polls are not in step.
GATE = 300  # milliseconds until the summary, for the projects of this size and smaller ones
GATED = ("s2n-tls-132053b", "h3-704b37a", "200 x 200")
REPORTS = (".duvet/reports/report.json", ".duvet/snapshot.txt", ".duvet/reports/report.html")


def measure(options: Namespace, scratch: Path) -> Iterator[Figure]:
    for row in ROWS:
        if row.state is State.EDITED and row.is_huge <= options.huge and fnmatch(row.project, options.only):
            folder = scratch / row.project.replace(" ", "")
            make_tree(row.project, options.shared, folder)
            for name, more in ((row.project, ()), (f"{row.project}, with HTML", ("--config-path", PAGE_CONFIG))):
                command = [options.duvet, "report", "--watch", *more]
                reports, summaries = zip(*waits(command, folder, Edit(folder / row.source), EDITS), strict=True)
                gate = GATE if row.project in GATED else inf
                yield Figure(f"{name}: edit to reports, p50 in ms", statistics.median(reports))
                yield Figure(f"{name}: edit to reports, p99 in ms", p99(reports))
                yield Figure(f"{name}: edit to summary, p50 in ms", statistics.median(summaries), gate)
                yield Figure(f"{name}: edit to summary, p99 in ms", p99(summaries))


def waits(
    command: Sequence[str], folder: Path, edit: Callable[[], None], count: int, pause: float = PAUSE
) -> list[tuple[float, float]]:
    """Return for each edit the milliseconds until the last report is in place, and until the summary has been read."""
    found = []
    with started(command, folder, {}, stderr=subprocess.PIPE) as process:
        for _ in range(count):
            _read(process, "Watching for changes")
            time.sleep(random.uniform(pause / 2, pause))
            edit()
            edited = time.time()
            _read(process, "coverage:")
            summary = time.time()
            written = max((folder / name).stat().st_ctime for name in REPORTS if (folder / name).exists())
            found.append(((written - edited) * 1000, (summary - edited) * 1000))
    return found


def _read(process: subprocess.Popen[bytes], start: str) -> None:
    assert process.stderr is not None
    lines: list[str] = []
    for line in map(bytes.decode, process.stderr):
        if line.lstrip().startswith(start):
            return
        lines.append(line)
    raise FailedError(f"{process.args!r} has ended\n{''.join(lines)}")
