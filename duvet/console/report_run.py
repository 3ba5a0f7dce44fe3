"""Runs a report: traces the project, applies gates, compares with the snapshot in CI, and writes the files."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.console.command import current_settings, show_path
from duvet.console.problems import (
    has_errors,
    is_stream_output,
    promote_setup_problems,
    promote_warnings,
    reword_problem,
)
from duvet.console.progress import ProgressLines
from duvet.console.report_result import ReportGate, ReportRequest, ReportResult
from duvet.console.streams import print_remark, render_bytes, write_outputs
from duvet.errors import DuvetError, OutputError, UnreadableError, describe_os_error
from duvet.model import Place, Problem, Severity, Specification, sort_problems
from duvet.project.project import Project, find_missing_reasons, find_setup_problems
from duvet.reports.summary import summarize_run
from duvet.sources.scan import make_unreadable_problem
from duvet.specs import extraction
from duvet.text import format_count
from duvet.trace.records import AnnotationPlaces, Finished, GateResult
from duvet.tree.outputs import store_changed, store_together

if TYPE_CHECKING:
    from duvet.progress import Progress
    from duvet.specs.census import Census

_SLOW_STEP = 1.0  # Seconds after which a terminal shows a step.

ReportFiles = Iterable[tuple[str, Callable[[], bytes]]]  # The path of each file, and the function that renders it.


def run_report(project: Project, request: ReportRequest) -> ReportResult:
    found: list[Problem] = []
    try:
        project.progress.counts_like_upstream = project.is_like_upstream
        if not project.is_like_upstream and not current_settings().verbose:
            slow = _SLOW_STEP if sys.stderr.isatty() else math.inf
            project.progress = ProgressLines(current_settings(), slow)
        found += _update_requirement_files(project, prune=request.prune)
    except OutputError as error:
        found.append(rules.FILE_UNWRITABLE.problem(error.message, error.path, hint=error.hint))
    except DuvetError as error:
        found.append(make_unreadable_problem(error))
    try:
        project.require_contents()
    except UnreadableError as error:
        # Without a gate this is a warning, because awslabs duvet accepts it.
        found.append(rules.CONFIG_ABSENT.problem(error.message, error.path, hint=error.hint))
    finished = project.finished(request.blob_link, request.issue_link)
    found += find_setup_problems(project)
    if project.config and project.config.extended:
        missing = find_missing_reasons(project.trace, AnnotationPlaces(project.tree))
        found += [replace(problem, severity=Severity.WARNING) for _, problem in missing]
        found += check_counts(project.progress, project.censuses)
    is_ci, gates = request.ci, list[Gate]()
    if is_ci is None:
        # awslabs duvet treats an empty `CI` as true.
        is_ci = project.snapshot_path is not None and project.environ.get("CI", "false") not in ("false", "0")
    if is_ci or not request.require_citations == request.require_tests == ReportGate():
        from duvet.console.report_gates import list_gates

        gates = list_gates(project, request, is_ci=is_ci)
    if gates or is_ci:
        found = promote_setup_problems(found)
    option = "--fix" if project.is_like_upstream else "--interactive"
    hint = f"run `duvet validate` to see the nearest text, and `duvet validate {option}` to use it"
    problems = tuple(
        # A quote of an empty section has another hint.
        replace(one, hint=hint) if one.code == rules.QUOTE_NOT_FOUND.code and one.hint.startswith("copy") else one
        for one in sort_problems((*finished.trace.problems, *found))
    )
    if not project.is_like_upstream:
        problems = tuple(map(reword_problem, problems))
    problems = promote_warnings(problems) if request.strict else problems
    snapshot = None if has_errors(problems) else cache(partial(_render_snapshot, finished))
    results, failures = run_gates(gates, snapshot)
    problems = sort_problems((*problems, *failures))
    html = project.config.report.html if project.config else None
    html_paths = (request.html, html.path if html and html.enabled else None)
    files = list(_render_files(project, request, finished, problems, snapshot, results, html_paths, is_ci=is_ci))
    unwritten, changed = _write_files(project, files)
    problems = sort_problems((*problems, *unwritten))
    summary = summarize_run(finished, problems, results, counts=not project.is_like_upstream)
    return ReportResult(
        problems,
        summary,
        next((path for path in html_paths if path and not is_stream_output(path)), ""),
        project.is_like_upstream,
        () if unwritten else tuple(path for path, _ in files if not is_stream_output(path)),
        changed,
    )


def check_counts(progress: Progress, censuses: Iterable[tuple[Specification, Census]]) -> Iterator[Problem]:
    for specification, census in censuses:
        path = specification.path
        if progress.wants_notes:
            progress.note(path, census.description)
            for reason in census.reasons:
                progress.note(path, f"not counted: {reason.description}")
        ##= man/spec/trace.md#requirements
        ##% With duvet's own schema, `duvet report` MUST warn about a sentence with a keyword if duvet neither
        ##% extracts the sentence nor has a documented reason to skip it.
        for line in census.lost:
            message = (
                "this sentence has a keyword, but duvet neither extracted it nor has a documented reason to skip it"
            )
            hint = "this is a bug in duvet; please report it and include the sentence"
            yield rules.SENTENCE_LOST.problem(message, path, Place(line), hint=hint)


def _update_requirement_files(project: Project, *, prune: bool) -> list[Problem]:
    extracted, config = project.extraction, project.config
    if config is None or not config.extended:
        return write_requirements(project, extracted, prune=prune)
    ##= man/spec/trace.md#requirement-files
    ##% With duvet's own schema, `duvet report` MUST write requirement files only if `report.requirements.enabled` is
    ##% set.
    if config.writes_requirements:
        _write_requirement_files(project, extracted)
    unneeded = extraction.list_unneeded_files(extracted, project.library, writes=config.writes_requirements)
    removed = 0
    for path in unneeded:
        # A file that can't be removed does no harm, because duvet does not read it.
        with suppress(OutputError):
            _remove_requirement_file(project, path)
            removed += 1
    if removed:
        print_remark(f"removed {format_count(removed, 'requirement file')} that duvet wrote and no longer needs")
        for folder in {path.rpartition("/")[0] for path in unneeded}:
            # Remove the folder and those around it, if they are empty.
            with suppress(OSError):
                while extracted.all_below and f"{folder}/".startswith(f"{extracted.all_below}/"):
                    os.rmdir(project.disk.at(folder))
                    folder = folder.rpartition("/")[0]
    return [] if config.writes_requirements else list(extraction.find_ignored_files(extracted, project.tree))


def write_requirements(project: Project, extracted: extraction.Extraction, *, prune: bool) -> list[Problem]:
    _write_requirement_files(project, extracted)
    stale = extraction.list_unneeded_files(extracted, project.library, writes=True)
    if not prune:
        return list(stale.values())
    ##= man/spec/trace.md#requirement-files
    ##% With `--prune`, duvet MUST remove the requirement files that are no longer needed, but no file that a person
    ##% wrote or edited.
    for path in stale:
        _remove_requirement_file(project, path)
    return []


def _write_requirement_files(project: Project, extracted: extraction.Extraction) -> None:
    memory = project.memory
    with store_together() as write:
        changed = [path for path, data in extracted.files.items() if not memory.has_content(path, data)]
        for path in changed:
            store_changed(project.disk.at(path), extracted.files[path], write)
    for path in changed:
        memory.note_written(path, extracted.files[path])


def _remove_requirement_file(project: Project, path: str) -> None:
    try:
        os.unlink(project.disk.at(path))
    except OSError as error:
        raise OutputError(f"can't remove this file: {describe_os_error(error)}", path=path) from error
    project.memory.note_removed(path)
    project.progress.end(f"Removed {show_path(path)}")


SnapshotRenderer = Callable[[], bytes]


def _render_snapshot(finished: Finished) -> bytes:
    from duvet.reports.snapshot import render_snapshot

    return render_bytes(partial(render_snapshot, finished))


class Gate(Struct, frozen=True):
    name: str
    success: str  # A statement that is true if the gate finds no problems.
    check: Callable[[SnapshotRenderer], list[Problem]]


def run_gates(gates: Iterable[Gate], snapshot: SnapshotRenderer | None) -> tuple[tuple[GateResult, ...], list[Problem]]:
    """After errors, `snapshot` is None, and no gate is checked."""
    results: list[GateResult] = []
    problems: list[Problem] = []
    for gate in gates:
        found = None if snapshot is None else gate.check(snapshot)
        results.append(GateResult(gate.name, gate.success, None if found is None else len(found)))
        # A requirement that two gates reject is listed once.
        listed = {(problem.code, problem.path, problem.place.line) for problem in problems}
        problems += [one for one in found or () if not one.path or (one.code, one.path, one.place.line) not in listed]
    return tuple(results), problems


def _render_files(
    project: Project,
    request: ReportRequest,
    finished: Finished,
    problems: tuple[Problem, ...],
    snapshot: SnapshotRenderer | None,
    gates: tuple[GateResult, ...],
    html_paths: tuple[str | None, ...],
    *,
    is_ci: bool,
) -> ReportFiles:
    def render_page(out: BinaryIO) -> None:
        from duvet.console.report_data import make_report_data
        from duvet.reports.html.render import render_html

        render_html(make_report_data(project, finished, problems, snapshot, gates), out)

    def render_json(out: BinaryIO) -> None:
        from duvet.reports.json_v1 import render_json_v1

        render_json_v1(finished, out)

    def render_json_v2(out: BinaryIO) -> None:
        from duvet.reports.json_v2 import render_json_v2

        render_json_v2(finished, out)

    kinds = ("JSON", "JSON_V2", "HTML", "SNAPSHOT")
    internal = {kind: project.environ.get(f"DUVET_INTERNAL_CI_{kind}") or None for kind in kinds}
    json = project.config.report.json if project.config else None
    json_path = json.path if json and json.enabled else None
    copies: list[tuple[Callable[[BinaryIO], None], tuple[str | None, ...]]] = [
        (render_json, (request.json, json_path, internal["JSON"])),
        (render_json_v2, (request.json_v2, internal["JSON_V2"])),
        (render_page, (*html_paths, internal["HTML"])),
    ]
    ##= man/spec/trace.md#reports
    ##% If there are errors other than failures of gates, `duvet report` MUST write the HTML report with every
    ##% problem, but no JSON, LCOV or snapshot.
    for render, paths in copies[-1:] if snapshot is None else copies:
        make = cache(partial(render_bytes, render))
        yield from ((path, make) for path in dict.fromkeys(paths) if path is not None)
    if snapshot is None:
        return
    if request.lcov is not None:
        from duvet.reports.lcov import render_lcov

        citations, tests = (gate.everything is not False for gate in (request.require_citations, request.require_tests))
        for name, data in render_lcov(finished, citations, tests):
            yield os.path.join(request.lcov, name), partial(bytes, data)
    snapshot_path = project.snapshot_path
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci`, or if the environment variable `CI` is set to a value other than `false` and `0`, `duvet
    ##% report` MUST compare the current coverage with the configured snapshot instead of overwriting the
    ##% snapshot.
    if snapshot_path is None or not is_ci:
        paths = (snapshot_path, internal["SNAPSHOT"])
        yield from ((path, snapshot) for path in paths if path is not None)


def _write_files(project: Project, files: ReportFiles) -> tuple[list[Problem], str]:
    memory, progress = project.memory, project.progress
    replaced: set[object] = set()
    changed = ""
    try:
        with write_outputs() as write:
            for path, render in files:
                progress.begin(f"Writing {show_path(path)}")
                data = render()
                is_stream = is_stream_output(path)
                with suppress(DuvetError):
                    changed = path if path == project.snapshot_path and project.disk.read(path) != data else changed
                # If two paths lead to one file, the file has the content that was written last.
                if not is_stream and _identify_file(path) not in replaced and memory.has_content(path, data):
                    progress.end(f"Kept {show_path(path)} (unchanged)")
                else:
                    write(path, data)
                    replaced.add(_identify_file(path))
                    progress.end(f"Wrote {show_path(path)}")
                if is_stream:
                    memory.forgo()
                else:
                    memory.note_written(path, data)
    except OutputError as error:
        return [rules.FILE_UNWRITABLE.problem(error.message, error.path, hint=error.hint)], ""
    return [], changed


def _identify_file(path: str) -> object:
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return None
    return info.st_dev, info.st_ino
