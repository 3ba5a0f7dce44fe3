"""How many requirements there are in each state: the numbers of the terminal, of the page and of every tool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from duvet.model import Level, Problem, Severity, Specification
from duvet.text import plural
from duvet.trace.states import State, Status

if TYPE_CHECKING:
    from duvet.trace.requirements import Requirement

_LEFT = {Status.NOT_STARTED: "not cited", Status.IN_PROGRESS: "in progress", Status.NEEDS_TESTS: "without tests"}


_STATES = {status: tuple(state.value for state in State if state.status is status) for status in Status}
"""The states that make each status."""


class Total(Struct, frozen=True):
    """The requirements of one specification and level, by state; None stands for all of them."""

    specification: Specification | None
    level: Level | None
    counts: tuple[int, ...]
    """By state."""

    @property
    def requirements(self) -> int:
        return sum(self.counts)

    @property
    def excepted(self) -> int:
        return self.counts[State.EXCEPTION]

    @property
    def not_applicable(self) -> int:
        return self.counts[State.NOT_APPLICABLE]

    @property
    def applicable(self) -> int:
        ##= man/spec/gates.md#not-applicable
        ##% What is not applicable MUST be counted neither as done nor as applicable.
        return self.requirements - self.excepted - self.not_applicable

    @property
    def done(self) -> int:
        """Without what is excepted or not applicable, which is settled but not done."""
        ##= man/spec/trace.md#coverage
        ##% An exception MUST NOT be counted as complete.
        ##= man/spec/gates.md#not-applicable
        ##% What is not applicable MUST be counted neither as done nor as applicable.
        return self.with_status(Status.DONE) - self.excepted - self.not_applicable

    @property
    def percent(self) -> int | None:
        """Rounded down, so that 100 means all of them; None where nothing is applicable."""
        return 100 * self.done // self.applicable if self.applicable else None

    @property
    def words(self) -> str:
        """`3 of 7 applicable requirements done (42 %), 1 excepted`, and what is not applicable where anything is."""
        if not self.requirements:
            return "no requirements"
        share = "" if self.percent is None else f" ({self.percent} %)"
        settled = f"{self.excepted} excepted"
        if self.not_applicable:
            settled += f", {self.not_applicable} {State.NOT_APPLICABLE.words}"
        return f"{self.done} of {plural(self.applicable, 'applicable requirement')} done{share}, {settled}"

    @property
    def left(self) -> str:
        """`4 requirements not cited, 1 in progress`; nothing where all are done."""
        counts = [(self.with_status(status), words) for status, words in _LEFT.items()]
        found = [(count, words) for count, words in counts if count]
        return ", ".join(
            f"{count if index else plural(count, 'requirement')} {words}" for index, (count, words) in enumerate(found)
        )

    def with_status(self, status: Status) -> int:
        """How many have that status; an exception with a reason has the status `done`, as has what is not applicable."""
        return sum([self.counts[state] for state in _STATES[status]])


class Verdict(Struct, frozen=True):
    """Whether a run succeeded, and why not."""

    passed: bool
    words: str


class Counted(Protocol):
    """What can be counted: a requirement, or the card of one."""

    @property
    def level(self) -> Level:
        """How strongly it binds."""

    @property
    def state(self) -> State:
        """What it has got so far."""


_Table = dict[Level, list[int]]


def totals(requirements: Iterable[Requirement]) -> tuple[Total, ...]:
    """For each specification, and last for all of them: the levels that occur, strongest first, and their sum."""
    ##= man/spec/trace.md#coverage
    ##% Every report MUST take its numbers from one computation.
    tables: dict[str, _Table] = {}
    specifications: dict[str, Specification] = {}
    overall: _Table = {}
    for specification, found in groupby(requirements, attrgetter("specification")):
        specifications[specification.id] = specification
        _count(found, tables.setdefault(specification.id, {}), overall)
    own = (total for id, table in tables.items() for total in _rows(specifications[id], table))
    return (*own, *_rows(None, overall))


def totals_of(found: Iterable[Counted]) -> tuple[Total, ...]:
    """The levels that occur among these, strongest first, and last their sum."""
    table: _Table = {}
    _count(found, table)
    return tuple(_rows(None, table))


def by_specification(found: Iterable[Total]) -> list[tuple[Total, ...]]:
    """The totals in groups, one for each specification and the last for all of them; the sum ends its group."""
    groups: dict[str, list[Total]] = {}
    for total in found:
        groups.setdefault(total.specification.id if total.specification else "", []).append(total)
    return [tuple(group) for group in groups.values()]


def verdict(total: Total, problems: Iterable[Problem]) -> Verdict:
    """The outcome in words: every problem that is an error fails the run, those of the gates too."""
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    if not errors:
        return Verdict(True, f"PASS: {total.words}")
    return Verdict(False, f"FAIL: {plural(errors, 'problem')}{', ' if total.left else ''}{total.left}")


def _count(found: Iterable[Counted], *tables: _Table) -> None:
    for (level, state), count in Counter(map(attrgetter("level", "state"), found)).items():
        for table in tables:
            table.setdefault(level, [0] * len(State))[state] += count


def _rows(specification: Specification | None, table: _Table) -> Iterator[Total]:
    for level in sorted(table, reverse=True):
        yield Total(specification, level, tuple(table[level]))
    sums = zip(*table.values(), strict=True) if table else [()] * len(State)
    yield Total(specification, None, tuple(map(sum, sums)))
