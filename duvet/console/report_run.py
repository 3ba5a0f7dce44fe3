"""A report run: the trace, the gates, the comparison with the snapshot in CI, the contents of each report, the files."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol

from msgspec.structs import replace

from duvet import rules
from duvet.config.settings import PageRule
from duvet.console.command import current_settings
from duvet.console.discovery import show_path
from duvet.console.problems import has_errors, promote_setup_problems, promote_warnings, reword_problem
from duvet.console.progress import QuietProgress
from duvet.console.project import require_contents
from duvet.console.report_result import ReportGate, ReportRequest, ReportResult
from duvet.console.streams import is_stream_output, print_notice, print_remark, render_bytes, write_outputs
from duvet.errors import DuvetError, NotFoundError, OutputError, UnreadableError, describe_os_error
from duvet.model import Kind, Place, Problem, Severity, Specification
from duvet.project.project import Project
from duvet.project.validation import find_missing_reasons, find_setup_problems
from duvet.queries.citations import list_comment_styles, read_code_below
from duvet.queries.gaps import RequirementFilter
from duvet.queries.priority import make_priority_rows, prioritize_requirements
from duvet.queries.revisions import SnapshotDiff, compare_snapshots
from duvet.reports.cells import escape_cell
from duvet.reports.html.anchors import ReportData
from duvet.reports.snapshot import render_snapshot
from duvet.reports.summary import summarize_run
from duvet.sources.scan import make_unreadable_problem
from duvet.specs import extraction
from duvet.text import colour_diff_line, format_count, make_unified_diff
from duvet.trace.catalogue import Catalogue
from duvet.trace.coverage import GateResult
from duvet.trace.gates import (
    check_gates,
    find_freed_annotations,
    find_unimplemented,
    find_untested,
    has_implementation,
    word_like_upstream,
)
from duvet.trace.records import AnnotationPlaces, Finished, Requirement
from duvet.tree.files import FolderMembership
from duvet.tree.git import GitCommand, GitRepository
from duvet.tree.outputs import store_changed, store_together
from duvet.tree.recorder import FileChangedError, RecordedTree
from duvet.version import VERSION

if TYPE_CHECKING:
    from duvet.knowledge.pages.catalogue import PageCollection
    from duvet.progress import Progress
    from duvet.specs.census import Census

_SLOW_STEP = 1.0  # Seconds after which a terminal shows a step.

ReportFiles = Iterable[tuple[str, Callable[[], bytes]]]  # The path of each file, and the function that renders it.


def run_report(project: Project, request: ReportRequest) -> ReportResult:
    """Trace the project, apply the gates and write the files."""
    found: list[Problem] = []
    ##= man/spec/trace.md#reports
    ##% Except with the schema of awslabs duvet, `duvet report` MUST print progress only with `--verbose`, or on a
    ##% terminal if the run is slow.
    try:
        project.progress.counts_like_upstream = project.is_like_upstream
        if not project.is_like_upstream and not current_settings().verbose:
            slow = _SLOW_STEP if sys.stderr.isatty() else math.inf
            project.progress = QuietProgress(current_settings(), slow)
        found += _update_requirement_files(project, prune=request.prune)
    except OutputError as error:
        found.append(_make_unwritable_problem(error))
    except DuvetError as error:
        found.append(make_unreadable_problem(error))
    try:
        require_contents(project)
    except UnreadableError as error:
        ##= man/spec/trace.md#configuration
        ##% Without a configuration, `duvet report` SHOULD warn and name the path where it expects one.
        # Without a gate this is a warning, because awslabs duvet accepts it.
        found.append(rules.CONFIG_ABSENT.problem(error.message, error.path, hint=error.hint))
    finished = project.finished(request.blob_link, request.issue_link)
    found += find_setup_problems(project)
    if project.config and project.config.extended:
        found += _find_reasonless_exceptions(project)
        found += check_counts(project)
    gates = list_gates(project, request)
    if gates or _is_ci(project, request):
        found = promote_setup_problems(found)
    problems = _sort_problems((*finished.trace.problems, *found))
    problems = tuple(_offer_fix(problem, project.is_like_upstream) for problem in problems)
    if not project.is_like_upstream:
        problems = tuple(map(reword_problem, problems))
    if request.strict:
        problems = promote_warnings(problems)
    snapshot = None
    if not has_errors(problems):
        snapshot = render_bytes(partial(render_snapshot, finished))
    results, failures = run_gates(gates, snapshot)
    problems = _sort_problems((*problems, *failures))
    files = list(_render_files(project, request, finished, problems, snapshot, results))
    changed = _find_changed_snapshot(project, files)
    unwritten = _write_files(project, files)
    problems = _sort_problems((*problems, *unwritten))
    summary = summarize_run(finished, problems, results, counts=not project.is_like_upstream)
    html_paths = (path for path in _find_html_paths(project, request) if path and not is_stream_output(path))
    return ReportResult(
        problems,
        summary,
        next(html_paths, ""),
        project.is_like_upstream,
        () if unwritten else tuple(path for path, _ in files if not is_stream_output(path)),
        "" if unwritten else changed,
    )


class CountedProject(Protocol):
    @property
    def progress(self) -> Progress: ...

    @property
    def censuses(self) -> Iterable[tuple[Specification, Census]]: ...


def check_counts(project: CountedProject) -> Iterator[Problem]:
    """Note why sentences with keywords are not counted, and report those for which there is no reason."""
    ##= man/spec/trace.md#count-check
    ##% For each specification, `duvet report --verbose` MUST list the reasons for not counting sentences, each with the
    ##% number of sentences and their first lines.
    for specification, census in project.censuses:
        path = specification.path
        if project.progress.wants_notes:
            project.progress.note(path, census.description)
            for reason in census.reasons:
                project.progress.note(path, f"not counted: {reason.description}")
        ##= man/spec/trace.md#count-check
        ##% `duvet report` MUST warn about each sentence with a keyword that it does not count without a reason.
        for line in census.lost:
            message = (
                "duvet lost this sentence: it has a keyword, but duvet neither made it a requirement nor knows why"
            )
            hint = "this is a bug in duvet; please report it with the sentence"
            yield rules.SENTENCE_LOST.problem(message, path, Place(line), hint=hint)


def _offer_fix(problem: Problem, is_like_upstream: bool) -> Problem:
    """Add the commands that show and use the nearest text to the hint of a problem with a quote."""
    # A quote of an empty section has another hint.
    if problem.code != rules.QUOTE_NOT_FOUND.code or not problem.hint.startswith("copy"):
        return problem
    option = "--fix" if is_like_upstream else "--interactive"
    hint = f"run `duvet validate` to see the nearest text, and `duvet validate {option}` to use it"
    return replace(problem, hint=hint)


def _find_changed_snapshot(project: Project, files: ReportFiles) -> str:
    """Return the path of the snapshot if the run replaces it with another one."""
    path = find_snapshot_path(project)
    for name, render in files:
        with suppress(DuvetError):
            if name == path and project.disk.read(name) != render():
                return name
    return ""


def _find_reasonless_exceptions(project: Project) -> Iterator[Problem]:
    places = AnnotationPlaces(project.tree)
    for finding in find_missing_reasons(project.trace, places):
        yield replace(finding.problem, severity=Severity.WARNING)


def _sort_problems(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    ##= man/spec/trace.md#diagnostics
    ##% If the configuration is valid, duvet MUST report all problems of a run, sorted by path and place.
    return tuple(sorted(problems, key=lambda problem: problem.sort_key))


def _update_requirement_files(project: Project, *, prune: bool) -> list[Problem]:
    """Write the requirement files that the configuration asks for, and remove those that nothing needs."""
    extracted, config = project.extraction, project.config
    if config is None or not config.extended:
        return write_requirements(project, extracted, prune=prune)
    ##= man/spec/trace.md#requirement-files
    ##% With duvet's own schema, `duvet report` MUST write requirement files only with `report.requirements.enabled`.
    ##% With duvet's own schema, `duvet report` MUST remove exactly the requirement files that duvet wrote and no longer
    ##% needs.
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
        print_remark(f"removed {format_count(removed, 'requirement file')} that duvet wrote and nothing needs")
        _remove_empty_folders(project, {path.rpartition("/")[0] for path in unneeded}, extracted.all_below)
    return [] if config.writes_requirements else list(extraction.find_ignored_files(extracted, project.tree))


def write_requirements(project: Project, extracted: extraction.Extraction, *, prune: bool) -> list[Problem]:
    """Write the requirement files that changed; remove stale ones with `prune`, or else return a warning for each."""
    _write_requirement_files(project, extracted)
    stale = extraction.list_unneeded_files(extracted, project.library, writes=True)
    if not prune:
        return list(stale.values())
    ##= man/spec/trace.md#requirements
    ##% duvet SHOULD warn about requirement files that are no longer needed. With `--prune`, duvet MUST remove exactly
    ##% these files.
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


def _remove_empty_folders(project: Project, folders: set[str], top: str) -> None:
    """Remove these folders, and those around them up to `top`, where they are empty now."""
    for folder in folders:
        at = folder
        with suppress(OSError):
            while top and f"{at}/".startswith(f"{top}/"):
                os.rmdir(project.disk.at(at))
                at = at.rpartition("/")[0]


class Gate(NamedTuple):
    """A gate that an option or the environment requests."""

    name: str
    success: str  # A statement that is true if the gate finds no problems.
    check: Callable[[bytes], list[Problem]]  # Called with the snapshot of the run.


def list_gates(project: Project, request: ReportRequest) -> list[Gate]:
    """Return the gates of a run: those of `--ci`, and those that `true` and targets request."""
    gates = [*_list_ci_gates(project, request)] if _is_ci(project, request) else []
    ##= man/spec/gates.md#gates-for-targets
    ##% `--require-citations TARGET` MUST list each requirement of the target that is not fully implemented, even
    ##% without `--ci`.
    ##= man/spec/gates.md#gates-for-targets
    ##% `--require-tests TARGET` MUST list each requirement of the target that is neither done nor fully tested, even
    ##% without `--ci`.
    for gate, option, noun, state, find in (
        (request.require_citations, "--require-citations", "citations", "implemented", find_unimplemented),
        (request.require_tests, "--require-tests", "tests", "tested", find_untested),
    ):
        ##= man/spec/gates.md#gates-for-targets
        ##% Except with awslabs duvet's schema, `--require-citations true` and `--require-tests true` MUST have the same
        ##% effect as naming every specification.
        if gate.everything and not project.is_like_upstream:
            check = partial(_check_targets, project, gate, option, find)
            gates.append(Gate(noun, f"every requirement is {state}", check))
        elif gate.targets:
            names = ", ".join(gate.targets)
            check = partial(_check_targets, project, gate, option, find)
            gates.append(Gate(f"{noun} of {names}", f"every requirement of {names} is {state}", check))
    return gates


def run_gates(gates: Iterable[Gate], snapshot: bytes | None) -> tuple[tuple[GateResult, ...], list[Problem]]:
    """Return the result of each gate and the problems; if errors prevented the snapshot, no gate runs."""
    results: list[GateResult] = []
    problems: list[Problem] = []
    for gate in gates:
        found = None if snapshot is None else gate.check(snapshot)
        results.append(GateResult(gate.name, gate.success, None if found is None else len(found)))
        # A requirement that two gates reject is listed once.
        listed = {(problem.code, problem.path, problem.place.line) for problem in problems}
        problems += [one for one in found or () if not one.path or (one.code, one.path, one.place.line) not in listed]
    return tuple(results), problems


def _check_targets(
    project: Project,
    gate: ReportGate,
    option: str,
    find: Callable[[Iterable[Requirement]], Iterator[Problem]],
    snapshot: bytes,
) -> list[Problem]:
    selected, unknown = _select_targets(project, gate, option)
    ##= man/spec/gates.md#verdicts
    ##% Except with awslabs duvet's schema, a gate on tests MUST fail if no code cites a requirement. Except with
    ##% awslabs duvet's schema, a gate on a target MUST fail if the target has no requirements.
    if not (gate.everything or selected or unknown or project.is_like_upstream):
        names = " and ".join(gate.targets)
        message = f"{names} {'has' if len(gate.targets) == 1 else 'have'} no requirements, so {option} checks nothing"
        hint = "name a specification or a section with requirements, or remove the target"
        return [rules.GATE_UNKNOWN_TARGET.problem(message, hint=hint)]
    return [*find(project.requirements if gate.everything else selected), *unknown]


def _is_ci(project: Project, request: ReportRequest) -> bool:
    if request.ci is not None:
        return request.ci
    # awslabs duvet treats an empty `CI` as true.
    return find_snapshot_path(project) is not None and project.environ.get("CI", "false") not in ("false", "0")


def find_snapshot_path(project: Project) -> str | None:
    config = project.config
    return config.report.snapshot.path if config and config.report.snapshot.enabled else None


def _list_ci_gates(project: Project, request: ReportRequest) -> Iterator[Gate]:
    path = find_snapshot_path(project)
    if path is not None:
        yield Gate(f"snapshot {path}", f"snapshot {path} is up to date", partial(_check_snapshot, project, path))
        return
    citations, tests = (
        gate.everything is None or (gate.everything and project.is_like_upstream)
        for gate in (request.require_citations, request.require_tests)
    )
    nouns = [noun for noun, wanted in (("citations", citations), ("tests", tests)) if wanted]
    # awslabs duvet accepts a project without requirements. There is nothing to pass then.
    if nouns and (project.requirements or not project.is_like_upstream):
        success = "every requirement is cited" if citations else "every cited requirement is tested"
        success += " and tested" if citations and tests else ""
        yield Gate(" and ".join(nouns), success, partial(_check_lines, project, citations, tests))


def _check_lines(project: Project, citations: bool, tests: bool, snapshot: bytes) -> list[Problem]:
    ##= man/spec/gates.md#not-applicable
    ##% duvet MUST NOT require code or tests for a requirement that is not applicable.
    freed = find_freed_annotations(project.requirements) if project.not_applicable else frozenset()
    problems = check_gates(project.trace, citations=citations, tests=tests, freed=freed)
    ##= man/spec/gates.md#verdicts
    ##% Except with awslabs duvet's schema, a gate on tests MUST fail if no code cites a requirement. Except with
    ##% awslabs duvet's schema, a gate on a target MUST fail if the target has no requirements.
    if not (citations or has_implementation(project.trace) or project.is_like_upstream):
        path = project.config.path if project.config else ""
        hint = "cite requirements in the code that implements them, or leave out `--require-citations false`"
        return [rules.GATE_NOT_TESTED.problem("no code cites a requirement, so no test is required", path, hint=hint)]
    return _choose_words(project, problems)


def _choose_words(project: Project, problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems with awslabs duvet's messages if the project has its schema."""
    return [word_like_upstream(one) if project.is_like_upstream else one for one in problems]


