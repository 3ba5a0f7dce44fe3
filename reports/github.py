"""Problems as workflow commands, which GitHub shows beside the lines that they are about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from duvet.model import Problem
from duvet.reports.cells import escape_cell
from duvet.reports.problems import ProblemContext, make_root_relative
from duvet.rules import format_rule_title

_IN_MESSAGES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_VALUES = _IN_MESSAGES | str.maketrans({":": "%3A", ",": "%2C"})


def render_github(problems: Sequence[Problem], view: ProblemContext) -> bytes:
    lines = []
    for problem in problems:
        properties = _properties(problem, view.folder)
        values = ",".join(f"{key}={_escaped(value, _IN_VALUES)}" for key, value in properties)
        # The lines of the source are not shown with the message, so it holds the notes and the hint.
        notes = [f"line {note.place.line}: {note.label}" for note in problem.notes]
        hints = [f"help: {problem.hint}"] if problem.hint else []
        message = _escaped("\n".join([problem.message, *notes, *hints]), _IN_MESSAGES)
        lines.append(f"::{problem.severity.value} {values}::{message}\n")
    return "".join(lines).encode(errors="replace")


def _properties(problem: Problem, folder: str) -> Iterator[tuple[str, str]]:
    place = problem.place
    if problem.path:
        ##= man/spec/problems.md#github-and-junit
        ##% A workflow command MUST name paths from the root of the repository, and escape values and messages as GitHub
        ##% expects.
        yield "file", make_root_relative(problem.path, folder)
        if place.line:
            yield "line", str(place.line)
            if place.column:
                yield "col", str(place.column)
                yield "endColumn", str(place.end_column)
    yield "title", format_rule_title(problem.code)


def _escaped(text: str, escapes: dict[int, str]) -> str:
    return escape_cell(text.translate(escapes))
