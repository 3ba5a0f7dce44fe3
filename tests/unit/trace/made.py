"""Requirements made up for tests, with nothing behind them."""

from __future__ import annotations

from duvet.model import Format, Level, Locator, Section, Specification
from duvet.trace.records import Coverage, Finished, Requirement, State, Trace

SECTION = Section("s", "S", (0, 1), "S", (), ())


def specification(name: str) -> Specification:
    """A specification without sections."""
    path = f"{name}.md"
    return Specification(name, name, Locator(path), path, path, Format.MARKDOWN, "", "", b"", ())


def requirement(name: str, level: Level, state: State) -> Requirement:
    """A requirement of the specification of that name."""
    return Requirement(specification(name), SECTION, "The pot MUST be warm.", level, state, (), (), ())


def finished(*requirements: Requirement, cited: tuple[str, ...] = ()) -> Finished:
    """A report on these requirements, and on specifications that have none."""
    names = dict.fromkeys([*(one.specification.name for one in requirements), *cited])
    coverages = tuple(Coverage(specification(name), (), {}, {}) for name in names)
    return Finished(Trace((), (), coverages, ()), requirements)
