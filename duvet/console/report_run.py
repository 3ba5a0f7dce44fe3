"""A report run: trace, gates, files, or the stored result if nothing has changed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.config.project_file import require_config
from duvet.console.options import make_options_key, open_cache, open_project
from duvet.console.page_rules import PageRules, load_page_rules
from duvet.console.problems import ProblemOutput, list_error_problems, output_failure, output_problems, print_problems
from duvet.console.progress import ProgressLines
from duvet.console.settings import TerminalSettings, current_settings
from duvet.console.streams import FAILED, OK, is_stream_output, print_notice, render_bytes, write_outputs
from duvet.errors import DuvetError, NotFoundError, OutputError, UnreadableError, describe_os_error
from duvet.model import Problem, Severity
from duvet.project.project import Project
from duvet.reports import snapshot as snapshot_report
from duvet.reports import summary
from duvet.reports.cells import escape_cell
from duvet.sources.scan import make_unreadable_problem
from duvet.specs.extraction import (
    Extraction,
    find_orphaned_files,
    find_stale_files,
    make_orphaned_problem,
    make_stale_problem,
)
from duvet.text_diff import colour_diff_line, make_unified_diff
from duvet.trace.gates import check_gates, find_freed_annotations, find_unimplemented, find_untested
from duvet.trace.records import Finished, Requirement
from duvet.tree.cache import Cache, DiskCache
from duvet.tree.outputs import store_changed, store_together
from duvet.tree.recorder import FileChangedError, FileContent


class ReportOutcome(Struct, frozen=True):
    """What is wrong, the summary, and the file that holds the page; nothing where there is none."""

    problems: tuple[Problem, ...]
    summary: str
    page: str = ""


def has_errors(problems: tuple[Problem, ...]) -> bool:
    """Whether any problem is an error."""
    return any(problem.severity is Severity.ERROR for problem in problems)


def promote_warnings(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems with every warning taken as an error."""
    return tuple(replace(one, severity=Severity.ERROR) for one in problems)


def print_outcome(outcome: ReportOutcome, answer: ProblemOutput) -> int:
    """Print it; the exit code."""
    written = output_problems(outcome.problems, answer)
    ##= man/spec/trace.md#reports
    ##% `duvet report` and `duvet validate` MUST end with a summary on standard error, unless only errors are requested.
    if not current_settings().quiet:
        print_notice(outcome.summary)
    return OK if _shown(outcome, answer) and written and not has_errors(outcome.problems) else FAILED


def _shown(outcome: ReportOutcome, answer: ProblemOutput) -> bool:
    """Whether the page is open, if that is wanted; what could not be written has been said to be so."""
    if not answer.opens:
        return True
    if any(problem.code == rules.FILE_UNWRITABLE.code for problem in outcome.problems):
        return False
    ##= man/spec/page.md#working-with-the-report
    ##% `duvet report --open` MUST open the finished report in the browser, once even with `--watch`, or fail when no
    ##% report is written.
    return open_page(outcome.page)


def is_cacheable(problems: Iterable[Problem]) -> bool:
    """Whether the same run would come to the same; the disk may answer otherwise."""
    passing = (rules.FILE_UNWRITABLE, rules.SNAPSHOT_DIFFERS)
    return {rule.code for rule in passing}.isdisjoint(problem.code for problem in problems)


class ReportGate(Struct, frozen=True):
    """What a gate asks something of."""

    everything: bool = True
    """With `--ci` and without a snapshot: all there is."""
    targets: tuple[str, ...] = ()
    """Always: these specifications and sections."""


class ReportOptions(Struct, frozen=True):
    """Reports to write, gates to hold, and where the web is."""

    json: str | None = None
    json_v2: str | None = None
    html: str | None = None
    lcov: str | None = None
    require_citations: ReportGate = ReportGate()
    require_tests: ReportGate = ReportGate()
    ci: bool | None = None
    blob_link: str | None = None
    issue_link: str | None = None
    strict: bool = False
    prune: bool = False


ReportFiles = Iterator[tuple[str, Callable[[], bytes]]]
"""Names, and what makes the bytes when their turn has come."""
_Render = Callable[[Finished, BinaryIO], None]


