import json
import re
from xml.etree import ElementTree

from hypothesis import given, strategies as st
from msgspec import json as strict
from pytest_snapshot.plugin import Snapshot

from duvet import rules
from duvet.model import Applicability, Edit, Fix, Note, Place, Problem, Severity
from duvet.reports.problem_formats import render_github, render_junit, render_problems_json
from duvet.reports.problems import ProblemContext, ProblemFormat, make_root_relative, render_problems
from tests.conftest import ROOT

SUFFIXES = {"text": "txt", "json": "json", "sarif": "sarif", "github": "github", "junit": "xml"}
LINES = {
    ("src/a.rs", 2): "//= type=test",
    ("src/a.rs", 4): "//= type=todo",
    ("src/a.rs", 7): "//# The kettle MUST heat water.",
    ("src/a.rs", 9): "//# The kettle MUST heat water.",
    ("src/a b/é%,:.rs", 3): "//= spec.md#nowhere",
}
FIX = Fix("quote the specification", (Edit(7, 21, 7, 25, "boil"), Edit(8, 1, 9, 1, "")), Applicability.UNSAFE)
PROBLEMS = (
    rules.COMMENT_REPEATED_KEY.problem(
        '"type" already specified',
        "src/a.rs",
        Place(4, 5, 4),
        label="redefined here",
        hint="keep one of them,\nthe first or the second",
        notes=(Note(Place(2, 5, 4), "already defined here"),),
    ),
    rules.QUOTE_NOT_FOUND.problem("no such text", "src/a.rs", Place(7, 5, 27), label="not in this section", fix=FIX),
    rules.QUOTE_NOT_FOUND.problem("no such text", "src/a.rs", Place(9, 5, 27), label="not in this section"),
    rules.QUOTE_ONE_EDIT.problem("the whole line", "src/a.rs", Place(9)),
    rules.TARGET_UNKNOWN_SECTION.problem('no <section> "nowhere" & 100 %', "src/a b/é%,:.rs", Place(3, 5, 15)),
    rules.FILE_UNREADABLE.problem("No such file or directory (os error 2)", "/tmp/a b.rs"),
    rules.FILE_UNREADABLE.problem("above", "../shared/a.rs"),
    rules.FILE_UNREADABLE.problem("on Windows", "C:\\src\\a b.rs", Place(1)),
    rules.FILE_UNREADABLE.problem("on a share of Windows", "\\\\host\\share\\a.rs"),
    rules.FILE_UNREADABLE.problem(
        "]]> \x00\x1b[31m\u2028\ufffe\udcff\ud800 \r\n::error::x", "src/\udcff\n::a\x1b,\ud800.rs"
    ),
    rules.LINK_LOOP.problem("a loop", "src/b"),
    rules.SNAPSHOT_DIFFERS.problem("it differs:\n@@ -1 +1 @@\n-\told\n+new", ".duvet/snapshot.txt"),
    Problem("", "neither code nor place"),
)


def read_line(path: str, line: int) -> str | None:
    return LINES.get((path, line))


VIEW = ProblemContext(read_line, folder="kettles/one")


def test_problems_are_written_in_every_format(snapshot: Snapshot) -> None:
    ##= man/spec/problems.md#formats
    ##% `--format` MUST select the format of problems: `text`, `json`, `sarif`, `github` or `junit`.
    for format in ProblemFormat:
        snapshot.assert_match(render_problems(PROBLEMS, format, VIEW).decode(), f"problems/formats.{SUFFIXES[format]}")
        snapshot.assert_match(render_problems((), format).decode(), f"problems/none.{SUFFIXES[format]}")


TEXT = st.text(st.characters(), max_size=40)
PLACES = st.builds(Place, st.integers(0, 9), st.integers(0, 99), st.integers(1, 99))
EDITS = st.builds(Edit, st.integers(1, 9), st.integers(1, 9), st.integers(10, 19), st.integers(1, 9), TEXT)
NOTES = st.lists(st.builds(Note, PLACES, TEXT), max_size=2).map(tuple)
FIXES = st.none() | st.builds(Fix, TEXT, st.lists(EDITS, min_size=1, max_size=2).map(tuple))
CODES = st.sampled_from(["", "DUV050", "DUV051"])
MADE = st.builds(Problem, CODES, TEXT, TEXT, PLACES, TEXT, TEXT, st.sampled_from(Severity), NOTES, FIXES)
HOSTILE = st.lists(MADE, max_size=3).map(tuple)


