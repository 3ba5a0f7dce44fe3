"""What is wrong with what a list of subsystems says, well typed as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from duvet import rules
from duvet.config.at import At
from duvet.knowledge.criticality import CRITICALITY
from duvet.model import Problem
from duvet.queries.names import nearest_hint
from duvet.sources.patterns import PatternError, compile_pattern
from duvet.text import quoted

_LEVELS = f"it is {', '.join(CRITICALITY)}"


def faults(at: At, entries: Sequence[tuple[str, str, tuple[str, ...]]]) -> Iterator[Problem]:
    """The faults of entries, each a name as it is written, how critical it is, and its patterns."""
    names: dict[str, str] = {}
    for name, criticality, patterns in entries:
        here = at / name
        known = names.setdefault(name.strip().casefold(), name)
        if not name.strip():
            yield here.problem(rules.CONFIG_BAD_VALUE, "a subsystem has to have a name", at_key=True)
        elif known != name:
            message = f"{quoted(name)} is the same subsystem as {quoted(known)}"
            yield here.problem(rules.CONFIG_BAD_VALUE, message, "write one entry for both", at_key=True)
        ##= man/spec/knowledge.md#files
        ##% How critical a subsystem is MUST be `low`, `medium`, `high` or `critical`, in whatever case.
        if criticality and criticality not in CRITICALITY:
            message = f"{quoted(criticality)} is no criticality"
            yield (here / "criticality").problem(
                rules.CONFIG_BAD_VALUE, message, nearest_hint(criticality, tuple(CRITICALITY)) or _LEVELS
            )
        yield from _bad_patterns(here / "paths", patterns)


def _bad_patterns(at: At, patterns: Sequence[str]) -> Iterator[Problem]:
    for pattern in patterns:
        try:
            compile_pattern(pattern)
        except PatternError as error:
            yield at.problem(rules.CONFIG_BAD_PATTERN, error.message, error.hint)
