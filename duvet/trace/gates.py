"""The gates: that of awslabs duvet's CI mode without a snapshot, and those for targets; every offender is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from duvet import rules
from duvet.model import Place, Problem
from duvet.text import LineNumbers, shortened
from duvet.trace.records import CITATION, EXCEPTION, EXCUSED, IMPLICATION, TEST, Coverage, Match, Tally, Trace
from duvet.trace.requirements import Requirement
from duvet.trace.states import State, Status

_IMPLEMENTED = CITATION | EXCEPTION | IMPLICATION
_TESTED = TEST | EXCEPTION | IMPLICATION
_NEEDS_NO_TEST = TEST | EXCUSED | IMPLICATION


def check(trace: Trace, *, citations: bool, tests: bool, freed: frozenset[int] = frozenset()) -> tuple[Problem, ...]:
    """What keeps the gate shut. As upstream has it, a line counts as covered when any part of it is.

    Nothing is asked of what only the annotations in `freed` speak of.
    """
    ##= man/spec/trace.md#gates
    ##% With `--ci` and no snapshot, what is quoted on a line that has no code, or code and no test, MUST be named.
    found: list[Problem] = []
    for coverage in trace.coverages:
        matches = [match for match in coverage.matches if not freed.issuperset(match.ids)]
        significant = _lines(matches, ~0)
        cited = _lines(matches, _IMPLEMENTED)
        ##= man/spec/trace.md#gates
        ##% With `--require-citations false` or `--require-tests false`, what lacks code or tests MUST NOT be named.
        if citations:
            found += _offenders(
                trace,
                coverage,
                matches,
                significant - cited,
                rules.GATE_NOT_CITED,
                "Specification requirements missing citation.",
            )
        if tests:
            missing = cited - _lines(matches, _TESTED)
            found += _offenders(trace, coverage, matches, missing, rules.GATE_NOT_TESTED, "Citation missing test.")
    return tuple(found)


Line = tuple[int, int]
"""A section and a line in it."""


def _lines(matches: Iterable[Match], flags: int) -> set[Line]:
    return {(match.section, piece.line) for match in matches if match.flags & flags for piece in match.pieces}


def _offenders(
    trace: Trace, coverage: Coverage, matches: Iterable[Match], lines: set[Line], rule: rules.Rule, message: str
) -> Iterator[Problem]:
    """One problem for each quote that touches such a line, at the first one."""
    numbers = LineNumbers()
    for match in matches:
        first = next((piece for piece in match.pieces if (match.section, piece.line) in lines), None)
        if first is not None:
            quote = trace.annotations[match.ids[0]].quote
            section = coverage.specification.sections[match.section]
            target = f"{coverage.specification.locator.name}#{section.id}"
            yield rule.problem(
                message,
                coverage.specification.path,
                Place(numbers.of(coverage.specification.data, first.start)),
                hint=f"{target}: {shortened(quote) if quote else section.title}",
            )


def freed_by(requirements: Iterable[Requirement]) -> frozenset[int]:
    """The annotations that speak of nothing but what is not applicable."""
    freed: set[int] = set()
    owed: set[int] = set()
    for one in requirements:
        (freed if one.state is State.NOT_APPLICABLE else owed).update(one.ids, one.related)
    return frozenset(freed - owed)


def not_implemented(requirements: Iterable[Requirement]) -> Iterator[Problem]:
    """A problem for each requirement that has no code, or not for all of it."""
    ##= man/spec/gates.md#gates-for-targets
    ##% With a target, `--require-citations` MUST name each of its requirements that is not started or in progress.
    lacking = (one for one in requirements if one.status <= Status.IN_PROGRESS)
    return _named(lacking, rules.GATE_NOT_CITED, lambda one: f"this requirement is not implemented: {one.state.words}")


def not_tested(requirements: Iterable[Requirement], coverages: Iterable[Coverage]) -> Iterator[Problem]:
    """A problem for each requirement that has no test, or not for all of it, and does without none."""
    tallies = {id: tally for coverage in coverages for id, tally in coverage.tallies.items()}
    ##= man/spec/gates.md#gates-for-targets
    ##% With a target, `--require-tests` MUST name each of its requirements that is neither done nor tested as a whole.
    lacking = (one for one in requirements if one.status < Status.DONE and not _is_tested(one, tallies))
    return _named(lacking, rules.GATE_NOT_TESTED, _not_tested)


def _not_tested(one: Requirement) -> str:
    if one.state is State.MISSING_IMPLEMENTATION:
        return "a part of this requirement is not tested"
    return f"this requirement is not tested: {one.state.words}"


def _is_tested(one: Requirement, tallies: Mapping[int, Tally]) -> bool:
    """Whether a test refers to each part of it, though no implementation does."""
    # The state is that of its least covered part: others may be implemented, and not tested.
    parts = (flags for match in one.matches for flags in tallies[match.stating[0]].bytes_by_flags)
    return one.state is State.MISSING_IMPLEMENTATION and all(flags & _NEEDS_NO_TEST for flags in parts)


def _named(
    requirements: Iterable[Requirement], rule: rules.Rule, message: Callable[[Requirement], str]
) -> Iterator[Problem]:
    lines = LineNumbers()
    for one in requirements:
        specification = one.specification
        ##= man/spec/gates.md#gates-for-targets
        ##% An offender MUST be named with its place in the file of the specification, and with its target.
        yield rule.problem(
            message(one),
            specification.path,
            Place(lines.of(specification.data, one.matches[0].pieces[0].start)),
            hint=f"{specification.locator.name}#{one.section.id}: {shortened(one.text)}",
        )
