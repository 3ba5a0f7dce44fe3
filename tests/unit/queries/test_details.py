"""Comment styles, the text of annotations, and the code around and below them."""

from __future__ import annotations

import re

import pytest

from duvet import MemoryTree
from duvet.config.settings import SourceRule
from duvet.model import Kind
from duvet.queries.details import CitationReader
from duvet.queries.snippets import CommentStyle, list_comment_styles, read_code_below
from duvet.trace.locations import ProjectFiles, read_comment, split_source_text
from tests.cli.tea_project import TEA_PROJECT
from tests.unit.queries.query_projects import make_catalogue


def test_comment_styles_are_listed() -> None:
    rules = [
        SourceRule(("src/**/*.rs", "x/*.rs")),
        SourceRule(("src/**/*.c", "src/**/*.ml", "src/**/*.h"), "*=", "*#"),
        SourceRule(("tests/*.rs",), kind=Kind.TEST),
        SourceRule(("x/*.rs", "y/*.rs"), blob_link="https://x"),
    ]
    assert list_comment_styles(rules) == (
        CommentStyle(label="src/**/*.rs, x/*.rs, y/*.rs", meta="//=", content="//#"),
        CommentStyle(label="src/**/*.c, src/**/*.h", meta="*=", content="*#", first="/*", last="*/"),
        CommentStyle(label="src/**/*.ml", meta="*=", content="*#", first="(*", last="*)"),
        CommentStyle(label="tests/*.rs", meta="//=", content="//#", kind=Kind.TEST),
    )
    assert list_comment_styles(()) == ()


def read_code(text: str, most: int = 3) -> list[str | None]:
    """Return the code below each `@`, which stands for an annotation."""
    spots = [(number, "src/a.rs", found.span()) for number, found in enumerate(re.finditer("@+", text))]
    found = read_code_below(spots[::-1], lambda path: text if path == "src/a.rs" else None, most)
    return [found.get(number) for number, _, _ in spots]


CODE_BELOW = {
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


@pytest.mark.parametrize("case", CODE_BELOW)
def test_the_code_below_an_annotation_is_shown(case: str) -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST show the code below each citation, up to the next annotation and at most `snippet-lines` lines.
    text, expected = CODE_BELOW[case]
    assert read_code(text) == expected


def test_the_code_below_has_at_most_the_given_number_of_lines() -> None:
    text = "@\n" + "".join(f"{number}\n" for number in range(60))
    lines = "\n".join(map(str, range(50)))
    assert [read_code(text, most) for most in (0, 1, 50)] == [[None], ["0"], [lines]]


def test_each_file_is_read_once() -> None:
    read: list[str] = []
    texts = {"a": "@\na\n@\nb\n", "b": "@\nc\n"}

    def text_of(path: str) -> str | None:
        read.append(path)
        return texts.get(path)

    spots = [(0, "a", (0, 1)), (1, "b", (0, 1)), (2, "a", (4, 5)), (3, "gone", (0, 1))]
    assert read_code_below(spots, text_of, 3) == {0: "a", 1: "c", 2: "b"}
    assert read == ["a", "b", "gone"]


def test_a_file_that_has_become_shorter_has_less_code() -> None:
    assert read_code_below([(0, "a", (50, 60)), (1, "a", (1, 2))], lambda path: "x\ny\n", 3) == {1: "y"}


def read_lines(files: dict[str, str], id: str, around: int) -> tuple[str, int, tuple[str, ...]]:
    catalogue = make_catalogue(files)
    reader = CitationReader(catalogue, ProjectFiles(MemoryTree({k: v.encode() for k, v in files.items()}), ""), around)
    found = reader.detail([card.id for card in catalogue.citations].index(id))
    return found.comment_text, found.context_start, found.context_lines


CATALOGUE = make_catalogue(TEA_PROJECT)
CARDS = {card.id: card for card in CATALOGUE.citations}
COMMENT = "//= tea.md#pot\n//# It SHOULD be round, and nobody MAY drop it."


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_lines_around_a_citation_are_shown(end: str) -> None:
    text = TEA_PROJECT["src/pot.rs"].replace("\n", end)
    comment = tuple(COMMENT.split("\n"))
    more = ("//# The pot MUST be warm.", *comment, "fn warm(pot: &Pot) {")
    for around, start, lines in ((0, 5, comment), (1, 4, more), (1000, 1, tuple(text.splitlines()))):
        assert read_lines({**TEA_PROJECT, "src/pot.rs": text}, "src/pot.rs:5", around) == (COMMENT, start, lines)


def test_an_entry_of_a_requirement_file() -> None:
    path = ".duvet/exceptions/coffee.toml"
    text, card = TEA_PROJECT[path], CARDS[f"{path}:3"]
    _, _, *entry = text.splitlines()
    assert read_lines(TEA_PROJECT, f"{path}:3", 0) == ("\n".join(entry), 3, tuple(entry))
    assert read_comment(split_source_text(text + "[[exception]]\n"), 3, card.span[1]) == "\n".join(entry)
    # There may be blank lines in its text.
    entry = ["[[spec]]", "quote = '''", "[One", "", "[two]]", "'''", 'level = "MUST"']
    text = "\n".join(['target = "tea.md#pot"', *entry, "", "[[spec]]"])
    assert read_comment(split_source_text(text), 2, card.span[1]) == "\n".join(entry)


def test_a_citation_in_a_deleted_file_has_no_code() -> None:
    detail = CitationReader(CATALOGUE, ProjectFiles(MemoryTree({}), ""), 2).detail(list(CARDS).index("src/pot.rs:5"))
    assert (detail.comment_text, detail.context_lines, detail.line_number) == ("", (), 5)
    assert [row.text for row in detail.requirements] == ["It SHOULD be round, and nobody MAY drop it."]
