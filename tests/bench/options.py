"""What `make bench` can be asked."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEAST_RUNS = 7


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options, with what follows from them."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.duvet is None and not options.retrieval:
        parser.error("the command to measure is needed: --duvet")
    options.runs = max(LEAST_RUNS, options.runs)
    options.duvet = options.duvet and _program(options.duvet)
    options.shared = Path(options.shared).resolve()
    if not options.shared.is_dir():
        options.shared = None
        if options.growth or options.save or options.watch or options.pages or options.server or options.retrieval:
            parser.error("--growth, --watch, --server, --pages, --retrieval and --save need the shared folder")
    if options.save and options.only:
        parser.error("--save measures everything, so it can't go with --only")
    options.rows = options.save or not options.growth
    options.growth = options.growth or options.save
    options.huge = options.huge or options.save
    options.only = options.only or "*"
    if options.peer:
        options.peer = [_program(options.peer[0]), *options.peer[1:]]
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench ARGS=", description="Measures duvet against its budgets.")
    parser.add_argument("--duvet", metavar="COMMAND", help="the command to measure")
    parser.add_argument("--shared", default=os.environ.get("DUVET_SHARED", ROOT.parent / "shared"), metavar="FOLDER")
    parser.add_argument("--runs", type=int, default=LEAST_RUNS, help=f"runs of each row, {LEAST_RUNS} or more")
    parser.add_argument("--only", metavar="GLOB", help="only rows with such a name")
    parser.add_argument("--huge", action="store_true", help="the rows of 20,000 sources too")
    parser.add_argument("--peer", type=shlex.split, metavar="COMMAND", help="another duvet, to compare reports with")
    parser.add_argument("--growth", action="store_true", help="measure how time and memory grow, and nothing else")
    parser.add_argument("--watch", action="store_true", help="measure how soon edits are answered, and nothing else")
    parser.add_argument("--server", action="store_true", help="measure the server for agents, and nothing else")
    parser.add_argument("--pages", action="store_true", help="measure the pages in Chromium, and nothing else")
    parser.add_argument(
        "--pages-of-notes", action="store_true", help="measure the server with 10,000 pages of notes, and nothing else"
    )
    parser.add_argument(
        "--retrieval", action="store_true", help="measure how well questions find answers, and nothing else"
    )
    parser.add_argument(
        "--knowledge", action="store_true", help="measure what is taken in and searched, and nothing else"
    )
    parser.add_argument("--gateway", action="store_true", help="measure what a team waits for, and nothing else")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument(
        "--save", action="store_true", help="measure all of it, and write the results, the plot and the README anew"
    )
    return parser


def _program(name: str) -> str:
    """Where a program stands: it is started in other folders."""
    return str(Path(shutil.which(name) or name).absolute())
