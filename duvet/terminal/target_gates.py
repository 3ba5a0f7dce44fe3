"""Gates that hold for some specifications and sections alone."""

from __future__ import annotations

from collections.abc import Iterator

from duvet import rules
from duvet.errors import NotFoundError
from duvet.model import Problem
from duvet.project import Project
from duvet.terminal.wishes import Gate, Wishes
from duvet.trace.gates import not_implemented, not_tested
from duvet.trace.requirements import Requirement


def target_problems(project: Project, wishes: Wishes) -> Iterator[Problem]:
    """Every offender, and targets that lead nowhere."""
    problems: list[Problem] = []
    yield from not_implemented(_members(project, wishes.require_citations, "--require-citations", problems))
    testing = _members(project, wishes.require_tests, "--require-tests", problems)
    yield from not_tested(testing, project.trace.coverages)
    yield from problems


def _members(project: Project, gate: Gate, option: str, problems: list[Problem]) -> list[Requirement]:
    """The requirements that the targets of a gate mean, each once and in order."""
    found: set[int] = set()
    for target in gate.targets:
        try:
            found.update(project.scopes.of(target))
        except NotFoundError as error:
            ##= man/spec/gates.md#gates-for-targets
            ##% A target that is unknown MUST be an error, and SHOULD be reported with the names that are most like it.
            message = f"{error.message}, which {option} names"
            problems.append(rules.GATE_UNKNOWN_TARGET.problem(message, hint=error.hint))
    return [project.requirements[index] for index in sorted(found)]
