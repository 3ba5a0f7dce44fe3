import gc
import tracemalloc
from pathlib import Path

import click
import pytest

from duvet.cli import cli
from duvet.commands.report import run_watched_report
from duvet.console.command import TerminalSettings
from duvet.console.problems import ProblemOutput
from duvet.console.report_result import ReportRequest
from duvet.project.changes import ChangeWatcher
from tests.cli.sample_project import KETTLE, NOTHING_GIVEN, SOURCE, make
from tests.edits import save_by_rename

RUNS = 30
GRACE = 16_000
"""Bytes by which tables of names may still grow; ten pages or ten readings are far more."""


@pytest.mark.parametrize("cache", [True, False], ids=["cache", "no cache"])
def test_memory_does_not_grow(cache: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, KETTLE)
    monkeypatch.chdir(tmp_path)
    objects, sizes = [], []
    tracemalloc.start()
    with click.Context(cli, obj=TerminalSettings({}, quiet=True, cache=cache)), ChangeWatcher() as changes:
        for count in range(RUNS):
            project, _ = run_watched_report(NOTHING_GIVEN, ReportRequest(html="page.html"), ProblemOutput())
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
