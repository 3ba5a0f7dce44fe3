"""Measures duvet in one run, prints a table, and fails when a gate is passed over."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.bench.calibration import unit
from tests.bench.measure import FailedError, least
from tests.bench.table import Result, as_json, render
from tests.bench.workloads import Workload, workloads

ROOT = Path(__file__).parents[2]
LEAST_RUNS = 7
MINUTE = 60.0


def main() -> int:
    """Measure, tell, and answer with whether every gate holds."""
    options = _options()
    shared = options.shared if options.shared.is_dir() else None
    if shared is None:
        print(f"bench: {options.shared} is absent, so only the start of the program is measured", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="duvet-bench-") as scratch:
        rows = workloads(shared, Path(scratch), options.only, options.huge)
        try:
            results = list(_measure(rows, options.duvet, options.runs, shared))
        except FailedError as error:
            print(f"bench: {error}", file=sys.stderr)
            return 1
    _tell(results, options)
    return 0 if all(result.passes for result in results) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench ARGS=", description=__doc__)
    parser.add_argument("--duvet", type=Path, required=True, help="the command to measure")
    parser.add_argument("--shared", type=Path, default=os.environ.get("DUVET_SHARED", ROOT.parent / "shared"))
    parser.add_argument("--runs", type=int, default=LEAST_RUNS, help=f"runs of each row, {LEAST_RUNS} or more")
    parser.add_argument("--only", default="*", metavar="GLOB", help="only rows with such a name")
    parser.add_argument("--huge", action="store_true", help="the rows of 20,000 sources too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args()
    options.runs = max(LEAST_RUNS, options.runs)
    options.shared = Path(options.shared).resolve()
    return options


def _measure(rows: Iterable[Workload], duvet: Path, runs: int, shared: Path | None) -> Iterator[Result]:
    """Each row against a calibration of the same minute."""
    seconds, calibrated = 0.0, float("-inf")
    for row in rows:
        if time.monotonic() - calibrated > MINUTE:
            seconds, calibrated = unit(runs, shared), time.monotonic()
        cost = least([str(duvet.absolute()), *row.arguments], row.folder, runs)
        yield Result(row.name, row.budget, cost, seconds)


def _tell(results: list[Result], options: argparse.Namespace) -> None:
    about: dict[str, object] = {
        "commit": _commit(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "runs": options.runs,
    }
    print(" · ".join(f"{key} {value}" for key, value in about.items()))
    print(render(results))
    if options.json:
        options.json.write_text(as_json(results, about))


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
