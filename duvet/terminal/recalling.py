"""A run of `duvet report` that may know from an earlier one what comes of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from duvet.cache.cache import Cache
from duvet.errors import DuvetError
from duvet.terminal.notes import Rules, said_of_pages
from duvet.terminal.options import key_of, open_cache, open_project
from duvet.terminal.outcome import Outcome, lasts, tell
from duvet.terminal.problem_formats import Answer, tell_failure
from duvet.terminal.progress import Lines
from duvet.terminal.settings import settings
from duvet.terminal.wishes import Wishes
from duvet.tree.recorded import ChangedError, Look

_NAME = "report"


def report_or_recall(where: Mapping[str, Any], wishes: Wishes, answer: Answer) -> int:
    """The exit code; where nothing has changed since a run with these options, its reports are there already."""
    try:
        cache = open_cache(settings(), {})
        if cache is None:
            return tell(_run(None, where, wishes, said_of_pages(where)), answer)
        return report_with(cache, where, wishes, answer)
    except DuvetError as error:
        return tell_failure(error, answer)


def report_with(cache: Cache, where: Mapping[str, Any], wishes: Wishes, answer: Answer) -> int:
    """The same with what is in this cache, which then holds what is new."""
    notes = said_of_pages(where)
    how = report_key(where, wishes, notes)
    # Those who ask for every file that holds annotations want to see them read.
    known = None if settings().verbose else _recalled(cache, how)
    if known is not None:
        ##= man/spec/problems.md#formats
        ##% What is written MUST NOT depend on whether it was found out in this run or in an earlier one.
        return tell(known, answer)
    outcome, cache = _run_of_one_moment(cache, where, wishes, notes)
    code = tell(outcome, answer)
    # Nobody waits for this.
    remember(cache, how, outcome)
    return code


def report_key(where: Mapping[str, Any], wishes: Wishes, notes: Rules | None) -> str:
    """All that a report depends on beside the project."""
    return key_of(where, wishes) if notes is None else key_of(where, wishes, notes)


def remember(cache: Cache, how: str, outcome: Outcome) -> None:
    """Leave for later runs what this one has come to."""
    if lasts(outcome.problems):
        cache.keep(_NAME, how, outcome)
    cache.save()


def _recalled(cache: Cache, how: str) -> Outcome | None:
    ##= man/spec/cache.md#freshness
    ##% Where no input and no report has changed since a run with the same options, `duvet report` MUST give the same
    ##% answer and leave the reports alone.
    progress, started = Lines(settings()), time.perf_counter()
    known = cache.recall(_NAME, Outcome, how)
    if known is not None:
        progress.begin("Checking inputs and reports")
        progress.started = started
        progress.end("Checked that nothing has changed since the last run")
    return known


def _run_of_one_moment(
    cache: Cache, where: Mapping[str, Any], wishes: Wishes, notes: Rules | None
) -> tuple[Outcome, Cache]:
    """What comes of it, where no file is read as two different ones; and the cache that knows of it."""
    pinned: dict[str, Look] = {}
    while True:
        try:
            return _run(cache, where, wishes, notes), cache
        except ChangedError as error:
            # What is there now is what this run is about: each file changes once at most, however often it is written.
            pinned[error.path] = error.look
            cache = open_cache(settings(), pinned) or cache


def _run(cache: Cache | None, where: Mapping[str, Any], wishes: Wishes, notes: Rules | None) -> Outcome:
    from duvet.terminal.reporting import run_report

    return run_report(open_project(cache, notes=notes, **where), wishes)
