from collections.abc import Sequence

from hypothesis import example, given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet import rules
from duvet.model import Note, Place, Problem, Severity
from duvet.reports.cells import measure_width
from duvet.reports.problems import LineReader, ProblemContext, render_problems_text
from tests.unit.reports.test_problem_formats import HOSTILE, TEXT

LINES = {
    1: "fn main() {",
    2: "\t//= type=test",
    4: "//= type=todo",
    7: "//# 日本語の仕様 MUST\tbe \x1b[31mquoted\x1b[0m.",
    8: "//# " + "x" * 90 + " The cup MUST be blue. " + "y" * 90,
    9: "//# The cup MUST be blue. " + "y" * 120,
    10: "",
    11: "//# one two three\r",
}
PROBLEMS = (
    rules.COMMENT_REPEATED_KEY.problem(
        '"type" already specified',
        "src/a.rs",
        Place(4, 5, 4),
        label="redefined here",
        hint="keep one of them,\nthe first or the second",
        notes=(Note(Place(2, 6, 4), "already defined here"),),
    ),
    rules.QUOTE_NOT_FOUND.problem("no such text", "src/a.rs", Place(7, 5, 6), label="not in this section"),
    rules.QUOTE_NOT_FOUND.problem("no such text", "src/a.rs", Place(7, 20, 15), label="not in this section"),
    rules.QUOTE_NOT_FOUND.problem("no such text", "src/a.rs", Place(8, 96, 21), label="not in this section"),
    rules.QUOTE_NOT_FOUND.problem("no such text", "src/a.rs", Place(9, 5, 200), label="not in this section"),
    rules.TARGET_UNRESOLVED.problem("no such place", "src/a.rs", Place(10, 30, 4), label="beyond the line"),
    rules.QUOTE_ONE_EDIT.problem("the whole line", "src/a.rs", Place(11), label="all of it"),
    rules.REQUIREMENT_REPEATED_KEY.problem(
        "two on one line", "src/a.rs", Place(11, 9, 3), notes=(Note(Place(11, 5, 3), "first"),)
    ),
    rules.QUOTE_NOT_FOUND.problem(
        "no such line", "src/a.rs", Place(99, 5, 4), label="not in this section", hint="look again"
    ),
    rules.LINK_LOOP.problem("a loop", "src/\x1b[2Jb"),
    rules.SNAPSHOT_DIFFERS.problem("it differs:\n@@ -1 +1 @@\n-\told\n+new", ".duvet/snapshot.txt"),
    Problem("", "neither code nor place"),
)


def read_line(path: str, line: int) -> str | None:
    return LINES.get(line)


def render_text(problems: Sequence[Problem], read_line: LineReader = read_line, *, colour: bool = False) -> str:
    return render_problems_text(problems, ProblemContext(read_line, colour)).decode()


def test_places_are_shown(snapshot: Snapshot) -> None:
    ##= man/spec/trace.md#commands
    ##% duvet MUST print the line of a problem, and mark the part of it that is wrong.
    snapshot.assert_match(render_text(PROBLEMS), "problems/plain.txt")
    snapshot.assert_match(render_text((PROBLEMS[0], PROBLEMS[6]), colour=True), "problems/colours.txt")


def test_errors_and_warnings_are_counted() -> None:
    warning = Problem("DUV051", "odd", severity=Severity.WARNING)
    upstream = ProblemContext(counts_like_upstream=True)
    for problems, text, counts in (
        ([Problem("DUV050", "wrong")], "error: wrong [DUV050]\n", "\nencountered 1 errors\n"),
        ([warning], "warning: odd [DUV051]\n", "\n1 warning\n"),
        ([], "", ""),
    ):
        assert render_problems_text(problems, ProblemContext()).decode() == text
        assert render_problems_text(problems, upstream).decode() == text + counts


@given(HOSTILE, TEXT)
def test_nothing_drives_the_terminal(problems: tuple[Problem, ...], line: str) -> None:
    assert render_text(problems, lambda *_: line).replace("\n", "").isprintable()


@example("0" * 22 + "\x1f" * 8 + "\U00018cd6" + 2 * "\U0002ebe1", 1, 1)
@given(st.text(st.characters(codec="utf-8"), max_size=300), st.integers(1, 300), st.integers(1, 300))
def test_the_caret_stands_below_the_text(text: str, column: int, length: int) -> None:
    problem = Problem("DUV050", "m", "p", Place(1, column, length))
    _, _, _, source, carets, *_ = render_text([problem], lambda *_: text).split("\n")
    assert measure_width(source) <= 100
    assert len(carets) <= 100
    assert set(carets.removeprefix("  | ")) <= {" ", "^"}


@given(
    st.text("ab日本\t\u0301", max_size=200),
    st.text("ab日本\t", min_size=1, max_size=20),
    st.text("ab日本", max_size=200),
)
def test_the_carets_underline_the_place(before: str, here: str, after: str) -> None:
    problem = Problem("DUV050", "m", "p", Place(1, len(before) + 1, len(here)))
    _, _, _, source, carets, *_ = render_text([problem], lambda *_: before + here + after).split("\n")
    start = carets.index("^")
    spread = here.replace("\t", "    ")
    assert carets.count("^") == measure_width(spread)
    # Blanks at the end of a line are not shown.
    padded = source + " " * 200
    *_, here = (padded[index:] for index in range(len(padded)) if measure_width(padded[:index]) == start)
    assert here.startswith(spread)
