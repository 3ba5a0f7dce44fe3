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

from duvet.cli import run_command_line
from duvet.commands.report import report
from duvet.console.command import TerminalSettings
from duvet.console.problems import ProblemOutput, list_error_problems
from duvet.console.problems import print_problems as tell
from duvet.console.report_result import ReportRequest, report_project
from duvet.console.streams import FAILED
from duvet.errors import DuvetError
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree
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
    return _done(folder, lambda: run_command_line([*args], TerminalSettings(os.environ, day=day)), environ or {})


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
    shown = TerminalSettings(os.environ, day=day)
    with report.make_context("report", [*args], obj=shown) as ctx:
        where = {
            name: value for name, value in ctx.params.items() if name not in ("opens", "watch", "format", "output")
        }
        wishes = ReportRequest(**{name: where.pop(name) for name in ReportRequest.__struct_fields__})
        try:
            return report_project(
                DiskCache(disk, shown.environ, now, today=shown.today), where, wishes, ProblemOutput()
            )
        except DuvetError as error:
            tell(list_error_problems(error), shown)
            return FAILED
