"""Two copies of one project: in one of them the cache is used, in the other it is not. Both have to stay alike."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from tests.cli.running import Done
from tests.unit.cache.here import report_here, run_here, said

Edit = Callable[[Path, random.Random], object]
SEEDS = int(os.environ.get("DUVET_SEEDS", "1"))
"""How many histories of a project are tried."""
LATER = time.time_ns() + 24 * 3600 * 10**9
"""A time at which nothing that a test writes is fresh any more."""


class Twins:
    """A project with the cache, and the same without."""

    def __init__(self, base: Path, fill: Callable[[Path], object], place: str = ".") -> None:
        self.base = base
        self.place = place
        """Where the command runs."""
        self.kept, self.plain = (base / name / "kettle" for name in ("with", "without"))
        for folder in (self.kept, self.plain):
            folder.parent.mkdir(parents=True)
            fill(folder)
        self.runs = 0

    def change(self, edit: Edit, seed: int) -> None:
        """The same change in both."""
        for folder in (self.kept, self.plain):
            edit(folder, random.Random(seed))

    def time(self, choice: random.Random) -> int | None:
        """The time of a run: now, when all is fresh, or when nothing is; and clocks jump back."""
        self.runs += 1
        return choice.choice((None, None, 0, LATER + self.runs, LATER + self.runs, LATER - self.runs))

    def answers(self, *args: str, now: int | None = None, day: date | None = None, **environ: str) -> tuple[Done, Done]:
        """What `duvet report` says with the cache and without."""
        if now is None:
            kept = run_here(self.kept.parent, "-C", f"kettle/{self.place}", "report", *args, environ=environ, day=day)
        else:
            kept = report_here(self.kept / self.place, *args, now=now, environ=environ, day=day)
        plain = run_here(
            self.plain.parent, "-C", f"kettle/{self.place}", "--no-cache", "report", *args, environ=environ, day=day
        )
        return comparable(kept, self.kept), comparable(plain, self.plain)

    def states(self) -> tuple[dict[str, object], dict[str, object]]:
        """What there is in both."""
        return state(self.kept), state(self.plain)


def comparable(done: Done, folder: Path) -> Done:
    """What is to be the same, whatever the steps were."""
    return Done(done.code, done.out, said(done.err).replace(str(folder), "<project>"))


def tick(folder: Path) -> None:
    """Wait until the clock of the disk moves on: what a run took for old must not change in the instant it was made."""
    probe = folder / "clock"
    probe.touch()
    first = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == first:
        os.utime(probe)


def state(folder: Path) -> dict[str, object]:
    """Everything below a folder but the cache: what it is, and what it holds."""
    found = (path for path in sorted(folder.rglob("*")) if ".duvet/cache" not in path.as_posix())
    return {path.relative_to(folder).as_posix(): _content(path, str(folder).encode()) for path in found}


def _content(path: Path, folder: bytes) -> object:
    if path.is_symlink():
        return f"-> {os.readlink(path)}"
    if path.is_file():
        return path.read_bytes().replace(folder, b"<project>")
    return "folder" if path.is_dir() else "something else"
