"""Adds up the states of requirements, and judges a run, for all reports, gates and tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Literal, Protocol

from msgspec import Struct

from duvet.model import Level, Problem, Severity, Specification
from duvet.text import format_count
from duvet.trace.records import Requirement, State


class Total(Struct, frozen=True):
    """The number of requirements in each state, for one specification and level; None stands for all of them."""

    specification: Specification | None
    level: Level | None
    counts: tuple[int, ...]  # By state.

    @property
    def requirements(self) -> int:
        return sum(self.counts)

    @property
    def excepted(self) -> int:
        return self.counts[State.EXCEPTED]

    @property
    def not_applicable(self) -> int:
        return self.counts[State.NOT_APPLICABLE]

    @property
    def applicable(self) -> int:
        return self.requirements - self.excepted - self.not_applicable

    @property
    def done(self) -> int:
        """The number of done requirements; excepted and not applicable ones don't count."""
        ##= man/spec/trace.md#coverage
        ##% duvet MUST NOT count an excepted requirement as done.
        return self.counts[State.DONE]

    @property
    def percent(self) -> int | None:
        """The percentage of done requirements, rounded down; None if no requirement is applicable."""
        return 100 * self.done // self.applicable if self.applicable else None

    @property
    def words(self) -> str:
        """The coverage in words, such as `42 % (3 of 7), 1 excepted, 2 not applicable`, without zero counts."""
        if not self.requirements:
            return "no requirements"
        share = "no applicable requirements"
        if self.percent is not None:
            share = f"{self.percent} % ({self.done:,} of {self.applicable:,})"
        others = (state for state in (State.EXCEPTED, State.NOT_APPLICABLE) if self.counts[state])
        return ", ".join([share, *(f"{self.counts[state]:,} {state.words}" for state in others)])

    @property
    def left(self) -> str:
        """The open requirements in words, such as `4 uncited, 1 needs tests`; empty if none are open."""
        return ", ".join(
            f"{count:,} {format_state(state, count)}"
            for state, count in zip(State, self.counts, strict=True)
            if count and state < State.EXCEPTED
        )


def format_state(state: State, count: int) -> str:
    """Return the state with a count, with the right plural, as in `2 need tests`."""
    return state.words.replace("needs", "need") if count != 1 else state.words


class GateResult(Struct, frozen=True):
    """The result of a requested gate."""

    name: str  # `snapshot .duvet/snapshot.txt`
    success: str  # `snapshot .duvet/snapshot.txt is up to date`
    problems: int | None  # None if other errors prevented the gate from running.

    def describe(self, obstacles: str) -> str:
        """Return the output line for the gate; `obstacles` is the number of errors that prevented it, in words."""
        ##= man/spec/gates.md#verdicts
        ##% For each gate, `duvet report` MUST print its name with `PASS` only if it ran and passed, or with `FAIL` and
        ##% the number of problems if it failed.
        if self.problems is None:
            return f"FAIL: {self.name}: not checked because of {obstacles}"
        return (
            f"FAIL: {self.name}: {format_count(self.problems, 'problem')}" if self.problems else f"PASS: {self.success}"
        )


class RunVerdict(Struct, frozen=True):
    """The outcome of a run, and the lines to print about it."""

    outcome: Literal["pass", "fail", "neutral"]
    lines: tuple[str, ...]


class CountedRequirement(Protocol):
    """A requirement, or its card in the catalogue."""

    @property
    def level(self) -> Level: ...

    @property
    def state(self) -> State: ...


_Table = dict[Level, list[int]]


def compute_totals(requirements: Iterable[Requirement]) -> tuple[Total, ...]:
    """Return the totals per level and their sum, first for each specification, then for all of them."""
    tables: dict[str, _Table] = {}
    specifications: dict[str, Specification] = {}
    overall: _Table = {}
    for specification, found in groupby(requirements, attrgetter("specification")):
        specifications[specification.id] = specification
        _count(found, tables.setdefault(specification.id, {}), overall)
    own = (total for id, table in tables.items() for total in _list_totals(specifications[id], table))
    return (*own, *_list_totals(None, overall))


def compute_level_totals(found: Iterable[CountedRequirement]) -> tuple[Total, ...]:
    """Return the totals of each level, strongest first, followed by their sum."""
    table: _Table = {}
    _count(found, table)
    return tuple(_list_totals(None, table))


def group_totals(found: Iterable[Total]) -> list[tuple[Total, ...]]:
    """Group the totals by specification, with the overall totals last; each group ends with its sum."""
    groups: dict[str, list[Total]] = {}
    for total in found:
        groups.setdefault(total.specification.id if total.specification else "", []).append(total)
    return [tuple(group) for group in groups.values()]


def judge_run(
    problems: Iterable[Problem], gates: Sequence[GateResult] = (), annotations: int = 0, *, counts: bool = True
) -> RunVerdict:
    """Return the verdict of a run.

    Any error fails the run, and only a gate that ran can make it pass. `counts` adds the numbers of errors and
    warnings.
    """
    found = Counter(problem.severity for problem in problems)
    errors, warnings = found[Severity.ERROR], found[Severity.WARNING]
    others = errors - sum(gate.problems or 0 for gate in gates)
    # The line of a gate that did not run contains the number of errors.
    uncounted = 0 if any(gate.problems is None for gate in gates) else others
    counted = ((uncounted, "error"), (warnings, "warning")) if counts else ()
    numbers = ", ".join(format_count(count, noun) for count, noun in counted if count)
    lines = [numbers] if numbers else []
    ##= man/spec/gates.md#verdicts
    ##% Without a gate, `duvet report` MUST print `OK` if there are no errors, and the coverage on a separate line.
    if not (gates or others):
        valid = f"all {annotations:,} annotations are valid" if annotations else "no annotations to check"
        lines = [", ".join(filter(None, (f"OK: {'1 annotation is valid' if annotations == 1 else valid}", numbers)))]
    outcome: Literal["pass", "fail", "neutral"] = "fail" if errors else "pass" if gates else "neutral"
    return RunVerdict(outcome, (*lines, *(gate.describe(format_count(others, "error")) for gate in gates)))


def _count(found: Iterable[CountedRequirement], *tables: _Table) -> None:
    for (level, state), count in Counter(map(attrgetter("level", "state"), found)).items():
        for table in tables:
            table.setdefault(level, [0] * len(State))[state] += count


def _list_totals(specification: Specification | None, table: _Table) -> Iterator[Total]:
    for level in sorted(table, reverse=True):
        yield Total(specification, level, tuple(table[level]))
    sums = zip(*table.values(), strict=True) if table else [()] * len(State)
    yield Total(specification, None, tuple(map(sum, sums)))
