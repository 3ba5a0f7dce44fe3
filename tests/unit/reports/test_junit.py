"""Problems as test results in the XML of JUnit"""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given

from duvet import rules
from duvet.model import Place, Problem, Severity
from duvet.reports.problem_formats import render_junit
from duvet.reports.problems import ProblemContext
from tests.unit.reports.test_problem_formats import HOSTILE, TEXT

Element = ElementTree.Element


def suite_of(*problems: Problem, line: str = "") -> Element:
    root = ElementTree.fromstring(render_junit(problems, ProblemContext(lambda *_: line)))
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    assert {key: suite.attrib[key] for key in root.attrib} == root.attrib
    return suite


@given(HOSTILE, TEXT)
def test_it_is_xml_whatever_is_in_it(problems: tuple[Problem, ...], line: str) -> None:
    ##= man/spec/problems.md#github-and-junit
    ##% JUnit MUST be well-formed XML 1.0, with a failing case for each error and a passing one for each warning, or one
    ##% passing case without problems.
    suite = suite_of(*problems, line=line)
    failed = sum(problem.severity is Severity.ERROR for problem in problems)
    counts = [suite.attrib[key] for key in ("tests", "failures", "errors", "skipped")]
    assert counts == [str(max(1, len(problems))), str(failed), "0", "0"]
    assert len(suite) == max(1, len(problems))
    assert len(suite.findall("testcase/failure")) == failed


def test_errors_fail_and_warnings_pass() -> None:
    ##= man/spec/problems.md#github-and-junit
    ##% JUnit MUST be well-formed XML 1.0, with a failing case for each error and a passing one for each warning, or one
    ##% passing case without problems.
    error = rules.QUOTE_NOT_FOUND.problem('no "text"\nat all', "a b.rs", Place(3, 5, 4))
    warning = rules.LINK_LOOP.problem("a <loop> ]]>", "src/b")
    failed, passed = suite_of(error, warning)
    assert failed.attrib == {
        "classname": "a b.rs",
        "name": "DUV050 quote-not-found at 3:5",
        "file": "a b.rs",
        "line": "3",
        "time": "0",
    }
    (failure,) = failed
    assert (failure.tag, failure.attrib) == ("failure", {"type": "DUV050", "message": 'no "text"\nat all'})
    assert passed.attrib == {"classname": "src/b", "name": "DUV013 link-loop", "file": "src/b", "time": "0"}
    (said,) = passed
    assert (said.tag, said.text) == ("system-out", "warning: a <loop> ]]> [DUV013]\n --> src/b")


def test_nothing_wrong_is_a_case_that_passes() -> None:
    ##= man/spec/problems.md#github-and-junit
    ##% JUnit MUST be well-formed XML 1.0, with a failing case for each error and a passing one for each warning, or one
    ##% passing case without problems.
    (case,) = suite_of()
    assert (case.tag, case.attrib, list(case)) == (
        "testcase",
        {"classname": "duvet", "name": "no problems", "time": "0"},
        [],
    )
