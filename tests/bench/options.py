"""The options of `make bench`."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEAST_RUNS = 7
PARTS = {
    "growth": "how time and memory grow",
    "watch": "how soon edits are answered",
    "server": "the server for agents",
    "pages": "the pages in Chromium",
    "pages_of_notes": "the server with 5,000 pages of notes",
    "retrieval": "how well questions find answers",
    "knowledge": "what is taken in and searched",
    "gateway": "what a team waits for",
}  # The parts that can be measured alone.
NEED_SHARED = ("growth", "watch", "server", "pages", "retrieval", "save", "knowledge", "gateway")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.duvet is None and not options.retrieval:
        parser.error("the command to measure is needed: --duvet")
    options.runs = max(LEAST_RUNS, options.runs)
    options.duvet = options.duvet and _program(options.duvet)
    options.shared = Path(options.shared).resolve()
    if not options.shared.is_dir():
        options.shared = None
        if any(getattr(options, name) for name in NEED_SHARED):
            parser.error(
                "--growth, --watch, --server, --pages, --knowledge, --gateway, --retrieval and --save need the shared folder"
            )
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
    for name, words in PARTS.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}", action="store_true", help=f"measure {words}, and nothing else"
        )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    everything = "measure all of it, and write the results, the plot and the README anew"
    parser.add_argument("--save", action="store_true", help=everything)
    return parser


def _program(name: str) -> str:
    """Return the absolute path of a program, because it is started in other folders."""
    return str(Path(shutil.which(name) or name).absolute())