def _check_snapshot(project: Project, path: str, snapshot: bytes) -> list[Problem]:
    project.progress.begin(f"Checking {show_path(path)}")
    try:
        committed = project.tree.read(path)
    except DuvetError as error:
        message = f"can't read the snapshot: {error.message}" if project.tree.exists(path) else "no snapshot yet"
        hint = f"run `duvet report` and commit {path}"
        return _choose_words(project, [rules.SNAPSHOT_MISSING.problem(message, path, hint=hint)])
    if committed != snapshot:
        old_lines, new_lines = (data.decode(errors="replace").splitlines() for data in (committed, snapshot))
        lines = [escape_cell(line) for line in make_unified_diff(old_lines, new_lines, context=4)]
        if not lines:
            lines = ["(only the line endings differ)"]
        diff = "\n".join(colour_diff_line(line) if current_settings().colour else line for line in lines)
        print_notice(f"\nDifferences detected in {escape_cell(show_path(path))}:\n\n{diff}\n")
        hint = f"if you intended the change, run `duvet report` and commit {path}"
        return _choose_words(project, [rules.SNAPSHOT_DIFFERS.problem("the snapshot is out of date", path, hint=hint)])
    project.progress.end(f"Checked {show_path(path)}")
    return []


def _select_targets(project: Project, gate: ReportGate, option: str) -> tuple[list[Requirement], list[Problem]]:
    """Return the requirements of all targets, each once and in order, and a problem for each unknown target."""
    found: set[int] = set()
    unknown = []
    for target in gate.targets:
        try:
            found.update(project.scopes.of(target))
        except NotFoundError as error:
            ##= man/spec/gates.md#gates-for-targets
            ##% duvet MUST refuse an unknown target of a gate, and SHOULD suggest similar names.
            message = f"{error.message}, which {option} names"
            unknown.append(rules.GATE_UNKNOWN_TARGET.problem(message, hint=error.hint))
    return [project.requirements[index] for index in sorted(found)], unknown


