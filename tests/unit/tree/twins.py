"""Two copies of a project, one with a cache and one without, which must stay alike.

Commands run in the test process, because hundreds of runs are needed.
"""

import io
import os
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from datetime import date
from pathlib import Path
from unittest.mock import patch

from duvet.cli import run_command_line
from duvet.commands.report import report
from duvet.console.command import TerminalSettings
from duvet.console.problems import ProblemOutput, list_error_problems, print_problems
from duvet.console.report_result import ReportRequest, report_project
from duvet.console.streams import FAILED
from duvet.errors import DuvetError
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree
from duvet.tree.outputs import is_unfinished
from tests.cli.command import Done, environment

_VERBS = (
    "Extracting|Extracted|Scanning|Scanned|Parsing|Parsed|Loading|Loaded|Mapping|Mapped|Matching|Matched|Sorting|Sorted"
    "|Writing|Wrote|Kept|Checking|Checked|Removed|Downloading|Downloaded"
)
_STEP = re.compile(rf"(?m)^(?=.{{12}} ) *(?:{_VERBS}) .*\n")


def without_steps(err: str) -> str:
    return _STEP.sub("", err)


def run_here(folder: Path, *args: str, environ: Mapping[str, str] | None = None, day: date | None = None) -> Done:
    return _done(folder, lambda: run_command_line([*args], TerminalSettings(os.environ, day=day)), environ or {})


def report_here(
    folder: Path,
    *args: str,
    now: int | None,
    disk: DiskTree | None = None,
    environ: Mapping[str, str] | None = None,
    day: date | None = None,
) -> Done:
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
        others = ("opens", "watch", "format", "output")
        where = {name: value for name, value in ctx.params.items() if name not in others}
        request = ReportRequest(**{name: where.pop(name) for name in ReportRequest.__struct_fields__})
        try:
            cache = DiskCache(disk, shown.environ, now, today=shown.today)
            return report_project(cache, where, request, ProblemOutput())
        except DuvetError as error:
            print_problems(list_error_problems(error), shown)
            return FAILED


Edit = Callable[[Path, random.Random], object]
SEEDS = int(os.environ.get("DUVET_SEEDS", "1"))
"""How many histories of a project are tried."""
LATER = time.time_ns() + 24 * 3600 * 10**9
"""A time at which nothing that a test writes is fresh any more."""
Content = Callable[[Path], dict[str, object]]


class Twins:
    def __init__(
        self, base: Path, fill: Callable[[Path], object], place: str = ".", content: Content | None = None
    ) -> None:
        self.base = base
        self.content = content or state
        self.place = place
        """Where the command runs."""
        self.kept, self.plain = (base / name / "kettle" for name in ("with", "without"))
        for folder in (self.kept, self.plain):
            folder.parent.mkdir(parents=True)
            fill(folder)
        self.runs = 0
        self.are_killed = False
        """True if a killed run can have written the snapshot, so that the next run does not call it changed."""

    def change_some(self, edits: Sequence[Edit], count: int, choice: random.Random) -> list[str]:
        done = []
        for _ in range(count):
            edit, seed = choice.choice(edits), choice.randrange(1 << 30)
            for folder in (self.kept, self.plain):
                edit(folder, random.Random(seed))
            done.append(f"{edit.__name__} {seed}")
        return done

    def time(self, choice: random.Random) -> int | None:
        """Return the time of a run: now, when all files are fresh, or when none is; clocks may jump back."""
        self.runs += 1
        return choice.choice((None, None, 0, LATER + self.runs, LATER + self.runs, LATER - self.runs))

    def check(self, told: object, *args: str, now: int | None = None, day: date | None = None, **environ: str) -> Done:
        """Check that `duvet report` prints and writes the same with and without the cache; return its output."""
        plain_folder, options = f"kettle/{self.place}", ("report", *args)
        if now is None:
            kept = run_here(self.kept.parent, "-C", plain_folder, *options, environ=environ, day=day)
        else:
            kept = report_here(self.kept / self.place, *args, now=now, environ=environ, day=day)
        plain = run_here(self.plain.parent, "-C", plain_folder, "--no-cache", *options, environ=environ, day=day)
        outputs = [comparable(kept, self.kept), comparable(plain, self.plain)]
        if self.are_killed:
            outputs = [done._replace(err=done.err.replace(" (changed)\n", "\n")) for done in outputs]
        assert outputs[0] == outputs[1], told
        assert self.content(self.kept) == self.content(self.plain), told
        if now is not None:
            tick(self.base)
        return kept


def comparable(done: Done, folder: Path) -> Done:
    """Return what must be the same, whatever the steps printed."""
    return Done(done.code, done.out, without_steps(done.err).replace(str(folder), "<project>"))


def tick(folder: Path) -> None:
    """Wait until the disk's clock advances, so that a later change gets a new time."""
    probe = folder / "clock"
    probe.touch()
    first = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == first:
        os.utime(probe)


def state(folder: Path) -> dict[str, object]:
    found = (path for path in sorted(folder.rglob("*")) if ".duvet/cache" not in path.as_posix())
    return {path.relative_to(folder).as_posix(): _content(path, str(folder).encode()) for path in found}


def whole(folder: Path) -> dict[str, object]:
    return {name: data for name, data in state(folder).items() if not is_unfinished(name.rpartition("/")[2])}


def _content(path: Path, folder: bytes) -> object:
    if path.is_symlink():
        return f"-> {os.readlink(path)}"
    if path.is_file():
        return path.read_bytes().replace(folder, b"<project>")
    return "folder" if path.is_dir() else "something else"
