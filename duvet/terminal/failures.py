"""The one printer of errors and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from duvet.errors import DuvetError, FetchError, OutputError, UnreadableError
from duvet.model import Place, Problem, ProblemsError, Severity
from duvet.terminal.settings import Settings, settings
from duvet.terminal.streams import say


def report(problems: Iterable[Problem], shown: Settings | None = None, sources: Sources | None = None) -> None:
    """Print problems to standard error, each with its place in the source."""
    shown = shown or settings()
    found = heard(problems, shown)
    if found:
        from duvet.reports.problem_format import View
        from duvet.reports.problems import render

        say(render(found, View((sources or Sources()).line, shown.colour)).decode())


def heard(problems: Iterable[Problem], shown: Settings) -> tuple[Problem, ...]:
    """Those that people want to hear of."""
    return tuple(one for one in problems if not (shown.quiet and one.severity is Severity.WARNING))


def as_problems(error: DuvetError) -> tuple[Problem, ...]:
    """What an error has to say."""
    if isinstance(error, ProblemsError):
        return error.problems
    if isinstance(error, (UnreadableError, FetchError, OutputError)):
        from duvet.rules import broken_by

        return (broken_by(error).problem(error.message, error.path, Place(error.line), hint=error.hint),)
    return (Problem("", error.message, error.path, Place(error.line), hint=error.hint),)


class Sources:
    """Lines of the files that problems point at."""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        """The texts are known, and not on disk."""
        self._lines = {path: text.split("\n") for path, text in (texts or {}).items()}

    def line(self, path: str, number: int) -> str | None:
        """The text of a line, or None where there is none."""
        if path not in self._lines:
            self._lines[path] = _read_lines(path)
        lines = self._lines[path]
        return lines[number - 1] if 0 < number <= len(lines) else None


def _read_lines(path: str) -> list[str]:
    from duvet.tree.disk import DiskTree

    try:
        return DiskTree().read(path).decode(errors="replace").split("\n")
    except DuvetError:
        return []