def _render_files(
    project: Project,
    request: ReportRequest,
    finished: Finished,
    problems: tuple[Problem, ...],
    snapshot: bytes | None,
    gates: tuple[GateResult, ...] = (),
) -> ReportFiles:
    """Yield every file that the options or the configuration name; after errors, only the HTML report."""

    def render_html(out: BinaryIO) -> None:
        from duvet.reports.html.render import render_html

        render_html(make_report_data(project, finished, problems, snapshot, gates), out)

    html_paths = (*_find_html_paths(project, request), _find_internal_path(project, "HTML"))
    if snapshot is None:
        ##= man/spec/trace.md#reports
        ##% If an annotation is invalid, `duvet report` MUST write the HTML report with every problem, but no JSON, LCOV
        ##% or snapshot.
        yield from _render_copies(render_html, *html_paths)
        return

    def render_json(out: BinaryIO) -> None:
        from duvet.reports.json_v1 import render_json_v1

        render_json_v1(finished, out)

    def render_json_v2(out: BinaryIO) -> None:
        from duvet.reports.json_v2 import render_json_v2

        render_json_v2(finished, out)

    config = project.config
    json_path = config.report.json.path if config and config.report.json.enabled else None
    yield from _render_copies(render_json, request.json, json_path, _find_internal_path(project, "JSON"))
    yield from _render_copies(render_json_v2, request.json_v2, _find_internal_path(project, "JSON_V2"))
    yield from _render_copies(render_html, *html_paths)
    if request.lcov is not None:
        from duvet.reports.lcov import render_lcov

        citations, tests = (gate.everything is not False for gate in (request.require_citations, request.require_tests))
        for name, data in render_lcov(finished, citations, tests):
            yield os.path.join(request.lcov, name), partial(bytes, data)
    snapshot_path = find_snapshot_path(project)
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci`, or if the environment variable `CI` is true, `duvet report` MUST compare the configured snapshot
    ##% with the current one instead of overwriting it.
    if snapshot_path is None or not _is_ci(project, request):
        for path in (snapshot_path, _find_internal_path(project, "SNAPSHOT")):
            if path is not None:
                yield path, partial(bytes, snapshot)


def _render_copies(render: Callable[[BinaryIO], None], *paths: str | None) -> ReportFiles:
    """Render the content once, and yield it for each path."""
    make = cache(partial(render_bytes, render))
    yield from ((path, make) for path in dict.fromkeys(paths) if path is not None)


def _find_html_paths(project: Project, request: ReportRequest) -> tuple[str | None, str | None]:
    config = project.config
    return request.html, config.report.html.path if config and config.report.html.enabled else None


def _find_internal_path(project: Project, kind: str) -> str | None:
    return project.environ.get(f"DUVET_INTERNAL_CI_{kind}") or None


def _write_files(project: Project, files: ReportFiles) -> list[Problem]:
    """Write all files or none; return the problem that prevents it."""
    memory, progress = project.memory, project.progress
    replaced: set[object] = set()
    try:
        with write_outputs() as write:
            for path, render in files:
                progress.begin(f"Writing {show_path(path)}")
                data = render()
                is_stream = is_stream_output(path)
                # If two paths lead to one file, the file has the content that was written last.
                if not is_stream and _identify_file(path) not in replaced and memory.has_content(path, data):
                    progress.end(f"Kept {show_path(path)} (unchanged)")
                else:
                    write(path, data)
                    replaced.add(_identify_file(path))
                    progress.end(f"Wrote {show_path(path)}")
                ##= man/spec/cache.md#freshness
                ##% duvet MUST give the same answer with and without the cache.
                if is_stream:
                    memory.forgo()
                else:
                    memory.note_written(path, data)
    except OutputError as error:
        return [_make_unwritable_problem(error)]
    return []


def _identify_file(path: str) -> object:
    """Return the same value for all paths of a file; None if it does not exist."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return None
    return info.st_dev, info.st_ino


def _make_unwritable_problem(error: OutputError) -> Problem:
    return rules.FILE_UNWRITABLE.problem(error.message, error.path, hint=error.hint)


def make_report_data(
    project: Project,
    finished: Finished,
    problems: tuple[Problem, ...],
    snapshot: bytes | None,
    gates: tuple[GateResult, ...] = (),
) -> ReportData:
    """Collect the data of the HTML report; after errors it contains no snapshot, JSON or changes."""
    config, catalogue = project.config, project.catalogue
    rule = config.page if config else PageRule()
    commit = _find_commit(project)
    ##= man/spec/page.md#overview
    ##% The overview MUST list the first ten requirements of `duvet prioritize`, with the reason for each rank.
    urgent = make_priority_rows(catalogue, prioritize_requirements(catalogue, RequirementFilter()), 10)
    ##= man/spec/page.md#working-with-the-report
    ##% With `embed-json`, the HTML report MUST contain the JSON report, unless an annotation is invalid.
    embedded = None
    if rule.embeds_json and snapshot is not None:
        from duvet.reports.json_v1 import render_json_v1

        embedded = render_bytes(partial(render_json_v1, finished))
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST show the code below each citation, as far as the next annotation and at most `snippet-lines`
    ##% lines.
    citations = enumerate(one for one in finished.trace.annotations if one.kind is not Kind.SPEC)
    comments = ((index, one.path, one.source.text) for index, one in citations if not one.from_file)
    snippets = read_code_below(comments, _make_reader(project), rule.snippet_lines)
    pages = _load_pages(project, catalogue)
    ##= man/spec/page.md#working-with-the-report
    ##% The same inputs MUST produce the same report, whatever the folder, the locale, the time zone and the time.
    # So the data contains neither the date nor the path of the project.
    ##= man/spec/page.md#overview
    ##% The report MUST have the configured title and logo. Without a configured title, the report MUST have the name of
    ##% the repository to which it links as its title, or else the names of its specifications.
    return ReportData(
        finished=finished,
        catalogue=catalogue,
        problems=problems,
        gates=gates,
        title=rule.title,
        logo=rule.logo,
        whole_text=rule.whole_text,
        snippets=snippets,
        version=VERSION,
        commit=commit,
        config_path=config.path if config else "",
        next=tuple(urgent),
        since=None if snapshot is None else _compare_with_commit(project, commit, snapshot),
        comments=list_comment_styles((*(config.sources if config else ()), *project.options.sources)),
        embedded=embedded,
        notes=pages,
        texts=_load_page_texts(project, pages) if pages else {},
    )


def _find_commit(project: Project) -> str:
    """Return the commit that is checked out; empty outside a repository."""
    # The folders above the project are not recorded, so changes there don't trigger runs.
    repository = GitRepository(project.disk, project.root)
    top = repository.top(repository.start)
    if top is None:
        project.tree.exists(".git")
        return ""
    ##= man/spec/page.md#overview
    ##% The report MUST show the version of duvet, the path of the configuration and the checked-out commit.
    return GitRepository(project.tree, project.root).head(top)


def _make_reader(project: Project) -> Callable[[str], str | None]:
    """Return a function that reads sources of the project; it returns None for a link that leads out of the project."""
    members, tree = FolderMembership(project.root, project.disk), project.tree
    read_file = tree.read_again if isinstance(tree, RecordedTree) else tree.read

    def read(path: str) -> str | None:
        ##= man/spec/page.md#safety
        ##% The report MUST NOT contain text of files outside the project, even through symbolic links.
        if not members.has(path):
            return None
        try:
            return read_file(path).decode()
        except FileChangedError:
            raise
        except (DuvetError, UnicodeDecodeError):
            return None

    return read


def _load_pages(project: Project, catalogue: Catalogue) -> PageCollection | None:
    from duvet.knowledge.pages.files import find_page_files

    files = find_page_files(project)
    if not files.prefixes:
        return None
    from duvet.knowledge.pages.catalogue import PageCollection, load_pages

    store = load_pages(project, files)
    return PageCollection(store, catalogue) if store.pages else None


def _load_page_texts(project: Project, pages: PageCollection) -> dict[str, str]:
    from duvet.knowledge.pages.page import decode_page_body

    texts = {}
    for page in pages.pages:
        # A page may have been removed since it was listed.
        with suppress(DuvetError):
            texts[page.path] = decode_page_body(project.tree.read(page.path), page.path)
    return texts


def _compare_with_commit(project: Project, commit: str, snapshot: bytes) -> SnapshotDiff | None:
    """Return the changes since the commit's snapshot; None if the commit has none."""
    path = find_snapshot_path(project)
    if path is None or not commit:
        return None
    # In a git hook, the variables of git may name another repository.
    environ = {name: value for name, value in current_settings().environ.items() if not name.startswith("GIT_")}
    try:
        before = GitCommand(project.root, environ).content("cat-file", "blob", f"{commit}:./{path}")
    except DuvetError:
        # The commit lacks the file, or git is not installed.
        return None
    return None if before is None else compare_snapshots(before.decode(errors="replace"), snapshot.decode())
