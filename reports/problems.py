"""Renders problems as text, and defines the data that all problem formats share."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from importlib import import_module
from itertools import groupby

from msgspec import Struct

from duvet.model import Place, Problem, Severity
from duvet.reports.cells import CUT_MARK, escape_cell, fit_cells, measure_width
from duvet.text import format_count

LineReader = Callable[[str, int], str | None]  # The text of a line of a file, or None if the line does not exist.


class ProblemFormat(StrEnum):
    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    JUNIT = "junit"


class ProblemContext(Struct, frozen=True):
    read_line: LineReader = lambda path, line: None
    colour: bool = False
    folder: str = ""  # The folder that paths are relative to, as a path from the root of the repository.
    counts_like_upstream: bool = False  # Whether the text ends with awslabs duvet's counts.


ProblemRenderer = Callable[[Sequence[Problem], ProblemContext], bytes]

_RENDERERS = {
    ProblemFormat.TEXT: ("problems", "render_problems_text"),
    ProblemFormat.JSON: ("problem_formats", "render_problems_json"),
    ProblemFormat.SARIF: ("sarif", "render_sarif"),
    ProblemFormat.GITHUB: ("problem_formats", "render_github"),
    ProblemFormat.JUNIT: ("problem_formats", "render_junit"),
}


def render_problems(
    problems: Sequence[Problem],
    format: ProblemFormat,
    context: ProblemContext = ProblemContext(),  # noqa: B008 - frozen
) -> bytes:
    # Import only the format that the user wants.
    ##= man/spec/problems.md#formats
    ##% `--format` MUST select the format of problems: `text`, `json`, `sarif`, `github` or `junit`.
    module, function = _RENDERERS[format]
    render: ProblemRenderer = getattr(import_module(f"duvet.reports.{module}"), function)
    return render(problems, context)


def count_problems(problems: Sequence[Problem]) -> tuple[int, int]:
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    return errors, len(problems) - errors


def make_root_relative(path: str, folder: str) -> str:
    if not path or not folder or is_absolute(path):
        return path
    return posixpath.normpath(posixpath.join(folder, path))


def is_absolute(path: str) -> bool:
    return re.match(r"/|[A-Za-z]:[\\/]|\\\\", path) is not None


_WIDEST = 100
_FITS = 90  # Lines up to this width are shown whole.
_LONGEST = 2000  # Maximum number of characters to show of a message.
_BEFORE = 40  # The part of a long line to show before the problem, in cells.

_RED, _YELLOW, _BLUE, _BOLD, _PLAIN = "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m"
_GREEN = "\x1b[1;32m"
_CHANGE = r"\[-.*?-\]|\{\+.*?\+\}"
_COLOURS = {Severity.ERROR: _RED, Severity.WARNING: _YELLOW}

_Mark = tuple[Place, str, str]  # A place, the character that underlines it, and its label.


def render_problems_text(problems: Sequence[Problem], view: ProblemContext) -> bytes:
    blocks = ["\n".join(format_problem(problem, view)) + "\n" for problem in problems]
    if view.counts_like_upstream:
        blocks += filter(None, [count_like_upstream(problems)])
    return "\n".join(blocks).encode()


def count_like_upstream(problems: Sequence[Problem]) -> str:
    errors, warnings = count_problems(problems)
    lines = f"{format_count(warnings, 'warning')}\n" if warnings else ""
    # awslabs duvet's exact words, including `1 errors`.
    return f"{lines}encountered {errors} errors\n" if errors else lines


def format_problem(problem: Problem, view: ProblemContext) -> Iterator[str]:
    colour = view.colour
    marks: list[_Mark] = [(problem.place, "^", problem.label), *((one.place, "-", one.label) for one in problem.notes)]
    marks.sort(key=lambda mark: (mark[0].line, mark[0].column))
    lines = {place.line for place, _, _ in marks if place.line and not problem.is_private}
    texts = {line: view.read_line(problem.path, line) for line in lines}
    shown = [mark for mark in marks if texts.get(mark[0].line) is not None]
    margin = len(str(max((place.line for place, _, _ in shown), default=0)))
    painted = _COLOURS[problem.severity]
    first, *more = (_cut_line(line) for line in problem.message.splitlines() or [""])
    code = f" [{problem.code}]" if problem.code else ""
    yield f"{_paint(problem.severity, painted, colour)}{_paint(f': {first}', _BOLD, colour)}{code}"
    for line in more:
        yield f"  {line}".rstrip()
    if problem.path:
        numbers = [str(number) for number in (problem.place.line, problem.place.column) if number]
        yield f"{' ' * margin}{_paint('-->', _BLUE, colour)} {':'.join([escape_cell(problem.path), *numbers])}"
    if shown:
        yield _make_gutter("", margin, colour)
    last = 0
    for line, group in groupby(shown, key=lambda mark: mark[0].line):
        if last and line > last + 1:
            yield _paint("...", _BLUE, colour)
        last = line
        yield from _draw_snippet(texts[line] or "", list(group), margin, painted, colour)
    unseen = [("note", label) for place, _, label in marks if label and texts.get(place.line) is None]
    for word, text in [*unseen, *([("help", problem.hint)] if problem.hint else [])]:
        sign = _paint("=", _BLUE, colour)
        first, *more = text.splitlines() or [""]
        yield f"{' ' * margin} {sign} {_paint(word, _BOLD, colour)}: {_colour_changes(_cut_line(first), colour)}"
        for line in more:
            yield f"{' ' * (margin + len(word) + 5)}{_colour_changes(_cut_line(line), colour)}".rstrip()


def _cut_line(line: str) -> str:
    return escape_cell(line if len(line) <= _LONGEST else line[:_LONGEST] + CUT_MARK)


def _draw_snippet(text: str, marks: list[_Mark], margin: int, painted: str, colour: bool) -> Iterator[str]:
    line = text.rstrip("\r\n")
    # A long line is shown from a little before the place.
    start = used = 0
    if len(line) > _FITS or measure_width(escape_cell(line)) > _FITS:
        start = min(_find_span(place, line)[0] for place, _, _ in marks)
        while start and used < _BEFORE:
            start -= 1
            used += measure_width(escape_cell(line[start]))
    before = CUT_MARK if start else ""
    # A character takes at least one cell, so the rest of a very long line is not measured.
    shown = before + escape_cell(line[start : start + _WIDEST])
    room = _WIDEST - margin - 3
    whole = start + _WIDEST >= len(line) and measure_width(shown) <= room
    kept, after = (shown, "") if whole else (fit_cells(shown, room - measure_width(CUT_MARK)), CUT_MARK)
    yield f"{_make_gutter(str(marks[0][0].line), margin, colour)} {kept}{after}".rstrip()
    ##= man/spec/trace.md#commands
    ##% duvet MUST print the line of a problem, and mark the part of it that is wrong.
    for place, sign, label in marks:
        low, high = _find_span(place, line)
        blanks = min(measure_width(before + escape_cell(line[start : min(low, start + _WIDEST)])), measure_width(kept))
        underlined = measure_width(escape_cell(line[low : min(high, low + _WIDEST)]))
        carets = sign * max(1, min(underlined, measure_width(kept) - blanks))
        label_line = f"{carets} {escape_cell(label)}".rstrip()
        yield f"{_make_gutter('', margin, colour)} {' ' * blanks}{_paint(label_line, painted if sign == '^' else _BLUE, colour)}"


def _find_span(place: Place, line: str) -> tuple[int, int]:
    if not place.column:
        return len(line) - len(line.lstrip()), max(1, len(line.rstrip()))
    low = min(place.column - 1, len(line))
    return low, min(low + place.width, max(len(line), low + 1))


def _colour_changes(text: str, colour: bool) -> str:
    return re.sub(_CHANGE, lambda found: _paint(found[0], _RED if found[0][0] == "[" else _GREEN, colour), text)


def _make_gutter(number: str, margin: int, colour: bool) -> str:
    return _paint(f"{number:>{margin}} |", _BLUE, colour)


def _paint(text: str, painted: str, colour: bool) -> str:
    return f"{painted}{text}{_PLAIN}" if colour else text
