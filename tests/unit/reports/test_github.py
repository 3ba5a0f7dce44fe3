"""Problems as workflow commands of GitHub"""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from duvet import rules
from duvet.model import Place, Problem
from duvet.reports.problem_formats import render_github
from duvet.reports.problems import ProblemContext
from tests.unit.reports.test_problem_formats import HOSTILE, TEXT

COMMAND = re.compile(r"::(error|warning) ((?:[a-zA-Z]+=[^:,]*,?)+)::(.*)")


def command(problem: Problem, folder: str = "") -> str:
    return render_github([problem], ProblemContext(folder=folder)).decode()


@pytest.mark.parametrize(
    ("path", "folder", "file"),
    [("src/a.rs", "", "src/a.rs"), ("src/a.rs", "kettle", "kettle/src/a.rs"), ("../a.rs", "kettle", "a.rs")],
)
def test_paths_begin_at_the_root(path: str, folder: str, file: str) -> None:
    ##= man/spec/problems.md#github-and-junit
    ##% A workflow command MUST name paths from the root of the repository, and escape values and messages as GitHub
    ##% expects.
    problem = rules.QUOTE_NOT_FOUND.problem("no such text", path, Place(3, 5, 4))
    expected = f"::error file={file},line=3,col=5,endColumn=9,title=DUV050 quote-not-found::no such text\n"
    assert command(problem, folder) == expected


def test_what_ends_values_and_messages() -> None:
    ##= man/spec/problems.md#github-and-junit
    ##% A workflow command MUST name paths from the root of the repository, and escape values and messages as GitHub
    ##% expects.
    problem = rules.QUOTE_ONE_EDIT.problem("100 %: a,b\r\n::error::c", "50%,a:b.rs")
    assert command(problem) == (
        "::warning file=50%25%2Ca%3Ab.rs,title=DUV051 quote-one-edit::100 %25: a,b%0D%0A::error::c\n"
    )


@given(HOSTILE, TEXT)
def test_there_is_one_command_for_each_problem(problems: tuple[Problem, ...], folder: str) -> None:
    *lines, end = render_github(problems, ProblemContext(folder=folder.strip("/"))).decode().split("\n")
    assert (len(lines), end) == (len(problems), "")
    for line, problem in zip(lines, problems, strict=True):
        found = COMMAND.fullmatch(line)
        assert found and found[1] == problem.severity.value