def make_report_files(
    project: Project,
    wishes: ReportOptions,
    finished: Finished,
    problems: tuple[Problem, ...],
    snapshot: bytes,
    *,
    keeps_snapshot: bool,
) -> ReportFiles:
    """Every report that is wished for or configured; the snapshot is not kept where it was checked instead."""
    config = project.config
    configured = config.report.json.path if config and config.report.json.enabled else None
    yield from _copies((wishes.json, configured, _internal(project, "JSON")), _json_v1, finished)
    yield from _copies((wishes.json_v2, _internal(project, "JSON_V2")), _json_v2, finished)
    yield from make_html_files(project, wishes, finished, problems, snapshot)
    if wishes.lcov is not None:
        yield from _coverage_files(wishes.lcov, wishes, finished)
    if keeps_snapshot:
        yield from _snapshots(project, snapshot)


# A format is imported where it is wanted.
def _json_v1(finished: Finished, out: BinaryIO) -> None:
    from duvet.reports import json_v1

    json_v1.render_json_v1(finished, out)


def _json_v2(finished: Finished, out: BinaryIO) -> None:
    from duvet.reports import json_v2

    json_v2.render_json_v2(finished, out)


def _coverage_files(folder: str, wishes: ReportOptions, finished: Finished) -> ReportFiles:
    from duvet.reports import lcov

    for name, data in lcov.render_lcov(finished, wishes.require_citations.everything, wishes.require_tests.everything):
        yield os.path.join(folder, name), partial(bytes, data)


def make_html_files(
    project: Project, wishes: ReportOptions, finished: Finished, problems: tuple[Problem, ...], snapshot: bytes | None
) -> ReportFiles:
    """The page, which is written also when something is wrong; then there is no snapshot."""
    wanted = (*_page_paths(project, wishes), _internal(project, "HTML"))
    if any(path is not None for path in wanted):
        yield from _copies(wanted, partial(_page, project, problems, snapshot), finished)


def _page_paths(project: Project, wishes: ReportOptions) -> tuple[str | None, str | None]:
    config = project.config
    return wishes.html, config.report.html.path if config and config.report.html.enabled else None


def find_report_path(project: Project, wishes: ReportOptions) -> str:
    """The file that holds the page after the run; nothing where there is none."""
    return next((path for path in _page_paths(project, wishes) if path is not None and not is_stream_output(path)), "")


def _page(
    project: Project, problems: tuple[Problem, ...], snapshot: bytes | None, finished: Finished, out: BinaryIO
) -> None:
    from duvet.console.report_content import make_report_data
    from duvet.reports.html import render

    render.render_html(make_report_data(project, finished, problems, snapshot), out)


def _copies(paths: tuple[str | None, ...], render: _Render, finished: Finished) -> ReportFiles:
    """One rendering under each of the names that are given."""
    make = cache(partial(render_bytes, partial(render, finished)))
    yield from ((path, make) for path in dict.fromkeys(paths) if path is not None)


def _internal(project: Project, kind: str) -> str | None:
    """Where awslabs duvet's own tests want a further copy."""
    return project.environ.get(f"DUVET_INTERNAL_CI_{kind}") or None


def find_snapshot_path(project: Project) -> str | None:
    """Where the snapshot is kept, if the configuration wants one."""
    config = project.config
    return config.report.snapshot.path if config and config.report.snapshot.enabled else None


def _snapshots(project: Project, snapshot: bytes) -> ReportFiles:
    for path in (find_snapshot_path(project), _internal(project, "SNAPSHOT")):
        if path is not None:
            yield path, partial(bytes, snapshot)


_CONTEXT = 4


