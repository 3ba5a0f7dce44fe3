"""Measures duvet in one run, prints tables, and fails if a gate is exceeded; `make bench` runs it."""

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

import msgspec

from tests.bench import growth, knowledge, notes, pages, readme, retrieval, server, table, watching
from tests.bench.measure import ROOT, Clock, FailedError, least, settle
from tests.bench.rows import State, wanted_rows

LEAST_RUNS = 7
Measure = Callable[[argparse.Namespace, Path], Iterator[table.Figure]]
PARTS: Mapping[str, tuple[str, Measure]] = {
    "watch": ("how soon edits are answered", watching.measure),
    "server": ("the server for agents", server.measure),
    "pages": ("HTML reports in Chromium", pages.measure),
    "pages_of_notes": ("the server with 5,000 pages of notes", notes.measure),
    "retrieval": ("how well questions find answers", retrieval.measure),
    "knowledge": ("indexing and searching of 20,000 files", knowledge.measure),
    "gateway": ("what a team waits for", knowledge.measure_team),
}  # What an option measures alone.


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench ARGS=", description="Measures duvet against its budgets.")
    parser.add_argument("--duvet", metavar="COMMAND", help="the command to measure")
    parser.add_argument("--shared", default=os.environ.get("DUVET_SHARED", ROOT.parent / "shared"), metavar="FOLDER")
    parser.add_argument("--runs", type=int, default=LEAST_RUNS, help=f"runs of each row, {LEAST_RUNS} or more")
    parser.add_argument("--only", metavar="GLOB", help="only rows with such a name")
    parser.add_argument("--huge", action="store_true", help="the rows of 20,000 sources too")
    parser.add_argument("--peer", type=shlex.split, metavar="COMMAND", help="another duvet, to compare reports with")
    parser.add_argument("--growth", action="store_true", help="measure how time and memory grow, and nothing else")
    for name, (words, _) in PARTS.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}", action="store_true", help=f"measure {words}, and nothing else"
        )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    everything = "measure everything, and write the results, the plot and the README"
    parser.add_argument("--save", action="store_true", help=everything)
    options = parser.parse_args(arguments)
    if options.duvet is None and not options.retrieval:
        parser.error("--duvet is required: the command to measure")
    options.runs = max(LEAST_RUNS, options.runs)
    options.duvet = options.duvet and _find_program(options.duvet)
    if options.peer:
        options.peer[0] = _find_program(options.peer[0])
    options.shared = Path(options.shared).resolve()
    if not options.shared.is_dir():
        options.shared = None
        parts = [name for name in PARTS if name != "pages_of_notes"]
        if any(getattr(options, name) for name in ("growth", "save", *parts)):
            parser.error(f"--growth, --save and {', '.join(f'--{name}' for name in parts)} need the shared folder")
    if options.save and options.only:
        parser.error("--save measures everything, so it can't be used with --only")
    options.rows = options.save or not options.growth
    options.growth = options.growth or options.save
    options.huge = options.huge or options.save
    options.only = options.only or "*"
    return options


def _find_program(name: str) -> str:
    """Return the absolute path of a program, because it is started in other folders."""
    return str(Path(shutil.which(name) or name).absolute())


def main() -> int:
    options = parse()
    parts = [name for name in PARTS if getattr(options, name)][:1]
    if parts:
        return measure_part(parts[0], options)
    if options.rows and options.shared:
        # These follow the rows. The first failure ends the run.
        usual = {name: fnmatch(name, options.only) for name in ("server", "pages", "retrieval")}
        usual["pages"] = bool(pages.wanted(options.only))
        parts = [name for name, is_wanted in usual.items() if is_wanted]
    return measure_rows(options, bool(parts)) or next(filter(None, (measure_part(name, options) for name in parts)), 0)


def measure_part(name: str, options: argparse.Namespace) -> int:
    try:
        with tempfile.TemporaryDirectory(prefix="duvet-bench-") as scratch:
            figures = list(PARTS[name][1](options, Path(scratch)))
    except FailedError as error:
        print(f"bench: {name}: {error}", file=sys.stderr)
        # Not everybody has Chromium.
        return 0 if name == "pages" and not options.pages else 1
    print(table.render_figures(figures))
    return 0 if all(figure.passes for figure in figures) else 1


def measure_rows(options: argparse.Namespace, has_parts: bool) -> int:
    if options.shared is None:
        print("bench: the shared folder is absent, so only the start of the program is measured", file=sys.stderr)
    clock = Clock(options.runs, options.shared)
    rows: list[table.Result] = []
    curves: list[table.Curve] = []
    try:
        with tempfile.TemporaryDirectory(prefix="duvet-bench-") as scratch:
            if options.rows:
                rows.extend(_measure_each(options, Path(scratch), clock))
            if options.growth:
                curves.extend(growth.sweep(options.shared, Path(scratch), options.duvet, options.runs, clock))
    except FailedError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    if not rows and not curves:
        if not has_parts:
            print(f"bench: no row is named {options.only}", file=sys.stderr)
        return 0 if has_parts else 2
    described = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, check=False)
    about = {
        "commit": described.stdout.decode().strip() or "unknown",
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "cu_ms": clock.milliseconds,
        "runs": options.runs,
    }
    print(" · ".join(f"{key} {value}" for key, value in about.items()))
    if rows:
        print(table.render_results(rows))
    if curves:
        print(growth.render(curves))
    if options.json:
        options.json.write_text(table.as_json(rows, about))
    if options.save:
        saved = {"rows": {row.name: row.figure for row in rows}, "growth": curves}
        results = msgspec.convert({**about, **saved}, table.Results)
        for path, text in saved_files(results, readme.FILE.read_text(encoding="utf-8")).items():
            path.write_text(text, encoding="utf-8")
    return 0 if all(row.passes for row in rows) and all(line.passes for line in growth.lines(curves)) else 1


def _measure_each(options: argparse.Namespace, scratch: Path, clock: Clock) -> Iterator[table.Result]:
    before = table.decode(table.FILE.read_text()).rows if table.FILE.exists() else {}
    for row, folder, prepare in wanted_rows(options.shared, scratch, options.only, options.huge):
        unit, peer = clock.unit(), None
        if row.state in (State.SAME, State.EDITED):
            # It is measured once the files that it reads are old enough to be trusted without being read.
            settle([options.duvet, *row.arguments], folder)
        cost = least([options.duvet, *row.arguments], folder, options.runs, prepare)
        if options.peer and row.is_cold:
            try:
                peer = least([*options.peer, *row.arguments], folder, options.runs, prepare)
            except FailedError as error:
                # The peer can't do the same work.
                print(f"bench: {row.name}: {error}", file=sys.stderr)
        yield table.Result(row.name, row.budget, cost, unit, before.get(row.name), peer)


def saved_files(results: table.Results, page: str) -> dict[Path, str]:
    """Return the text of each file that `--save` writes."""
    return {
        table.FILE: table.encode(results),
        growth.FILE: growth.plot(results),
        readme.FILE: readme.renew(page, results),
    }


if __name__ == "__main__":
    sys.exit(main())
