"""Runs the command in this very process: hundreds of runs in the time of a few processes."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from datetime import date
from pathlib import Path
from unittest.mock import patch

from duvet.cache.cache import Cache
from duvet.cli import run
from duvet.commands.report import report
from duvet.errors import DuvetError
from duvet.terminal.exit_codes import FAILED
from duvet.terminal.failures import as_problems
from duvet.terminal.failures import report as tell
from duvet.terminal.problem_formats import Answer
from duvet.terminal.recalling import report_with
from duvet.terminal.settings import Settings
from duvet.terminal.wishes import Wishes
from duvet.tree.disk import DiskTree
from tests.cli.running import Done, environment

_VERBS = (
    "Extracting|Extracted|Scanning|Scanned|Parsing|Parsed|Loading|Loaded|Mapping|Mapped|Matching|Matched|Sorting|Sorted"
    "|Writing|Wrote|Kept|Checking|Checked|Removed|Downloading|Downloaded"
)
_STEP = re.compile(rf"(?m)^(?=.{{12}} ) *(?:{_VERBS}) .*\n")


def said(err: str) -> str:
    """What is said on standard error, less the steps of the work."""
    return _STEP.sub("", err)


def run_here(folder: Path, *args: str, environ: Mapping[str, str] | None = None, day: date | None = None) -> Done:
    """The command with these arguments, today or on another day."""
    return _done(folder, lambda: run([*args], Settings(os.environ, day=day)), environ or {})


def report_here(
    folder: Path,
    *args: str,
    now: int | None,
    disk: DiskTree | None = None,
    environ: Mapping[str, str] | None = None,
    day: date | None = None,
) -> Done:
    """`duvet report` with these arguments, with the cache, at another time than now or on another day or disk."""
    return _done(folder, lambda: _report(now, disk or DiskTree(), args, day), environ or {})


def _done(folder: Path, work: Callable[[], int], environ: Mapping[str, str]) -> Done:
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    here = patch.dict(os.environ, environment(**environ), clear=True)
    with chdir(folder), here, redirect_stdout(out), redirect_stderr(err):
        code = work()
    out.seek(0)
    return Done(code, out.read(), err.getvalue())


def _report(now: int | None, disk: DiskTree, args: tuple[str, ...], day: date | None) -> int:
    shown = Settings(os.environ, day=day)
    with report.make_context("report", [*args], obj=shown) as ctx:
        where = {
            name: value for name, value in ctx.params.items() if name not in ("opens", "watch", "format", "output")
        }
        wishes = Wishes(**{name: where.pop(name) for name in Wishes.__struct_fields__})
        try:
            return report_with(Cache(disk, shown.environ, now, today=shown.today), where, wishes, Answer())
        except DuvetError as error:
            tell(as_problems(error), shown)
            return FAILED
