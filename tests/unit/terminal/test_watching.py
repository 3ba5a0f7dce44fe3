"""A process that reports again and again."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import click
import pytest

from duvet.cli import cli
from duvet.terminal.problem_formats import Answer
from duvet.terminal.settings import Settings
from duvet.terminal.watching import next_change, run
from duvet.terminal.wishes import Wishes
from duvet.watching.changes import Changes
from tests.cli.made import KETTLE, SOURCE, make
from tests.unit.watching.edits import save_by_rename

RUNS = 30
GRACE = 16_000
"""Bytes by which tables of names may still grow; ten pages or ten readings are far more."""
WHERE = {
    "config_path": None,
    "offline": True,
    "allow_http": False,
    "source_patterns": (),
    "spec_patterns": (),
    "spec_path": None,
}


@pytest.mark.parametrize("cache", [True, False], ids=["cache", "no cache"])
def test_memory_does_not_grow(cache: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ##= man/spec/watch.md#reporting-again
    ##= type=test
    ##% The memory of a process that watches MUST NOT grow with the number of runs.
    make(tmp_path, KETTLE)
    monkeypatch.chdir(tmp_path)
    objects, sizes = [], []
    tracemalloc.start()
    with click.Context(cli, obj=Settings({}, quiet=True, cache=cache)), Changes() as changes:
        for count in range(RUNS):
            project, _ = run(WHERE, Wishes(html="page.html"), Answer())
            changes.follow(project)
            save_by_rename("src/a.rs", f"{SOURCE}// {count:02}\n")(tmp_path)
            assert changes.wait() == ("src/a.rs",)
            gc.collect()
            objects.append(len(gc.get_objects()))
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    # What is imported and compiled once is there after a few runs.
    assert max(objects[20:]) < max(objects[10:20]) + RUNS
    assert max(sizes[20:]) < max(sizes[10:20]) + GRACE


class Scripted(Changes):
    """Changes in a given order, of which `report` is an output."""

    def __init__(self, *script: tuple[str, ...]) -> None:
        super().__init__()
        self.script = iter(script)

    def wait(self) -> tuple[str, ...] | None:
        return next(self.script)

    def are_outputs(self, paths: Iterable[str]) -> bool:
        return {"report"}.issuperset(paths)


def test_a_report_is_mended_once() -> None:
    ##= man/spec/watch.md#reporting-again
    ##= type=test
    ##% A report that somebody else changes or removes SHOULD be made again, but MUST NOT be made a second time for that
    ##% before something that it is made from has changed.
    changes = Scripted(("report",), ("report",), ("report",), ("a.rs", "report"), ("report",))
    first = next_change(changes, mended=False)
    second = next_change(changes, mended=first[1])
    third = next_change(changes, mended=second[1])
    assert (first, second, third) == ((("report",), True), (("a.rs", "report"), False), (("report",), True))
