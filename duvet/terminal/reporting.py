"""One run of `duvet report`: extract, trace, judge, write, and say what came of it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from functools import partial

from msgspec.structs import replace

from duvet.model import Problem, Severity
from duvet.project import Project
from duvet.reports import snapshot as snapshot_report
from duvet.reports import summary
from duvet.terminal.failures import FAILED, OK, report
from duvet.terminal.outputs import rendered, write_file
from duvet.terminal.report_files import Files, all_files, pages
from duvet.terminal.report_gates import checks_snapshot, gate_problems
from duvet.terminal.requirement_writing import write_requirements
from duvet.terminal.settings import Settings, settings
from duvet.terminal.wishes import Wishes
from duvet.trace.finished import Finished

Problems = tuple[Problem, ...]


def run_report(project: Project, wishes: Wishes) -> int:
    """Make every report and print what is wrong; the exit code."""
    # A run is short and makes no cycles to speak of: looking for them cost a sixth of its time.
    gc.disable()
    shown = settings()
    stale = write_requirements(project, project.extraction, prune=wishes.prune)
    finished = project.finished(wishes.blob_link, wishes.issue_link)
    problems = _judged((*finished.trace.problems, *stale), wishes)
    if _fails(problems):
        # What is wrong can't be counted: only the page is written, because it shows why.
        _write(project, pages(project, wishes, finished, problems))
    else:
        snapshot = rendered(partial(snapshot_report.render, finished))
        problems += tuple(gate_problems(project, wishes, finished.trace, snapshot, shown))
        kept = None if checks_snapshot(project, wishes) else snapshot
        _write(project, all_files(project, wishes, finished, problems, kept))
    return _end(finished, problems, shown)


def _end(finished: Finished, problems: Problems, shown: Settings) -> int:
    report(problems, shown)
    if not shown.quiet:
        sys.stderr.write(rendered(partial(summary.render, finished, problems)).decode())
    return FAILED if _fails(problems) else OK


def _fails(problems: Problems) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)


def _judged(problems: Iterable[Problem], wishes: Wishes) -> Problems:
    found = tuple(problems)
    return tuple(replace(one, severity=Severity.ERROR) for one in found) if wishes.strict else found


def _write(project: Project, files: Files) -> None:
    for path, make in files:
        project.progress.begin(f"Writing {path}")
        write_file(path, make())
        project.progress.end(f"Wrote {path}")