def is_snapshot_checked(project: Project, wishes: ReportOptions) -> bool:
    """Whether the snapshot is compared instead of written."""
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci`, or when the environment variable `CI` is true, `duvet report` MUST compare a configured snapshot
    ##% instead of writing it.
    return _is_ci(project, wishes) and find_snapshot_path(project) is not None


def _is_ci(project: Project, wishes: ReportOptions) -> bool:
    """Asked for, or with a snapshot to check in an environment that says so; an empty `CI` says so too."""
    if wishes.ci is not None:
        return wishes.ci
    return find_snapshot_path(project) is not None and project.environ.get("CI", "false") not in ("false", "0")


def find_gate_problems(
    project: Project, wishes: ReportOptions, snapshot: bytes, shown: TerminalSettings
) -> list[Problem]:
    """What keeps the gates shut."""
    found = _ci_problems(project, wishes, snapshot, shown)
    if wishes.require_citations.targets or wishes.require_tests.targets:
        # Whoever is named line by line is named.
        named = {_spot(problem) for problem in found}
        ##= man/spec/gates.md#gates-for-targets
        ##% With a target, even without `--ci`, `--require-citations` MUST list each of its requirements that is not
        ##% fully implemented, and `--require-tests` each one that is neither done nor fully tested.
        found += [problem for problem in find_target_problems(project, wishes) if _spot(problem) not in named]
    return found


def _spot(problem: Problem) -> tuple[str, str, int]:
    return problem.code, problem.path, problem.place.line


def _ci_problems(project: Project, wishes: ReportOptions, snapshot: bytes, shown: TerminalSettings) -> list[Problem]:
    if not _is_ci(project, wishes):
        return []
    path = find_snapshot_path(project)
    if path is None:
        citations, tests = wishes.require_citations.everything, wishes.require_tests.everything
        ##= man/spec/gates.md#not-applicable
        ##% duvet MUST NOT require code or tests for a requirement that is not applicable.
        freed = find_freed_annotations(project.requirements) if project.not_applicable else frozenset()
        return list(check_gates(project.trace, citations=citations, tests=tests, freed=freed))
    project.progress.begin(f"Checking {path}")
    found = _compare(project, path, snapshot, shown)
    if not found:
        project.progress.end(f"Checked {path}")
    return found


def _compare(project: Project, path: str, snapshot: bytes, shown: TerminalSettings) -> list[Problem]:
    try:
        committed = project.tree.read(path)
    except DuvetError as error:
        message = "Could not read report snapshot. This is required to enforce CI checks."
        hint = f"{error.message}; run `duvet report` and commit {path}"
        return [rules.SNAPSHOT_MISSING.problem(message, path, hint=hint)]
    if committed == snapshot:
        return []
    print_notice(
        f"\nDifferences detected in {escape_cell(path)}:\n\n{_difference(committed, snapshot, shown.colour)}\n"
    )
    message = "Report snapshot does not match with CI mode enabled."
    hint = f"if the change is meant, run `duvet report` and commit {path}"
    return [rules.SNAPSHOT_DIFFERS.problem(message, path, hint=hint)]


def _difference(old: bytes, new: bytes, colour: bool) -> str:
    one, other = (data.decode(errors="replace").splitlines() for data in (old, new))
    lines = [escape_cell(line) for line in make_unified_diff(one, other, _CONTEXT)]
    if not lines:
        lines = ["(only the line ends differ)"]
    return "\n".join(colour_diff_line(line) if colour else line for line in lines)


def write_requirements(project: Project, extraction: Extraction, *, prune: bool) -> list[Problem]:
    """Write the files whose bytes differ; a warning for each stale one, unless it is to be removed."""
    memory = project.memory
    with store_together() as write:
        doubtful = [path for path, data in extraction.files.items() if not memory.has_content(path, data)]
        for path in doubtful:
            store_changed(project.disk.at(path), extraction.files[path], write)
    for path in doubtful:
        memory.note_written(path, extraction.files[path])
    stale = {path: make_stale_problem(path) for path in find_stale_files(extraction, project.tree)}
    stale |= {
        path: make_orphaned_problem(path, name) for path, name in find_orphaned_files(extraction, project.library)
    }
    if not prune:
        return list(stale.values())
    ##= man/spec/trace.md#requirements
    ##% duvet SHOULD warn about requirement files that are no longer needed, and MUST remove these and no others with
    ##% `--prune`.
    for path in stale:
        _remove(project, path)
    return []


def _remove(project: Project, path: str) -> None:
    try:
        os.unlink(project.disk.at(path))
    except OSError as error:
        raise OutputError(f"can't remove this file: {describe_os_error(error)}", path=path) from error
    project.memory.note_removed(path)
    project.progress.end(f"Removed {path}")


Problems = tuple[Problem, ...]


def run_report(project: Project, wishes: ReportOptions) -> ReportOutcome:
    """Make every report; what is wrong, and the summary."""
    written = _write_requirements(project, wishes)
    finished = project.finished(wishes.blob_link, wishes.issue_link)
    problems = _judged((*finished.trace.problems, *written, *_without_configuration(project)), wishes)
    if has_errors(problems):
        ##= man/spec/trace.md#reports
        ##% When an annotation is wrong, `duvet report` MUST write the HTML report with every problem, but no JSON, LCOV
        ##% or snapshot.
        # What is wrong can't be counted: only the page is written, because it shows why.
        files = make_html_files(project, wishes, finished, problems, None)
    else:
        snapshot = render_bytes(partial(snapshot_report.render_snapshot, finished))
        problems = _listed((*problems, *find_gate_problems(project, wishes, snapshot, current_settings())))
        keeps = not is_snapshot_checked(project, wishes)
        files = make_report_files(project, wishes, finished, problems, snapshot, keeps_snapshot=keeps)
    problems = _listed((*problems, *_write(project, files)))
    shown = render_bytes(partial(summary.render_summary, finished, problems)).decode()
    return ReportOutcome(problems, shown, find_report_path(project, wishes))


def _judged(problems: Iterable[Problem], wishes: ReportOptions) -> Problems:
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--strict`, `duvet report` and `duvet validate` MUST fail on warnings.
    found = _listed(problems)
    return promote_warnings(found) if wishes.strict else found


