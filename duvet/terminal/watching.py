"""`duvet report --watch`: a run after each change."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any, NoReturn

from msgspec.structs import replace

from duvet.cache.cache import Cache
from duvet.errors import DuvetError
from duvet.project import Project
from duvet.terminal.notes import said_of_pages
from duvet.terminal.options import open_project
from duvet.terminal.outcome import tell
from duvet.terminal.problem_formats import Answer, tell_failure
from duvet.terminal.progress import Lines
from duvet.terminal.recalling import remember, report_key
from duvet.terminal.reporting import run_report
from duvet.terminal.settings import settings, wants_cache
from duvet.terminal.wishes import Wishes
from duvet.tree.disk import DiskTree
from duvet.watching.changes import Changes

_MOST_NAMES = 3


def report_on_changes(where: Mapping[str, Any], wishes: Wishes, answer: Answer) -> NoReturn:
    """Report, and report again after each change; only an interruption or an error of the system ends that."""
    progress = Lines(settings())
    with Changes(settings().environ) as changes:
        mended = False
        while True:
            ##= man/spec/watch.md#reporting-again
            ##% With `--watch`, `duvet report` MUST report again after each change until it is interrupted.
            project, reported = run(where, wishes, answer)
            changes.follow(project)
            if reported:
                ##= man/spec/page.md#opening
                ##% With `--watch`, the page MUST be opened once.
                answer = replace(answer, opens=False)
            progress.begin("Watching for changes; Ctrl-C ends it")
            # Python looks for cycles by itself in no run of the command line.
            ##= man/spec/watch.md#reporting-again
            ##% The memory of a process that watches MUST NOT grow with the number of runs.
            gc.collect()
            ##= man/spec/watch.md#reporting-again
            ##% Each further run MUST begin with the names of some files that have changed.
            changed, mended = next_change(changes, mended=mended)
            progress.begin(f"Changed {_named(changed)}")


def next_change(changes: Changes, *, mended: bool) -> tuple[tuple[str, ...], bool]:
    """What has changed, and whether that is reports alone."""
    while True:
        changed = changes.wait() or ()
        reports_alone = bool(changed) and changes.are_outputs(changed)
        ##= man/spec/watch.md#reporting-again
        ##% A report that somebody else changes or removes SHOULD be made again, but MUST NOT be made a second time for
        ##% that before something that it is made from has changed.
        # Two that watch with different options would else write one report in turn for ever.
        if not (reports_alone and mended):
            return changed, reports_alone


def run(where: Mapping[str, Any], wishes: Wishes, answer: Answer) -> tuple[Project, bool]:
    """One run, which has told what it came to: the project as it was read, and whether there was a report."""
    shown = settings()
    cache = Cache(DiskTree(), shown.environ, kept=wants_cache(shown), today=shown.today)
    project = open_project(cache, **where)
    ##= man/spec/watch.md#reporting-again
    ##% What is wrong with the configuration or with annotations MUST be told, and MUST NOT end the watching.
    try:
        notes = said_of_pages(where, cache.tree)
        project = open_project(cache, notes=notes, **where)
        outcome = run_report(project, wishes)
    except DuvetError as error:
        tell_failure(error, answer)
        cache.settle()
        return project, False
    tell(outcome, answer)
    remember(cache, report_key(where, wishes, notes), outcome)
    return project, True


def _named(paths: tuple[str, ...]) -> str:
    """The first few."""
    shown = ", ".join(paths[:_MOST_NAMES])
    more = len(paths) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
