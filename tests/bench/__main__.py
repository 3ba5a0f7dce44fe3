"""Measures duvet in one run, prints a table, and fails if a gate is exceeded."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from tests.bench import gateway, growth, knowledge, notes, pages, readme, retrieval, server, table, watching
from tests.bench.calibration import Clock
from tests.bench.growth import sweep
from tests.bench.measure import FailedError, least, settle
from tests.bench.options import ROOT, parse
from tests.bench.results import FILE, About, Curve, Results, committed
from tests.bench.table import Result
from tests.bench.workloads import Workload, workloads

ALONE: Mapping[str, Callable[[Namespace], int]] = {
    "watch": watching.main,
    "server": server.main,
    "knowledge": knowledge.main,
    "gateway": gateway.main,
    "pages_of_notes": notes.main,
    "pages": pages.main,
    "retrieval": retrieval.main,
}  # The parts that an option measures alone.


def main() -> int:
    options = parse()
    for name, measure in ALONE.items():
        if getattr(options, name):
            return measure(options)
    others = (server.main, pages.main, retrieval.main) if options.rows else ()
    # The first failure ends the run.
    return _costs(options) or next(filter(None, (measure(options) for measure in others)), 0)


def _costs(options: Namespace) -> int:
    if options.shared is None:
        print("bench: the shared folder is absent, so only the start of the program is measured", file=sys.stderr)
    described = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, check=False)
    clock = Clock(options.runs, options.shared)
    try:
        rows, curves = _measure(options, clock)
    except FailedError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    if not rows and not curves:
        if pages.wanted(options.only):
            return 0
        print(f"bench: no row is named {options.only}", file=sys.stderr)
        return 2
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    commit = described.stdout.decode().strip() or "unknown"
    about = About(commit, platform.python_version(), machine, clock.milliseconds)
    facts = about._asdict() | {"runs": options.runs}
    print(" · ".join(f"{key} {value}" for key, value in facts.items()))
    if rows:
        print(table.render(rows))
    if curves:
        print(growth.render(curves))
    if options.json:
        options.json.write_text(table.as_json(rows, facts))
    if options.save:
        results = Results(about, {row.name: row.figure for row in rows}, curves)
        for path, text in readme.texts(results, readme.FILE.read_text(encoding="utf-8")).items():
            path.write_text(text, encoding="utf-8")
    return 0 if all(row.passes for row in rows) and all(line.passes for line in growth.lines(curves)) else 1


def _measure(options: Namespace, clock: Clock) -> tuple[list[Result], list[Curve]]:
    rows: list[Result] = []
    curves: list[Curve] = []
    with tempfile.TemporaryDirectory(prefix="duvet-bench-") as name:
        scratch = Path(name)
        if options.rows:
            wanted = workloads(options.shared, scratch, options.only, options.huge)
            rows.extend(_rows(wanted, options, clock))
        if options.growth:
            curves.extend(sweep(options.shared, scratch, options.duvet, options.runs, clock))
    return rows, curves


def _rows(wanted: Iterable[Workload], options: Namespace, clock: Clock) -> Iterator[Result]:
    before = committed().rows if FILE.exists() else {}
    for row in wanted:
        unit = clock.unit()
        if row.settles:
            settle([options.duvet, *row.arguments], row.folder)
        cost = least([options.duvet, *row.arguments], row.folder, options.runs, row.prepare)
        peer = None
        if options.peer and row.has_peers:
            try:
                peer = least([*options.peer, *row.arguments], row.folder, options.runs, row.prepare)
            except FailedError as error:
                # The peer can't do the same work.
                print(f"bench: {row.name}: {error}", file=sys.stderr)
        yield Result(row.name, row.budget, cost, unit, before.get(row.name), peer)


if __name__ == "__main__":
    sys.exit(main())
