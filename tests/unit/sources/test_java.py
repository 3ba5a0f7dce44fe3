import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.sources.java import LineScope, classify_java
from tests.conftest import ROOT

LETTERS = "SDOCcABN"
"""Statement, declaration, scope opened and closed, comment, annotation, blank, not linear; a dot is unknown."""


def classify(text: str) -> list[str]:
    found = classify_java(text, "A.java").properties[1:]
    return ["".join(letter for bit, letter in enumerate(LETTERS) if one >> bit & 1) or "." for one in found]


def annotate(block: str, before: str, after: str) -> str:
    code = [row[6:] for row in block.strip("\n").split("\n")]
    found = classify(before + "\n".join(code) + "\n" + after)[before.count("\n") :]
    return "".join(f"{letters:3} | {line}".rstrip() + "\n" for letters, line in zip(found, code, strict=False))


def test_lines_are_classified(snapshot: Snapshot) -> None:
    for name, before, after in (
        ("declarations", "", ""),
        ("bodies", "class A {\nvoid f() {\n", "}\n}\n"),
        ("closing", "class A {\n", ""),
        ("between", "class A {\n{\n", "}\n}\n"),
    ):
        # The golden file contains the code, too: letters, a bar, and a line.
        blocks = (ROOT / f"tests/gold/java/{name}.txt").read_text().split("\n\n")
        snapshot.assert_match("\n".join(annotate(block, before, after) for block in blocks), f"java/{name}.txt")


def test_line_ends_and_scopes() -> None:
    assert classify_java(
        "class A {\n  void f() {\n    if (a) { b(); }\n    g(() -> { h(); });\n  }\n  int x; }\n", "A.java"
    ).scopes == tuple(LineScope(*lines) for lines in ((3, 3), (4, 4), (2, 5), (1, 6)))
    assert classify_java("import a;\n\n", "A.java").scopes == (LineScope(1, 2),)
    assert classify("class A {\r\n\r\n  int a;\r\n}") == ["DO", "B", "D", "C"]
    assert classify("") == []


@pytest.mark.parametrize(
    ("text", "faults"),
    [("class A {\n  void f( {\n  }\n}\n", (2,)), ("class A {\n  int a\n  int b;\n}\n", (2,)), ("class A {\n", (1,))],
)
def test_parse_errors_are_reported(text: str, faults: tuple[int, ...]) -> None:
    found = classify_java(text, "A.java")
    assert (found.faults, found.scopes, set(found.properties)) == (faults, (), {0})


def test_deeply_nested_code_is_parsed() -> None:
    depth = 3000
    found = classify_java("class A { void f() {\n" + "{\n" * depth + "}\n" * depth + "} }\n", "A.java")
    assert (len(found.scopes), found.faults) == (depth + 1, ())
