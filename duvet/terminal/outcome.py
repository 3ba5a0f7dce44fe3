"""What a run of `duvet report` has come to, and how that is told."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from duvet.model import Problem, Severity
from duvet.terminal.exit_codes import FAILED, OK
from duvet.terminal.problem_formats import Answer, tell_problems
from duvet.terminal.settings import settings
from duvet.terminal.streams import say


class Outcome(Struct, frozen=True):
    """What is wrong, the summary, and the file that holds the page; nothing where there is none."""

    problems: tuple[Problem, ...]
    summary: str
    page: str = ""


def fails(problems: tuple[Problem, ...]) -> bool:
    """Whether any problem is an error."""
    return any(problem.severity is Severity.ERROR for problem in problems)


def as_errors(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems with every warning taken as an error."""
    return tuple(replace(one, severity=Severity.ERROR) for one in problems)


def tell(outcome: Outcome, answer: Answer) -> int:
    """Print it; the exit code."""
    written = tell_problems(outcome.problems, answer)
    ##= man/spec/trace.md#reports
    ##% `duvet report` MUST end with a summary on standard error, unless only errors are asked for.
    if not settings().quiet:
        say(outcome.summary)
    return OK if _shown(outcome, answer) and written and not fails(outcome.problems) else FAILED


def _shown(outcome: Outcome, answer: Answer) -> bool:
    """Whether the page is open, if that is wanted; what could not be written has been said to be so."""
    if not answer.opens:
        return True
    from duvet import rules
    from duvet.terminal.browser import open_page

    if any(problem.code == rules.FILE_UNWRITABLE.code for problem in outcome.problems):
        return False
    ##= man/spec/page.md#opening
    ##% With `--open`, `duvet report` MUST open the page in the browser once it is written, or is known to be what it
    ##% would be.
    return open_page(outcome.page)


def lasts(problems: Iterable[Problem]) -> bool:
    """Whether the same run would come to the same; the disk may answer otherwise."""
    from duvet import rules

    passing = (rules.FILE_UNWRITABLE, rules.SNAPSHOT_DIFFERS)
    return {rule.code for rule in passing}.isdisjoint(problem.code for problem in problems)
