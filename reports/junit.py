"""Problems as test results in the XML of JUnit, for tools that show tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from duvet.model import Problem, Severity
from duvet.reports import problems as text
from duvet.reports.cells import escape_cell
from duvet.reports.problems import ProblemContext, count_problems
from duvet.rules import format_rule_title


def render_junit(problems: Sequence[Problem], view: ProblemContext) -> bytes:
    cases = [line for problem in problems for line in _case(problem, view)] or [
        '<testcase classname="duvet" name="no problems" time="0"/>'
    ]
    errors, _ = count_problems(problems)
    counts = f'tests="{max(1, len(problems))}" failures="{errors}" errors="0"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="duvet" {counts} time="0">',
        f'<testsuite name="duvet" {counts} skipped="0" time="0">',
        *cases,
        "</testsuite>",
        "</testsuites>",
    ]
    return "".join(f"{line}\n" for line in lines).encode(errors="replace")


def _case(problem: Problem, view: ProblemContext) -> Iterator[str]:
    place = problem.place
    where = ":".join(str(number) for number in (place.line, place.column) if number)
    name = " ".join(part for part in (format_rule_title(problem.code), where and f"at {where}") if part)
    facts = {"classname": problem.path or "duvet", "name": name}
    if problem.path:
        facts |= {"file": problem.path} | ({"line": str(place.line)} if place.line else {})
    body = Markup("\n").join(text.format_problem(problem, view))
    yield f'<testcase{_attributes(facts)} time="0">'
    if problem.severity is Severity.ERROR:
        yield f"<failure{_attributes({'type': problem.code or 'error', 'message': problem.message})}>{body}</failure>"
    else:
        yield f"<system-out>{body}</system-out>"
    yield "</testcase>"


def _attributes(facts: dict[str, str]) -> str:
    ##= man/spec/problems.md#github-and-junit
    ##% JUnit MUST be well-formed XML 1.0, with a failing case for each error and a passing one for each warning, or one
    ##% passing case without problems.
    # What is visible may stand in XML; not even escaped may controls and lone surrogates.
    lines = {key: Markup("&#10;").join(map(escape_cell, value.splitlines())) for key, value in facts.items()}
    return Markup("").join(Markup(' {}="{}"').format(key, value) for key, value in lines.items())
