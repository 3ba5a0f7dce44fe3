"""The code below annotations."""

from __future__ import annotations

import re

import pytest

from duvet.queries.citations import read_code_below

MOST = 3


def below(text: str, most: int = MOST) -> list[str | None]:
    """The code below each `@`, which stands for an annotation."""
    spots = [(number, "src/a.rs", found.span()) for number, found in enumerate(re.finditer("@+", text))]
    found = read_code_below(spots[::-1], lambda path: text if path == "src/a.rs" else None, most)
    return [found.get(number) for number, _, _ in spots]


CASES = {
    "the first lines": ("@\na\nb\nc\nd\n", ["a\nb\nc"]),
    "no line end": ("@\na", ["a"]),
    "blank lines around": ("@\n\n \t\na\n\n\n", ["a"]),
    "blank lines between": ("@\na\n\nc\n", ["a\n\nc"]),
    "as many lines from the first one": ("@\n\n\na\nb\nc\nd\n", ["a\nb\nc"]),
    "nothing": ("@", [None]),
    "nothing but blanks": ("@\n \n\t\n", [None]),
    "CRLF": ("@\r\n  a\r\n  b\r\n", ["a\nb"]),
    "dedented": ("@\n    a\n      b\n\n    c\n", ["a\n  b"]),
    "dedented to the least": ("@\n    a\n  b\n", ["  a\nb"]),
    "tabs": ("@\n\t\ta\tb\n\tc\n", ["\ta\tb\nc"]),
    "tabs and blanks": ("@\n\t  a\n\t b\n", [" a\nb"]),
    "tabs or blanks": ("@\n\ta\n  b\n", ["\ta\n  b"]),
    "up to the next one": ("@\na\n  @\nb\n", ["a", "b"]),
    "one upon the other": ("@\n@\na\n@", ["a", "a", None]),
    "a gap between": ("@\n\n@@\n\na\n", ["a", "a"]),
    "in comments of their own": ("/*\n * @\n */\n/*\n * @\n */\nint a;\n", ["int a;", "int a;"]),
    "the comment of the next one": ("/*\n * @\n */\nint a;\n/*\n * @\n */\nint b;\n", ["int a;", "int b;"]),
    "at the end of a line of code": ("a @\nb\n", ["b"]),
    "a long line": (f"@\n{'x' * 160}\n{'y' * 161}\n", [f"{'x' * 160}\n{'y' * 159}…"]),
    "a long indent": (f"@\n{' ' * 200}{'x' * 160}\n", ["x" * 160]),
    "a minified file": (f"@\n{'x' * 100_000}", [f"{'x' * 159}…"]),
    "other line ends": ("@\na\vb\x85c\u2028d\n", ["a\vb\x85c\u2028d"]),
    "wide characters": ("@\n  é😀\n", ["é😀"]),
}


@pytest.mark.parametrize("case", CASES)
def test_code(case: str) -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST show the code below each citation, up to the next annotation and no more lines than
    ##% `snippet-lines` says.
    text, expected = CASES[case]
    assert below(text) == expected


def test_how_many_lines() -> None:
    text = "@\n" + "".join(f"{number}\n" for number in range(60))
    assert below(text, 0) == [None]
    assert below(text, 1) == ["0"]
    assert below(text, 50) == ["\n".join(map(str, range(50)))]


def test_each_file_is_read_once() -> None:
    read: list[str] = []
    texts = {"a": "@\na\n@\nb\n", "b": "@\nc\n"}

    def text_of(path: str) -> str | None:
        read.append(path)
        return texts.get(path)

    spots = [(0, "a", (0, 1)), (1, "b", (0, 1)), (2, "a", (4, 5)), (3, "gone", (0, 1))]
    assert read_code_below(spots, text_of, MOST) == {0: "a", 1: "c", 2: "b"}
    assert read == ["a", "b", "gone"]


def test_a_file_that_has_become_shorter() -> None:
    assert read_code_below([(0, "a", (50, 60)), (1, "a", (1, 2))], lambda path: "x\ny\n", MOST) == {1: "y"}