def _without_configuration(project: Project) -> list[Problem]:
    """A warning where nothing says what to report on: awslabs duvet finds nothing wrong then."""
    ##= man/spec/trace.md#configuration
    ##% duvet MUST read `.duvet/config.toml` unless another file is named, and `duvet report` SHOULD say where it
    ##% belongs when nothing is configured.
    if project.config or project.options.sources or project.options.requirements:
        return []
    try:
        require_config(project.tree)
    except UnreadableError as error:
        return [rules.CONFIG_ABSENT.problem(error.message, error.path, hint=error.hint)]
    return []


def _listed(problems: Iterable[Problem]) -> Problems:
    ##= man/spec/trace.md#diagnostics
    ##% Once it can read the configuration, duvet MUST report all problems of a run, sorted by path and place.
    return tuple(sorted(problems, key=lambda one: one.sort_key))


def _write_requirements(project: Project, wishes: ReportOptions) -> list[Problem]:
    try:
        return write_requirements(project, project.extraction, prune=wishes.prune)
    except OutputError as error:
        return [_unwritable(error)]
    except DuvetError as error:
        return [make_unreadable_problem(error)]


def _write(project: Project, files: ReportFiles) -> list[Problem]:
    """Write all files or none; what keeps them from being written."""
    memory, progress = project.memory, project.progress
    replaced: set[object] = set()
    try:
        with write_outputs() as write:
            for path, make in files:
                progress.begin(f"Writing {path}")
                data = make()
                # Two names may lead to one file, and what is written last stays.
                if not is_stream_output(path) and _identity(path) not in replaced and memory.has_content(path, data):
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


def _note(memory: Cache, path: str, data: bytes) -> None:
    ##= man/spec/cache.md#freshness
    ##% duvet MUST give the same answer with and without the cache.
    if is_stream_output(path):
        memory.forgo()
    else:
        memory.note_written(path, data)


def _unwritable(error: OutputError) -> Problem:
    return rules.FILE_UNWRITABLE.problem(error.message, error.path, hint=error.hint)


_NAME = "report"


def run_cached_report(where: Mapping[str, Any], wishes: ReportOptions, answer: ProblemOutput) -> int:
    """The exit code; where nothing has changed since a run with these options, its reports are there already."""
    try:
        cache = open_cache(current_settings(), {})
        if cache is None:
            return print_outcome(_run(None, where, wishes, load_page_rules(where)), answer)
        return run_report_with_cache(cache, where, wishes, answer)
    except DuvetError as error:
        return output_failure(error, answer)


