"""The gates of a report run: the comparison with the snapshot, and required citations and tests."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from shlex import quote as quote_shell

from duvet import rules
from duvet.console import command, report_result, report_run, streams
from duvet.errors import DuvetError, NotFoundError
from duvet.model import Problem
from duvet.project.project import Project
from duvet.queries.references import RequirementRef, SectionRef, resolve_reference
from duvet.reports.cells import escape_cell
from duvet.text import colour_diff_line, make_unified_diff, quote_text
from duvet.trace import gates
from duvet.trace.catalogue import Catalogue
from duvet.trace.locations import ProjectFiles


def list_gates(project: Project, request: report_result.ReportRequest, *, is_ci: bool) -> list[report_run.Gate]:
    gates, path = list[report_run.Gate](), project.snapshot_path
    if is_ci and path is not None:
        check = partial(_check_snapshot, project, path)
        gates.append(report_run.Gate(f"snapshot {path}", f"snapshot {path} is up to date", check))
    elif is_ci:
        citations, tests = (
            gate.everything is None or (gate.everything and project.is_like_upstream)
            for gate in (request.require_citations, request.require_tests)
        )
        nouns = [noun for noun, wanted in (("citations", citations), ("tests", tests)) if wanted]
        # awslabs duvet accepts a project without requirements. There is nothing to pass then.
        if nouns and (project.requirements or not project.is_like_upstream):
            success = "every requirement is cited" if citations else "every cited requirement is tested"
            success += " and tested" if citations and tests else ""
            gates.append(
                report_run.Gate(" and ".join(nouns), success, partial(_check_lines, project, citations, tests))
            )
    for gate, noun, state in (
        (request.require_citations, "citations", "implemented"),
        (request.require_tests, "tests", "tested"),
    ):
        covers_all = gate.everything and not project.is_like_upstream
        if covers_all or gate.targets:
            targets = "" if covers_all else f" of {', '.join(gate.targets)}"
            check = partial(_check_targets, project, gate, noun)
            gates.append(report_run.Gate(f"{noun}{targets}", f"every requirement{targets} is {state}", check))
    return gates


def _check_lines(
    project: Project, citations: bool, tests: bool, snapshot: report_run.SnapshotRenderer
) -> list[Problem]:
    freed = gates.find_not_applicable_annotations(project.requirements) if project.not_applicable else frozenset()
    problems = gates.check_gates(project.trace, citations=citations, tests=tests, freed=freed)
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% A gate on tests MUST fail if code cites none of the requirements.
    if not (citations or gates.has_implementation(project.trace) or project.is_like_upstream):
        path = project.config.path if project.config else ""
        hint = "cite requirements in the code that implements them"
        message = "no code cites a requirement, so the gate on tests checks nothing"
        return [rules.GATE_NOT_TESTED.problem(message, path, hint=hint)]
    return _choose_words(project, problems)


def _choose_words(project: Project, problems: Iterable[Problem]) -> list[Problem]:
    return [gates.use_upstream_wording(one) if project.is_like_upstream else one for one in problems]


def _check_snapshot(project: Project, path: str, snapshot: report_run.SnapshotRenderer) -> list[Problem]:
    project.progress.begin(f"Checking {command.show_path(path)}")
    try:
        committed = project.tree.read(path)
    except DuvetError as error:
        message, hint = "no snapshot yet", f"run `duvet report` and commit {path}"
        if project.tree.exists(path):
            message = f"can't read the snapshot: {error.message}"
            hint = "make this a readable file, or set `path` in `[report.snapshot]` to another file"
        return _choose_words(project, [rules.SNAPSHOT_MISSING.problem(message, path, hint=hint)])
    if committed != snapshot():
        old_lines, new_lines = (data.decode(errors="replace").splitlines() for data in (committed, snapshot()))
        lines = [escape_cell(line) for line in make_unified_diff(old_lines, new_lines, context=4)]
        if not lines:
            lines = ["(only the line endings differ)"]
        diff = "\n".join(colour_diff_line(line) if command.current_settings().colour else line for line in lines)
        streams.print_notice(f"\nDifferences detected in {escape_cell(command.show_path(path))}:\n\n{diff}\n")
        hint = f"if the change is intended, run `duvet report` and commit {path}"
        return _choose_words(project, [rules.SNAPSHOT_DIFFERS.problem("the snapshot is out of date", path, hint=hint)])
    project.progress.end(f"Checked {command.show_path(path)}")
    return []


def _check_targets(
    project: Project, gate: report_result.ReportGate, noun: str, snapshot: report_run.SnapshotRenderer
) -> list[Problem]:
    option, found, unknown = f"--require-{noun}", set[int](), []
    for target in gate.targets:
        try:
            found.update(project.scopes.of(target))
        except NotFoundError as error:
            ##= man/spec/gates.md#gates-for-targets
            ##% duvet MUST refuse a gate on an unknown target, and suggest similar names.
            message, hint = f"{option}: {error.message}", error.hint
            if "#" not in target:
                message = f"{option} takes a specification or SPEC#SECTION, and {quote_text(target)} is neither"
                named = _find_target(project.catalogue, target, ProjectFiles(project.tree, project.root))
                hint = f"write `{option} {quote_shell(named)}`" if named else hint
            unknown.append(rules.GATE_UNKNOWN_TARGET.problem(message, hint=hint))
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% A gate on a target MUST fail if the target has no requirements.
    if not (gate.everything or found or unknown or project.is_like_upstream):
        names = " and ".join(gate.targets)
        message = f"{names} {'has' if len(gate.targets) == 1 else 'have'} no requirements, so {option} checks nothing"
        hint = "name a specification or a section with requirements, or remove the target"
        return [rules.GATE_UNKNOWN_TARGET.problem(message, hint=hint)]
    selected = project.requirements if gate.everything else [project.requirements[index] for index in sorted(found)]
    return [*gates.find_incomplete(selected, tests=noun == "tests"), *unknown]


def _find_target(catalogue: Catalogue, name: str, files: ProjectFiles) -> str:
    with suppress(NotFoundError):
        match resolve_reference(catalogue, name, files):
            case SectionRef(specification, section):
                return catalogue.specifications[specification].section_target(section)
            case RequirementRef((index, *_)):
                card = catalogue.requirements[index]
                locator = catalogue.specifications[card.specification].locator
                return f"{locator}#{card.name}" if card.name else catalogue.target_of(card)
    return ""
