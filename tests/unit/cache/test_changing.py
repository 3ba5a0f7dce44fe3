"""Somebody changes a project at any moment of a run: whatever that run says, the next ones say what is right."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from duvet.tree.files import DiskTree
from tests.cli.made import make
from tests.unit.cache.here import report_here, run_here
from tests.unit.cache.house import HOUSE
from tests.unit.cache.twins import LATER, comparable, state, tick

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and odd names")

Change = Callable[[Path], object]
SAMPLES = int(os.environ.get("DUVET_SAMPLES", "4"))
"""At how many moments each change is tried."""


class Meddler(DiskTree):
    """The disk, on which something changes right before it is looked at for the n-th time."""

    def __init__(self, moment: int, change: Callable[[], object]) -> None:
        super().__init__()
        self.moment = moment
        self.change = change
        self.looks = 0

    def at(self, path: str) -> str:
        self.looks += 1
        if self.looks == self.moment:
            self.change()
        return super().at(path)


def rewrite(name: str, old: str, new: str) -> Change:
    """Other words of the same length in a file that stays as old."""

    def change(folder: Path) -> None:
        path = folder / name
        info = path.stat()
        path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))

    return change


def replace(name: str, text: str) -> Change:
    """Another file in its place, moved there as editors do."""

    def change(folder: Path) -> None:
        (folder / "new").write_text(text)
        (folder / "new").replace(folder / name)

    return change


def write(name: str, text: str) -> Change:
    return lambda folder: make(folder, {name: text})


def remove(name: str) -> Change:
    return lambda folder: (folder / name).unlink()


WRONG = "//= spec.md#heating\n//# The kettle MUST cook tea.\n"
CHANGES: dict[str, Change] = {
    "a source says something else": rewrite("src/a.rs", "boil", "cook"),
    "a source is another file": replace("src/a.rs", WRONG),
    "a source is gone": remove("src/a.rs"),
    "a source is new": write("src/deep/new.rs", WRONG),
    "a source is elsewhere": lambda folder: (folder / "src/a.rs").rename(folder / "tests/a.rs"),
    "a folder is elsewhere": lambda folder: (folder / "src/deep").rename(folder / "tests/deep"),
    "a wrong source is right": write("src/wrong.rs", WRONG.replace("cook tea", "boil water")),
    "a specification says something else": rewrite("spec.md", "boil", "cook"),
    "a specification is gone": remove("spec.md"),
    "git ignores a source": write("src/.gitignore", "a.rs"),
    "there is a repository that ignores a source": write(".git/info/exclude", "a.rs"),
    "there is a repository around that ignores a source": write("../.git/info/exclude", "a.rs"),
    "the configuration is another one": rewrite(".duvet/config.toml", "src/**/*.rs", "src/**/b.rs"),
    "a requirement file is by hand": write(".duvet/requirements/spec/heating.toml", "target = 'spec.md#pouring'"),
    "a stale requirement file": write(".duvet/requirements/spec/gone.toml", "target = 'spec.md#pouring'"),
    "an exception says something else": rewrite(".duvet/exceptions/e.toml", "whistle", "whisper"),
    "a report is changed": write(".duvet/snapshot.txt", "changed"),
    "a report is gone": lambda folder: (folder / ".duvet/reports/report.json").unlink(missing_ok=True),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_at_any_moment(name: str, tmp_path: Path) -> None:
    ##= man/spec/cache.md#freshness
    ##= type=test
    ##% duvet MUST NOT store an answer that involved a failure, such as an unreadable file, or an input that changed
    ##% during the run.
    choice = random.Random(name)
    for number in range(SAMPLES):
        folder = start(tmp_path / str(number))
        times = choice.choice(([None] * 4, [LATER + run for run in range(4)]))
        if choice.randrange(2):
            # What follows may know something from earlier.
            report_here(folder, now=times[0])
            write("src/deep/er/b.rs", "")(folder)
        tick(tmp_path)
        disk = Meddler(choice.randrange(2, 125), partial(CHANGES[name], folder))
        assert report_here(folder, now=times[1], disk=disk).code in (0, 1)
        if disk.looks < disk.moment:
            CHANGES[name](folder)
        for now in times[2:]:
            kept = report_here(folder, now=now)
            left = state(folder)
            plain = run_here(folder, "--no-cache", "report")
            assert (comparable(kept, folder), left) == (comparable(plain, folder), state(folder)), disk.moment


def start(folder: Path) -> Path:
    """A project in which one source is wrong, so that places in it are looked for."""
    config = HOUSE[".duvet/config.toml"].replace("[report.html]\n", "[report.html]\nenabled = false\n")
    return make(folder, {**HOUSE, ".duvet/config.toml": config, "src/wrong.rs": WRONG})
