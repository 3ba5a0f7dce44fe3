"""Problems in every format"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet import rules
from duvet.model import Edit, Fix, Note, Place, Problem, Severity
from duvet.reports.problems import ProblemContext, ProblemFormat, is_absolute, make_root_relative, render_problems
from tests.conftest import ROOT

SUFFIXES = {
    ProblemFormat.TEXT: "txt",
    ProblemFormat.JSON: "json",
    ProblemFormat.SARIF: "sarif",
    ProblemFormat.GITHUB: "github",
    ProblemFormat.JUNIT: "xml",
}
LINES = {
    ("src/a.rs", 2): "//= type=test",
    ("src/a.rs", 4): "//= type=todo",
    ("src/a.rs", 7): "//# The kettle MUST heat water.",
    ("src/a.rs", 9): "//# The kettle MUST heat water.",
    ("src/a b/é%,:.rs", 3): "//= spec.md#nowhere",
}
FIX = Fix("quote the specification", (Edit(7, 21, 7, 25, "boil"), Edit(8, 1, 9, 1, "")))
PROBLEMS = (
    rules.COMMENT_REPEATED_KEY.problem(
        '"type" already specified',
        "src/a.rs",
        Place(4, 5, 4),
        label="redefined here",
        hint="keep one of them,\nthe first or the second",
        notes=(Note(Place(2, 5, 4), "already defined here"),),
    ),
    rules.QUOTE_NOT_FOUND.problem("no such text", "src/a.rs", Place(7, 5, 27), label="text here", fix=FIX),
    rules.QUOTE_NOT_FOUND.problem("no such text", "src/a.rs", Place(9, 5, 27), label="text here"),
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


@pytest.mark.parametrize("format", ProblemFormat)
def test_problems(format: ProblemFormat, snapshot: Snapshot) -> None:
    ##= man/spec/problems.md#formats
    ##% `--format` MUST select how problems are written: `text`, `json`, `sarif`, `github` or `junit`.
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "problems"
    snapshot.assert_match(render_problems(PROBLEMS, format, VIEW).decode(), f"formats.{SUFFIXES[format]}")


@pytest.mark.parametrize("format", ProblemFormat)
def test_no_problems(format: ProblemFormat, snapshot: Snapshot) -> None:
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "problems"
    snapshot.assert_match(render_problems((), format).decode(), f"none.{SUFFIXES[format]}")


TEXT = st.text(st.characters(), max_size=40)
PLACES = st.builds(Place, st.integers(0, 9), st.integers(0, 99), st.integers(1, 99))
EDITS = st.builds(Edit, st.integers(1, 9), st.integers(1, 9), st.integers(10, 19), st.integers(1, 9), TEXT)
MADE = st.builds(
    Problem,
    st.sampled_from(["", "DUV050", "DUV051"]),
    TEXT,
    TEXT,
    PLACES,
    TEXT,
    TEXT,
    st.sampled_from(Severity),
    st.lists(st.builds(Note, PLACES, TEXT), max_size=2).map(tuple),
    st.none() | st.builds(Fix, TEXT, st.lists(EDITS, min_size=1, max_size=2).map(tuple)),
)
HOSTILE = st.lists(MADE, max_size=3).map(tuple)


@pytest.mark.parametrize("format", ProblemFormat)
@given(HOSTILE, TEXT)
def test_every_format_is_text_that_drives_no_terminal(
    format: ProblemFormat, problems: tuple[Problem, ...], line: str
) -> None:
    written = render_problems(problems, format, ProblemContext(lambda *_: line, folder="a/b")).decode()
    controls = {char for char in written if char < " " or "\x7f" <= char <= "\x9f"}
    assert controls <= {"\n"}


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("a.rs", "", "a.rs"),
        ("a.rs", "b/c", "b/c/a.rs"),
        ("../a.rs", "b/c", "b/a.rs"),
        ("../../../a.rs", "b/c", "../a.rs"),
        ("/a.rs", "b", "/a.rs"),
        ("C:/a.rs", "b", "C:/a.rs"),
        ("C:\\a.rs", "b", "C:\\a.rs"),
        ("\\\\host\\a.rs", "b", "\\\\host\\a.rs"),
        ("", "b", ""),
    ],
)
def test_paths_begin_at_the_root(path: str, folder: str, expected: str) -> None:
    assert make_root_relative(path, folder) == expected


@pytest.mark.parametrize("path", ["a", "a/b", "a:b", "c:", "..", "a//b"])
def test_other_paths_are_relative(path: str) -> None:
    assert not is_absolute(path)
