"""Asks on a terminal which unsafe fixes to apply."""

from __future__ import annotations

import sys

import click

from duvet.console.discovery import show_path
from duvet.console.streams import print_line, print_notice
from duvet.model import Applicability, Problem
from duvet.reports.cells import escape_cell

_LINES_BELOW = 8  # Lines of code to show below the first line of a citation.
_LINES_ABOVE = 2
_ANSWERS = {"y": "yes", "n": "no", "s": "skip this file", "q": "quit"}
_QUESTION = "Apply this fix? (y)es, (n)o, (s)kip this file, (q)uit: "


def require_terminal(ctx: click.Context, diff: bool, unsafe: bool) -> None:
    """Refuse --interactive with options that contradict it, or without a terminal."""
    if diff or unsafe:
        other = "--diff" if diff else "--unsafe-fixes"
        raise click.UsageError(f"--interactive and {other} can't be used together", ctx)
    if sys.stdin is None or sys.stderr is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("--interactive requires a terminal; use --diff, then --unsafe-fixes", ctx)


class FixPrompt:
    """Asks about each unsafe fix once, until the answer is to quit."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str, str], bool] = {}
        self._skipped: set[str] = set()
        self._has_quit = False

    def approve(self, problem: Problem, text: str) -> bool:
        """Return whether to apply the fix of a problem; `text` is its file."""
        fix = problem.fix
        if fix is None or fix.applicability is Applicability.SAFE:
            return fix is not None
        # A second pass may find the same problem on another line.
        key = (problem.path, fix.description, fix.change or problem.message)
        if key not in self._answers:
            if self._has_quit or problem.path in self._skipped:
                return False
            _show_fix(problem, text)
            answer = _ask()
            self._has_quit = answer == "q"
            if answer == "s":
                self._skipped.add(problem.path)
            self._answers[key] = answer == "y"
        return self._answers[key]


def _show_fix(problem: Problem, text: str) -> None:
    fix = problem.fix
    assert fix is not None
    print_line("")
    print_line(f"{escape_cell(show_path(problem.path))}:{problem.place.line}: {escape_cell(fix.description)}")
    for line in fix.change.splitlines():
        print_line(f"    {escape_cell(line)}")
    if fix.doubt not in fix.change:
        print_line(f"    note: {escape_cell(fix.doubt)}; check the code")
    print_line("")
    first = max(problem.place.line - _LINES_ABOVE, 1)
    lines = text.split("\n")[first - 1 : problem.place.line + _LINES_BELOW]
    width = len(str(first + len(lines)))
    for number, line in enumerate(lines, first):
        print_line(f"{number:>{width}} | {escape_cell(line.rstrip())}".rstrip())
    print_line("")


def _ask() -> str:
    """Return the first letter of a valid answer, or `q` at the end of the input."""
    while True:
        print_notice(_QUESTION)
        sys.stderr.flush()
        line = sys.stdin.readline()
        answer = line.strip().lower()
        if not line:
            return "q"
        for letter, words in _ANSWERS.items():
            if answer and (answer == letter or words.startswith(answer)):
                return letter
