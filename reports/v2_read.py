"""Reading the second JSON reports of several packages."""

from __future__ import annotations

from collections.abc import Sequence

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Problem, ProblemsError
from duvet.reports.v2_codec import decode
from duvet.reports.v2_records import Report
from duvet.tree.protocol import Tree

_HINT = "`duvet report --json-v2 FILE` writes what can be merged"


def read_reports(paths: Sequence[str], tree: Tree) -> list[tuple[str, Report]]:
    """The reports in these files; ProblemsError with every file that holds none."""
    reports: list[tuple[str, Report]] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            data = tree.read(path)
        except DuvetError as error:
            problems.append(_unreadable(path, f"failed to open file '{path}': {error.message}"))
            continue
        try:
            reports.append((path, decode(data)))
        except DuvetError as error:
            problems.append(_unreadable(path, f"failed to read report from '{path}': {error.message}", _HINT))
    if problems:
        raise ProblemsError(tuple(problems))
    return reports


def _unreadable(path: str, message: str, hint: str = "") -> Problem:
    return rules.REPORT_UNREADABLE.problem(message, path, hint=hint)
