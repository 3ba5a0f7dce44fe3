"""One run of `duvet report`: extract, trace, judge, write, and say what came of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial

from duvet import rules
from duvet.cache.memory import Memory
from duvet.config.find import require_config
from duvet.errors import DuvetError, OutputError, UnreadableError
from duvet.model import Problem
from duvet.project import Project
from duvet.reports import snapshot as snapshot_report
from duvet.reports import summary
from duvet.sources.scan import unreadable
from duvet.terminal.outcome import Outcome, as_errors, fails
from duvet.terminal.outputs import is_poured, rendered, written_together
from duvet.terminal.report_files import Files, all_files, page_path, pages
from duvet.terminal.report_gates import checks_snapshot, gate_problems
from duvet.terminal.requirement_writing import write_requirements
from duvet.terminal.settings import settings
from duvet.terminal.wishes import Wishes

Problems = tuple[Problem, ...]


def run_report(project: Project, wishes: Wishes) -> Outcome:
    """Make every report; what is wrong, and the summary."""
    written = _write_requirements(project, wishes)
    finished = project.finished(wishes.blob_link, wishes.issue_link)
    problems = _judged((*finished.trace.problems, *written, *_without_configuration(project)), wishes)
    if fails(problems):
        ##= man/spec/trace.md#reports
        ##% When an annotation is wrong, JSON, LCOV and the snapshot MUST NOT be written.
        ##= man/spec/trace.md#reports
        ##% When an annotation is wrong, the page MUST be written with the verdict and every problem.
        # What is wrong can't be counted: only the page is written, because it shows why.
        files = pages(project, wishes, finished, problems, None)
    else:
        snapshot = rendered(partial(snapshot_report.render, finished))
        problems = _listed((*problems, *gate_problems(project, wishes, snapshot, settings())))
        keeps = not checks_snapshot(project, wishes)
        files = all_files(project, wishes, finished, problems, snapshot, keeps_snapshot=keeps)
    problems = _listed((*problems, *_write(project, files)))
    shown = rendered(partial(summary.render, finished, problems)).decode()
    return Outcome(problems, shown, page_path(project, wishes))


def _judged(problems: Iterable[Problem], wishes: Wishes) -> Problems:
    ##= man/spec/trace.md#gates
    ##% With `--strict`, a warning MUST fail the run.
    found = _listed(problems)
    return as_errors(found) if wishes.strict else found


def _without_configuration(project: Project) -> list[Problem]:
    """A warning where nothing says what to report on: awslabs duvet finds nothing wrong then."""
    ##= man/spec/trace.md#configuration
    ##% Where nothing says what to trace, `duvet report` SHOULD warn and say where a configuration would be.
    if project.config or project.options.sources or project.options.requirements:
        return []
    try:
        require_config(project.tree)
    except UnreadableError as error:
        return [rules.CONFIG_ABSENT.problem(error.message, error.path, hint=error.hint)]
    return []


def _listed(problems: Iterable[Problem]) -> Problems:
    ##= man/spec/trace.md#diagnostics
    ##% Once the configuration can be read, all problems of all phases MUST be reported in one run, sorted by path and
    ##% place.
    return tuple(sorted(problems, key=lambda one: one.sort_key))


def _write_requirements(project: Project, wishes: Wishes) -> list[Problem]:
    try:
        return write_requirements(project, project.extraction, prune=wishes.prune)
    except OutputError as error:
        return [_unwritable(error)]
    except DuvetError as error:
        return [unreadable(error)]


def _write(project: Project, files: Files) -> list[Problem]:
    """Write all files or none; what keeps them from being written."""
    memory, progress = project.memory, project.progress
    replaced: set[object] = set()
    try:
        with written_together() as write:
            for path, make in files:
                progress.begin(f"Writing {path}")
                data = make()
                # Two names may lead to one file, and what is written last stays.
                if not is_poured(path) and _identity(path) not in replaced and memory.holds(path, data):
                    progress.end(f"Kept {path}, which is the same")
                else:
                    write(path, data)
                    replaced.add(_identity(path))
                    progress.end(f"Wrote {path}")
                _note(memory, path, data)
    except OutputError as error:
        return [_unwritable(error)]
    return []


def _identity(path: str) -> object:
    """What all names of a file have in common; None where there is no file."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return None
    return info.st_dev, info.st_ino


def _note(memory: Memory, path: str, data: bytes) -> None:
    ##= man/spec/cache.md#freshness
    ##% A report that goes to standard output MUST be written each time.
    if is_poured(path):
        memory.for_now()
    else:
        memory.wrote(path, data)


def _unwritable(error: OutputError) -> Problem:
    return rules.FILE_UNWRITABLE.problem(error.message, error.path, hint=error.hint)
