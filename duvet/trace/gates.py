"""The gates of awslabs duvet's CI mode without a snapshot, with every offender named."""

from __future__ import annotations

from collections.abc import Iterator

from duvet import rules
from duvet.model import Place, Problem
from duvet.text import shortened
from duvet.trace.records import CITATION, EXCEPTION, IMPLICATION, TEST, Coverage, Trace

_IMPLEMENTED = CITATION | EXCEPTION | IMPLICATION
_TESTED = TEST | EXCEPTION | IMPLICATION


def check(trace: Trace, *, citations: bool, tests: bool) -> tuple[Problem, ...]:
    """What keeps the gate shut. As upstream has it, a line counts as covered when any part of it is."""
    ##= man/spec/trace.md#gates
    ##% With `--ci` and no snapshot, what is quoted on a line that has no code, or code and no test, MUST be named.
    found: list[Problem] = []
    for coverage in trace.coverages:
        significant = _lines(coverage, ~0)
        cited = _lines(coverage, _IMPLEMENTED)
        ##= man/spec/trace.md#gates
        ##% With `--require-citations false` or `--require-tests false`, what lacks code or tests MUST NOT be named.
        if citations:
            found += _offenders(
                trace,
                coverage,
                significant - cited,
                rules.GATE_NOT_CITED,
                "Specification requirements missing citation.",
            )
        if tests:
            missing = cited - _lines(coverage, _TESTED)
            found += _offenders(trace, coverage, missing, rules.GATE_NOT_TESTED, "Citation missing test.")
    return tuple(found)


Line = tuple[int, int]
"""A section and a line in it."""


def _lines(coverage: Coverage, flags: int) -> set[Line]:
    return {(match.section, piece.line) for match in coverage.matches if match.flags & flags for piece in match.pieces}


def _offenders(trace: Trace, coverage: Coverage, lines: set[Line], rule: rules.Rule, message: str) -> Iterator[Problem]:
    """One problem for each quote that touches such a line, at the first one."""
    for match in coverage.matches:
        first = next((piece for piece in match.pieces if (match.section, piece.line) in lines), None)
        if first is not None:
            quote = trace.annotations[match.ids[0]].quote
            section = coverage.specification.sections[match.section]
            target = f"{coverage.specification.locator.name}#{section.id}"
            yield rule.problem(
                message,
                coverage.specification.path,
                Place(coverage.specification.data.count(b"\n", 0, first.start) + 1),
                hint=f"{target}: {shortened(quote) if quote else section.title}",
            )
