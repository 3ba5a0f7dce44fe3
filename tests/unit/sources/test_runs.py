"""Where runs of annotated lines begin and end."""

from __future__ import annotations

import pytest

from duvet.sources.comments import find_runs, make_finder, may_have_annotations


def found(text: str, meta: str = "//=", content: str = "//#") -> list[tuple[int, int, str]]:
    return [(run.line, run.start, run.text) for run in find_runs(text, make_finder(meta, content))]


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"x //= y", True), (b"x //# y", True), (b"// =", False), (b"", False), ("é//#".encode(), True)],
)
def test_has_any(data: bytes, expected: bool) -> None:
    assert may_have_annotations(data, "//=", "//#") is expected


def test_a_gap_ends_a_run() -> None:
    text = "//= a\n  //# b\n\n\t//# c\r\n//= d\nx\n//#"
    assert found(text) == [(1, 0, "//= a\n  //# b"), (4, 16, "//# c\r\n//= d"), (7, 31, "//#")]


def test_what_stands_behind_code_begins_no_run() -> None:
    ##= man/spec/trace.md#annotations
    ##% Consecutive lines that start with one of the two prefixes MUST form an annotation, and a target after quoted
    ##% text MUST start the next one.
    assert found("x *= 2;\nx *= 3;\n", "*=", "*#") == []
    assert found("x *= 2;\n  *= a\n *# b\nx", "*=", "*#") == [(2, 10, "*= a\n *# b")]


def test_a_prefix_holds_no_line_end() -> None:
    assert found("/\n= a\n/\n# b", "/\n=", "/\n#") == []
    assert found("/\n= a\n# b", "/\n=", "#") == [(3, 6, "# b")]
