"""Measures how soon `duvet report --watch` reacts to an edit, in elapsed seconds, because people wait."""

from __future__ import annotations

import random
import statistics
import subprocess
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from tests.bench.budgets import PROJECTS, State
from tests.bench.clients import started
from tests.bench.figures import p99
from tests.bench.measure import FailedError
from tests.bench.table import align
from tests.bench.workloads import PAGE_CONFIG, Edit, make_tree

EDITS = 50
PAUSE = 0.2  # Maximum seconds between two edits, chosen at random so that edits and polls are not in step.
GATE = 0.3  # seconds, for the projects of this size and smaller ones
GATED = ("s2n-tls-132053b", "h3-704b37a", "200 x 200")
REPORTS = (".duvet/reports/report.json", ".duvet/snapshot.txt", ".duvet/reports/report.html")
WAITS = "Watching for changes"
SUMMARY = ("coverage:",)


class Wait(NamedTuple):
    """The seconds from the end of an edit to the result."""

    reports: float  # The last report is in place.
    summary: float  # the last line of the summary has been read


class Row(NamedTuple):
    name: str
    waits: list[Wait]
    gate: float | None

    @property
    def passes(self) -> bool:
        return self.gate is None or statistics.median(wait.summary for wait in self.waits) <= self.gate


def main(options: Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="duvet-bench-") as scratch:
        rows = list(_rows(options, Path(scratch)))
    print(render(rows))
    return 0 if all(row.passes for row in rows) else 1


def _rows(options: Namespace, scratch: Path) -> Iterator[Row]:
    for project in PROJECTS:
        if (
            State.EDITED not in project.budgets
            or project.huge > options.huge
            or not fnmatch(project.name, options.only)
        ):
            continue
        folder = scratch / project.name.replace(" ", "")
        make_tree(project.name, options.shared, folder)
        gate = GATE if project.name in GATED else None
        for name, more in ((project.name, ()), (f"{project.name}, with HTML", ("--config-path", PAGE_CONFIG))):
            command = [options.duvet, "report", "--watch", *more]
            yield Row(name, waits(command, folder, Edit(folder / project.source), EDITS), gate)


def waits(
    command: Sequence[str], folder: Path, edit: Callable[[], None], count: int, pause: float = PAUSE
) -> list[Wait]:
    with started(command, folder, stderr=subprocess.PIPE) as process:
        return [_wait(process, folder, edit, pause) for _ in range(count)]


def _wait(process: subprocess.Popen[bytes], folder: Path, edit: Callable[[], None], pause: float) -> Wait:
    _read(process, WAITS)
    time.sleep(random.uniform(pause / 2, pause))
    edit()
    edited = time.time()
    _read(process, *SUMMARY)
    told = time.time()
    written = max((folder / name).stat().st_ctime for name in REPORTS if (folder / name).exists())
    return Wait(written - edited, told - edited)


def _read(process: subprocess.Popen[bytes], *starts: str) -> None:
    assert process.stderr is not None
    lines: list[str] = []
    for line in map(bytes.decode, process.stderr):
        if line.lstrip().startswith(starts):
            return
        lines.append(line)
    raise FailedError(f"{process.args!r} has ended\n{''.join(lines)}")


def render(rows: Sequence[Row]) -> str:
    table: list[Sequence[str]] = [("edit to", "reports p50", "p99", "summary p50", "p99", "gate", "")]
    for row in rows:
        figures = [
            f"{one * 1000:.0f}"
            for times in zip(*row.waits, strict=True)
            for one in (statistics.median(times), p99(times))
        ]
        gate = "-" if row.gate is None else f"{row.gate * 1000:.0f}"
        table.append((row.name, *figures, gate, "good" if row.passes else "TOO SLOW"))
    return align(table)
