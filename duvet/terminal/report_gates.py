"""The checks of CI mode: the committed snapshot where there is one, else the requirements themselves."""

from __future__ import annotations

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Problem
from duvet.project import Project
from duvet.reports.cells import visible
from duvet.terminal.report_files import snapshot_path
from duvet.terminal.settings import Settings
from duvet.terminal.streams import say
from duvet.terminal.wishes import Wishes

_CONTEXT = 4


def checks_snapshot(project: Project, wishes: Wishes) -> bool:
    """Whether the snapshot is compared instead of written."""
    ##= man/spec/trace.md#gates
    ##% With `--ci`, a configured snapshot MUST be compared instead of written.
    return _is_ci(project, wishes) and snapshot_path(project) is not None


def _is_ci(project: Project, wishes: Wishes) -> bool:
    """Asked for, or with a snapshot to check in an environment that says so; an empty `CI` says so too."""
    if wishes.ci is not None:
        return wishes.ci
    ##= man/spec/trace.md#gates
    ##% Where the environment variable `CI` says so, a configured snapshot MUST be compared without `--ci`, too.
    return snapshot_path(project) is not None and project.environ.get("CI", "false") not in ("false", "0")


def gate_problems(project: Project, wishes: Wishes, snapshot: bytes, shown: Settings) -> list[Problem]:
    """What keeps the gates shut."""
    found = _ci_problems(project, wishes, snapshot, shown)
    if wishes.require_citations.targets or wishes.require_tests.targets:
        from duvet.terminal.target_gates import target_problems

        # Whoever is named line by line is named.
        named = {_spot(problem) for problem in found}
        ##= man/spec/gates.md#gates-for-targets
        ##% A gate with a target MUST hold without `--ci`, too, and beside the comparison of a snapshot.
        found += [problem for problem in target_problems(project, wishes) if _spot(problem) not in named]
    return found


def _spot(problem: Problem) -> tuple[str, str, int]:
    return problem.code, problem.path, problem.place.line


def _ci_problems(project: Project, wishes: Wishes, snapshot: bytes, shown: Settings) -> list[Problem]:
    if not _is_ci(project, wishes):
        return []
    path = snapshot_path(project)
    if path is None:
        from duvet.trace.gates import check, freed_by

        citations, tests = wishes.require_citations.everything, wishes.require_tests.everything
        ##= man/spec/gates.md#not-applicable
        ##% A gate MUST NOT ask for code or tests of what is not applicable.
        freed = freed_by(project.requirements) if project.not_applicable else frozenset()
        return list(check(project.trace, citations=citations, tests=tests, freed=freed))
    project.progress.begin(f"Checking {path}")
    found = _compare(project, path, snapshot, shown)
    if not found:
        project.progress.end(f"Checked {path}")
    return found


def _compare(project: Project, path: str, snapshot: bytes, shown: Settings) -> list[Problem]:
    try:
        committed = project.tree.read(path)
    except DuvetError as error:
        message = "Could not read report snapshot. This is required to enforce CI checks."
        hint = f"{error.message}; run `duvet report` and commit {path}"
        return [rules.SNAPSHOT_MISSING.problem(message, path, hint=hint)]
    if committed == snapshot:
        return []
    say(f"\nDifferences detected in {visible(path)}:\n\n{_difference(committed, snapshot, shown.colour)}\n")
    message = "Report snapshot does not match with CI mode enabled."
    hint = f"if the change is meant, run `duvet report` and commit {path}"
    return [rules.SNAPSHOT_DIFFERS.problem(message, path, hint=hint)]


def _difference(old: bytes, new: bytes, colour: bool) -> str:
    from duvet.terminal.difference import coloured, unified

    one, other = (data.decode(errors="replace").splitlines() for data in (old, new))
    ##= man/spec/trace.md#diagnostics
    ##% Text from files MUST NOT drive the terminal.
    lines = [visible(line) for line in unified(one, other, _CONTEXT)]
    if not lines:
        lines = ["(only the line ends differ)"]
    return "\n".join(coloured(line) if colour else line for line in lines)
