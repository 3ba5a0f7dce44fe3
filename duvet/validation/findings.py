"""Everything that is wrong in a project, by file and by annotation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from duvet.model import Problem, Severity


class Finding(Struct, frozen=True, array_like=True):
    """A problem, and the annotation that it is about."""

    problem: Problem
    id: int = -1
    """The index of the annotation in the trace; -1 where the problem is about none."""
    once: bool = False
    """Whether one report is enough for all annotations that have this problem."""
    is_told: bool = False
    """Whether a problem of the configuration says so already."""


class Checked(Struct, frozen=True):
    """What was asked for: the problems, and how much there was to check."""

    problems: tuple[Problem, ...]
    annotations: int
    files: int


class Findings(Struct, frozen=True, array_like=True):
    """What validation has found out about a whole project; parts of it are chosen from this."""

    files: dict[str, int]
    """How many annotations there are in each file that is an input."""
    found: tuple[Finding, ...]
    """In the order in which problems are listed."""
    config: str = ""
    """The path of the configuration."""

    def of(self, paths: Collection[str]) -> Checked:
        """What there is to say of these inputs, and of the configuration, without which nothing is right."""
        ##= man/spec/validate.md#choosing-files
        ##% What is wrong in files that were not named MUST NOT be reported, but for the configuration.
        chosen = frozenset(paths)
        # What names no file comes from the command line.
        told = {*chosen, self.config, ""}
        wanted = [one for one in self.found if len(chosen) == len(self.files) or one.problem.path in told]
        problems = tuple(one.problem for one in _first_ones(wanted))
        return Checked(problems, sum(self.files[path] for path in chosen), len(chosen))

    def invalid(self) -> dict[int, tuple[Problem, ...]]:
        """The errors of each annotation that has any, by its index in the trace."""
        found: dict[int, list[Problem]] = {}
        for one in self.found:
            if one.id >= 0 and one.problem.severity is Severity.ERROR:
                found.setdefault(one.id, []).append(one.problem)
        return {id: tuple(problems) for id, problems in sorted(found.items())}


def _first_ones(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings without what need not be told again."""
    told: set[tuple[str, str]] = set()
    for one in findings:
        known = (one.problem.code, one.problem.message)
        if one.is_told or (one.once and known in told):
            continue
        told.add(known)
        yield one