def run_report_with_cache(
    cache: DiskCache, where: Mapping[str, Any], wishes: ReportOptions, answer: ProblemOutput
) -> int:
    """The same with what is in this cache, which then holds what is new."""
    notes = load_page_rules(where)
    how = make_report_key(where, wishes, notes)
    # Those who ask for every file that holds annotations want to see them read.
    known = None if current_settings().verbose else _recalled(cache, how)
    if known is not None:
        return print_outcome(known, answer)
    outcome, cache = _run_of_one_moment(cache, where, wishes, notes)
    code = print_outcome(outcome, answer)
    # Nobody waits for this.
    save_outcome(cache, how, outcome)
    return code


def make_report_key(where: Mapping[str, Any], wishes: ReportOptions, notes: PageRules | None) -> str:
    """All that a report depends on beside the project."""
    return make_options_key(where, wishes) if notes is None else make_options_key(where, wishes, notes)


def save_outcome(cache: DiskCache, how: str, outcome: ReportOutcome) -> None:
    """Leave for later runs what this one has come to."""
    if is_cacheable(outcome.problems):
        cache.store(_NAME, how, outcome)
    cache.save()


def _recalled(cache: DiskCache, how: str) -> ReportOutcome | None:
    ##= man/spec/cache.md#freshness
    ##% When nothing has changed since the last run with the same options, `duvet report` MUST leave its report files
    ##% alone, and `duvet validate` MUST NOT read the sources again.
    progress, started = ProgressLines(current_settings()), time.perf_counter()
    known = cache.recall(_NAME, ReportOutcome, how)
    if known is not None:
        progress.begin("Checking inputs and reports")
        progress.started = started
        progress.end("Checked that nothing has changed since the last run")
    return known


def _run_of_one_moment(
    cache: DiskCache, where: Mapping[str, Any], wishes: ReportOptions, notes: PageRules | None
) -> tuple[ReportOutcome, DiskCache]:
    """What comes of it, where no file is read as two different ones; and the cache that knows of it."""
    pinned: dict[str, FileContent] = {}
    while True:
        try:
            return _run(cache, where, wishes, notes), cache
        except FileChangedError as error:
            # What is there now is what this run is about: each file changes once at most, however often it is written.
            pinned[error.path] = error.look
            cache = open_cache(current_settings(), pinned) or cache


def _run(
    cache: DiskCache | None, where: Mapping[str, Any], wishes: ReportOptions, notes: PageRules | None
) -> ReportOutcome:
    return run_report(open_project(cache, notes=notes, **where), wishes)


def open_page(path: str) -> bool:
    """Show a file that has been written; whether that has worked, and otherwise why not is said."""
    try:
        _open(path)
    except DuvetError as error:
        print_problems(list_error_problems(error))
        return False
    return True


def _open(path: str) -> None:
    if not path:
        hint = "name a file with `--html FILE`, or set `enabled = true` in `[report.html]` of the configuration"
        raise DuvetError("there is no page to open", hint=hint)
    if not _is_shown(Path(path).resolve().as_uri()):
        hint = "open the file yourself, or name a browser in the environment variable BROWSER"
        raise DuvetError("no browser was found", path=path, hint=hint)


def _is_shown(url: str) -> bool:
    import webbrowser

    try:
        return webbrowser.open(url)
    except ValueError:
        # BROWSER is no command, such as one with a quote that does not end.
        return False


def find_target_problems(project: Project, wishes: ReportOptions) -> Iterator[Problem]:
    """Every offender, and targets that lead nowhere."""
    problems: list[Problem] = []
    yield from find_unimplemented(_members(project, wishes.require_citations, "--require-citations", problems))
    testing = _members(project, wishes.require_tests, "--require-tests", problems)
    yield from find_untested(testing, project.trace.coverages)
    yield from problems


def _members(project: Project, gate: ReportGate, option: str, problems: list[Problem]) -> list[Requirement]:
    """The requirements that the targets of a gate mean, each once and in order."""
    found: set[int] = set()
    for target in gate.targets:
        try:
            found.update(project.scopes.of(target))
        except NotFoundError as error:
            ##= man/spec/gates.md#gates-for-targets
            ##% duvet MUST refuse an unknown target, and SHOULD suggest similar names.
            message = f"{error.message}, which {option} names"
            problems.append(rules.GATE_UNKNOWN_TARGET.problem(message, hint=error.hint))
    return [project.requirements[index] for index in sorted(found)]
