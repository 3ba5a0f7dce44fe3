"""Problems as JSON"""

from __future__ import annotations

import json
import re

from hypothesis import given
from msgspec import json as strict

from duvet import rules
from duvet.model import Edit, Fix, Note, Place, Problem, Severity
from duvet.reports.problem_formats import ProblemsRecord, render_problems_json
from duvet.reports.problems import ProblemContext
from tests.conftest import ROOT
from tests.unit.reports.test_problem_formats import HOSTILE


def test_the_shape_is_as_documented() -> None:
    ##= man/spec/problems.md#json
    ##% JSON MUST be one object with the version of its shape, every problem, and the numbers of errors and warnings.
    problem = rules.QUOTE_NOT_FOUND.problem(
        'could not find text in section "heating" of spec.md',
        "src/a.rs",
        Place(2, 5, 27),
        label="text here",
        hint="quote the section's words as they stand there",
        notes=(Note(Place(1, 5, 15), "its target"),),
        fix=Fix("quote the specification", (Edit(2, 22, 2, 26, "boil"),)),
    )
    page = (ROOT / "man/spec/problems.md").read_text(encoding="utf-8")
    example = re.search(r"^    \{\n(?:    .*\n)*?    \}\n", page, re.MULTILINE)
    assert example and json.loads(example[0]) == json.loads(render_problems_json([problem], ProblemContext()))


def test_what_is_not_known_is_null() -> None:
    (problem,) = json.loads(render_problems_json([Problem("", "wrong", "a.rs", Place(3))], ProblemContext()))[
        "problems"
    ]
    assert problem == {
        "code": "",
        "name": "",
        "severity": "error",
        "message": "wrong",
        "path": "a.rs",
        "line": 3,
        "column": None,
        "end_line": 3,
        "end_column": None,
        "label": "",
        "hint": "",
        "notes": [],
        "fix": None,
    }


@given(HOSTILE)
def test_it_is_read_again(problems: tuple[Problem, ...]) -> None:
    document = strict.decode(render_problems_json(problems, ProblemContext()), type=ProblemsRecord)
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    assert (document.version, document.errors, document.warnings) == (1, errors, len(problems) - errors)
    assert [one.severity for one in document.problems] == [problem.severity for problem in problems]
    for one, problem in zip(document.problems, problems, strict=True):
        assert one.message.replace("?", "") == "".join(
            char for char in problem.message if char != "?" and not "\ud800" <= char <= "\udfff"
        )
