"""Problems as JSON, as workflow commands for GitHub, and as JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from duvet.model import Place, Problem, Severity
from duvet.reports.cells import encode_json, escape_cell
from duvet.reports.problems import ProblemContext, count_problems, format_problem, make_root_relative
from duvet.rules import find_rule_name, format_rule_title

PROBLEMS_VERSION = 1  # Removing a key or changing its meaning requires a new version; adding a key does not.


def render_problems_json(problems: Sequence[Problem], view: ProblemContext) -> bytes:
    ##= man/spec/problems.md#json
    ##% The JSON output MUST be one object with the version of the format, all problems, and the numbers of errors and
    ##% warnings.
    records = [
        {
            "code": problem.code,
            "name": find_rule_name(problem.code),
            "severity": problem.severity.value,
            "message": problem.message,
            "path": problem.path,
            **_make_span(problem.place),
            "label": problem.label,
            "hint": problem.hint,
            "notes": [{**_make_span(note.place), "label": note.label} for note in problem.notes],
            "fix": problem.fix,
        }
        for problem in problems
    ]
    errors, warnings = count_problems(problems)
    return encode_json({"version": PROBLEMS_VERSION, "problems": records, "errors": errors, "warnings": warnings})


def _make_span(place: Place) -> dict[str, int | None]:
    line = place.line or None
    column = place.column if line and place.column else None
    return {"line": line, "column": column, "end_line": line, "end_column": place.end_column if column else None}


_IN_MESSAGES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_VALUES = _IN_MESSAGES | str.maketrans({":": "%3A", ",": "%2C"})


def render_github(problems: Sequence[Problem], view: ProblemContext) -> bytes:
    lines = []
    for problem in problems:
        place, properties = problem.place, {}
        if problem.path:
            ##= man/spec/problems.md#github-and-junit
            ##% In the workflow commands of GitHub, duvet MUST write paths relative to the root of the repository,
            ##% and escape values and messages as GitHub expects.
            properties["file"] = make_root_relative(problem.path, view.folder)
            if place.line:
                properties["line"] = str(place.line)
                if place.column:
                    properties |= {"col": str(place.column), "endColumn": str(place.end_column)}
        properties["title"] = format_rule_title(problem.code)
        values = ",".join(f"{key}={escape_cell(value.translate(_IN_VALUES))}" for key, value in properties.items())
        # GitHub does not show the source with the message, so the message contains the notes and the hint.
        notes = [f"line {note.place.line}: {note.label}" for note in problem.notes]
        hints = [f"help: {problem.hint}"] if problem.hint else []
        message = escape_cell("\n".join([problem.message, *notes, *hints]).translate(_IN_MESSAGES))
        lines.append(f"::{problem.severity.value} {values}::{message}\n")
    return "".join(lines).encode(errors="replace")


def render_junit(problems: Sequence[Problem], view: ProblemContext) -> bytes:
    cases = []
    for problem in problems:
        place = problem.place
        where = ":".join(str(number) for number in (place.line, place.column) if number)
        name = " ".join(part for part in (format_rule_title(problem.code), where and f"at {where}") if part)
        facts = {"classname": problem.path or "duvet", "name": name}
        if problem.path:
            facts |= {"file": problem.path} | ({"line": str(place.line)} if place.line else {})
        failure = _format_attributes({"type": problem.code or "error", "message": problem.message})
        body = Markup("\n").join(format_problem(problem, view))
        is_error = problem.severity is Severity.ERROR
        shown = f"<failure{failure}>{body}</failure>" if is_error else f"<system-out>{body}</system-out>"
        cases += [f'<testcase{_format_attributes(facts)} time="0">', shown, "</testcase>"]
    errors, _ = count_problems(problems)
    counts = f'tests="{max(1, len(problems))}" failures="{errors}" errors="0"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="duvet" {counts} time="0">',
        f'<testsuite name="duvet" {counts} skipped="0" time="0">',
        *(cases or ['<testcase classname="duvet" name="no problems" time="0"/>']),
        "</testsuite>",
        "</testsuites>",
    ]
    return "".join(f"{line}\n" for line in lines).encode(errors="replace")


def _format_attributes(facts: dict[str, str]) -> str:
    ##= man/spec/problems.md#github-and-junit
    ##% The JUnit output MUST be well-formed XML 1.0 with a failing test case for each error and a passing test
    ##% case for each warning, or one passing test case if there are no problems.
    # XML allows no control characters and lone surrogates, not even escaped.
    lines = {key: Markup("&#10;").join(map(escape_cell, value.splitlines())) for key, value in facts.items()}
    return Markup("").join(Markup(' {}="{}"').format(key, value) for key, value in lines.items())