@given(HOSTILE, TEXT)
def test_every_format_is_text_that_drives_no_terminal(problems: tuple[Problem, ...], line: str) -> None:
    for format in ProblemFormat:
        written = render_problems(problems, format, ProblemContext(lambda *_: line, folder="a/b")).decode()
        assert {char for char in written if char < " " or "\x7f" <= char <= "\x9f"} <= {"\n"}


def test_paths_begin_at_the_root() -> None:
    # The tests of SARIF have absolute paths and those of Windows.
    paths = (("a.rs", ""), ("a.rs", "b/c"), ("../../../a.rs", "b/c"), ("", "b"))
    assert [make_root_relative(*one) for one in paths] == ["a.rs", "b/c/a.rs", "../a.rs", ""]


def test_json_is_as_documented() -> None:
    ##= man/spec/problems.md#json
    ##% The JSON output MUST be one object with the version of the format, all problems, and the numbers of errors and
    ##% warnings.
    problem = rules.QUOTE_NOT_FOUND.problem(
        'could not find text in section "heating" of spec.md',
        "src/a.rs",
        Place(2, 5, 27),
        label="not in this section",
        hint="copy the words of the section; only spacing may differ",
        notes=(Note(Place(1, 5, 15), "its target"),),
        fix=Fix("quote the specification", (Edit(2, 22, 2, 26, "boil"),), Applicability.SAFE),
    )
    page = (ROOT / "man/spec/problems.md").read_text(encoding="utf-8")
    example = re.search(r"^    \{\n(?:    .*\n)*?    \}\n", page, re.MULTILINE)
    assert example and json.loads(example[0]) == json.loads(render_problems_json([problem], ProblemContext()))


@given(HOSTILE)
def test_json_is_read_again(problems: tuple[Problem, ...]) -> None:
    document = strict.decode(render_problems_json(problems, ProblemContext()))
    found = document.pop("problems")
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    assert document == {"version": 1, "errors": errors, "warnings": len(problems) - errors}
    assert [one["severity"] for one in found] == [problem.severity for problem in problems]
    for one, problem in zip(found, problems, strict=True):
        plain = [char for char in problem.message if char != "?" and not "\ud800" <= char <= "\udfff"]
        assert one["message"].replace("?", "") == "".join(plain)


@given(HOSTILE, TEXT)
def test_there_is_one_command_for_each_problem(problems: tuple[Problem, ...], folder: str) -> None:
    ##= man/spec/problems.md#github-and-junit
    ##% In the workflow commands of GitHub, duvet MUST write paths relative to the root of the repository, and escape
    ##% values and messages as GitHub expects.
    *lines, end = render_github(problems, ProblemContext(folder=folder.strip("/"))).decode().split("\n")
    assert (len(lines), end) == (len(problems), "")
    for line, problem in zip(lines, problems, strict=True):
        found = re.compile(r"::(error|warning) ((?:[a-zA-Z]+=[^:,]*,?)+)::(.*)").fullmatch(line)
        assert found and found[1] == problem.severity.value


@given(HOSTILE, TEXT)
def test_junit_is_well_formed_with_a_case_for_each_problem(problems: tuple[Problem, ...], line: str) -> None:
    ##= man/spec/problems.md#github-and-junit
    ##% The JUnit output MUST be well-formed XML 1.0 with a failing test case for each error and a passing test
    ##% case for each warning, or one passing test case if there are no problems.
    root = ElementTree.fromstring(render_junit(problems, ProblemContext(lambda *_: line)))
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    assert {key: suite.attrib[key] for key in root.attrib} == root.attrib
    failed = sum(problem.severity is Severity.ERROR for problem in problems)
    counts = [suite.attrib[key] for key in ("tests", "failures", "errors", "skipped")]
    assert counts == [str(max(1, len(problems))), str(failed), "0", "0"]
    assert len(suite) == max(1, len(problems))
    assert len(suite.findall("testcase/failure")) == failed
