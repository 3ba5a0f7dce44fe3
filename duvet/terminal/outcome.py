"""What a run of `duvet report` has come to, and how that is told."""

from __future__ import annotations

from msgspec import Struct

from duvet.model import Problem, Severity
from duvet.terminal.failures import FAILED, OK, report
from duvet.terminal.settings import settings
from duvet.terminal.streams import say


class Outcome(Struct, frozen=True):
    """What is wrong, and the summary."""

    problems: tuple[Problem, ...]
    summary: str


def fails(problems: tuple[Problem, ...]) -> bool:
    """Whether any problem is an error."""
    return any(problem.severity is Severity.ERROR for problem in problems)


def tell(outcome: Outcome) -> int:
    """Print it; the exit code."""
    shown = settings()
    report(outcome.problems, shown)
    ##= man/spec/trace.md#reports
    ##% `duvet report` MUST end with a summary on standard error, unless only errors are asked for.
    if not shown.quiet:
        say(outcome.summary)
    return FAILED if fails(outcome.problems) else OK
