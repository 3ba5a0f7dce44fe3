"""New annotations above lines of sources"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.errors import DuvetError
from duvet.model import Kind
from duvet.sources.comments import SourceStyle, scan_comments
from duvet.sources.editor import NewAnnotation, choose_style, insert_annotation

RUST, C, PYTHON, TESTS = (
    SourceStyle(),
    SourceStyle("*=", "*#"),
    SourceStyle("##=", "##%"),
    SourceStyle("##=", "##%", Kind.TEST),
)
WARM = NewAnnotation("tea.md#pot", "The pot MUST be warm, and it SHOULD be round.", Kind.CITATION)
TITLE = NewAnnotation("tea.md#pot", "", Kind.CITATION)


def inserted(
    path: str, text: str, line: int, wanted: NewAnnotation = WARM, style: SourceStyle = RUST, most: int = 100
) -> str:
    return insert_annotation(path, text, line, wanted, style, most).text


def test_above_the_line_with_its_indentation() -> None:
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST insert a citation above the given line, in the comment style of the source, with the line's
    ##% indentation and without an implied type.
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST wrap the citation at the requested width, and quote the whole requirement, only the words of
    ##% `--part`, or nothing for a section.
    text = "def f():\n \t x()\n"
    assert inserted("a.py", text, 2, style=PYTHON, most=34) == (
        "def f():\n"
        " \t \x23#= tea.md#pot\n"
        " \t \x23#% The pot MUST be warm, and\n"
        " \t \x23#% it SHOULD be round.\n"
        " \t x()\n"
    )
    assert inserted("a.py", "x()\n", 1, TITLE, PYTHON, most=5) == "\x23#= tea.md#pot\nx()\n"


def test_the_type_that_the_source_gives_is_not_written() -> None:
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST insert a citation above the given line, in the comment style of the source, with the line's
    ##% indentation and without an implied type.
    test = NewAnnotation("tea.md#pot", "Warm.", Kind.TEST)
    lines = [insert_annotation("a.py", "x()\n", 1, test, style, 100).lines for style in (TESTS, PYTHON)]
    assert lines == [
        ("\x23#= tea.md#pot", "\x23#% Warm."),
        ("\x23#= tea.md#pot", "\x23#= type=test", "\x23#% Warm."),
    ]
    assert choose_style([PYTHON, TESTS], Kind.TEST) is TESTS
    assert choose_style([PYTHON, TESTS], None) is choose_style([PYTHON, TESTS], Kind.TODO) is PYTHON


def test_fields() -> None:
    fields = {"reason": "Because it is so, and has been\nfor long.", "format": "markdown"}
    wanted = NewAnnotation("a=b.md#c", "Warm.", Kind.EXCEPTION, fields)
    assert insert_annotation("a.rs", "f();", 1, wanted, RUST, 32).lines == (
        "//= source=a=b.md#c",
        "//= type=exception",
        "//= reason=Because it is so, and",
        "//= reason=has been for long.",
        "//= format=markdown",
        "//# Warm.",
    )


def test_a_comment_that_begins_and_ends() -> None:
    text = "int f() {\n\treturn 1; /* one\n\t* two */\n}\n"
    warm = NewAnnotation("tea.md#pot", "Warm.", Kind.CITATION)
    assert inserted("a.c", text, 2, warm, C) == (
        "int f() {\n\t/*\n\t *= tea.md#pot\n\t *# Warm.\n\t */\n\treturn 1; /* one\n\t* two */\n}\n"
    )
    assert inserted("a.c", text, 3, warm, C) == (
        "int f() {\n\treturn 1; /* one\n\t*= tea.md#pot\n\t*# Warm.\n\t* two */\n}\n"
    )
    assert inserted("a.ml", "let f = 1\n", 1, warm, C) == "(*\n *= tea.md#pot\n *# Warm.\n *)\nlet f = 1\n"
    with pytest.raises(DuvetError, match=r"words with \*/ in them would end the comment"):
        inserted("a.c", text, 2, NewAnnotation("tea.md#pot", "A /* b */ c.", Kind.CITATION), C)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "there is no such line"),
        ("a\nb\n", 3, "there is no such line"),
        ("a\nb", 3, "there is no such line"),
        ("a\n", 0, "there is no such line"),
        ("#!/bin/sh\n", 1, "the file has to begin with the name of the program that runs it"),
        ("\ufeffa\n", 1, "the file has to begin with a byte order mark"),
        ("<?php\n", 1, "the file has to begin with what opens its code"),
        ("//= tea.md#cup\n//# Leak.\n//# Drip.\nf();\n", 2, "this line belongs to the annotation at a.rs:1"),
        ("//= tea.md#cup\n//# Leak.\n//# Drip.\nf();\n", 3, "this line belongs to the annotation at a.rs:1"),
    ],
)
def test_lines_that_are_refused(text: str, line: int, words: str) -> None:
    ##= man/spec/cite.md#what-is-refused
    ##% `duvet cite` MUST refuse a file that no source pattern matches, a line that the file does not have, and a place
    ##% inside an annotation or a continued line.
    with pytest.raises(DuvetError) as caught:
        inserted("a.rs", text, line)
    assert (caught.value.message, caught.value.line) == (words, line)


def test_lines_that_go_on() -> None:
    """A comment within a macro or a command would end it there, and one that goes on would swallow code."""
    ##= man/spec/cite.md#what-is-refused
    ##% `duvet cite` MUST refuse a file that no source pattern matches, a line that the file does not have, and a place
    ##% inside an annotation or a continued line.
    for end in ("\n", "\r\n"):
        text = end.join(("#define F \\", "  g(); \\", "  h()", "tea \\\\", "", "f();"))
        for line in (2, 3):
            with pytest.raises(DuvetError) as caught:
                inserted("a.rs", text, line, TITLE)
            assert (caught.value.message, caught.value.line) == ("the line above it goes on in this one", line)
        for line in (1, 4, 5, 6):
            assert inserted("a.rs", text, line, TITLE).count(end) == 6
    assert inserted("a.rs", "f(\\\n\n);\n", 3, TITLE) == "f(\\\n\n//= tea.md#pot\n);\n"
    path = NewAnnotation("tea.md#pot", "The path is C:\\", Kind.CITATION)
    with pytest.raises(DuvetError, match="the code below would belong to a comment that ends with a backslash"):
        inserted("a.rs", "f();\n", 1, path)
    assert inserted("a.c", "f();\n", 1, path, C) == "/*\n *= tea.md#pot\n *# The path is C:\\\n */\nf();\n"


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("//= tea.md#cup\n//# Leak.\n", 1, TITLE),
        ("//= tea.md#cup\nf();\n", 2, WARM),
        ("f();\n//# Leak.\n", 2, WARM),
    ],
)
def test_annotations_that_would_run_into_one_another(text: str, line: int, wanted: NewAnnotation) -> None:
    with pytest.raises(DuvetError, match="an annotation here would run into the one beside it"):
        inserted("a.rs", text, line, wanted)


def test_what_a_key_is_not_allowed_for() -> None:
    with pytest.raises(DuvetError, match="invalid key for type TODO"):
        inserted("a.rs", "f();\n", 1, NewAnnotation("a#b", "C.", Kind.TODO, {"reason": "d"}))


LINES = st.sampled_from(["fn f() {", "    g();", "\th();", "", "  ", "é // x", "    //= a.md#b", "    //# C.", "// d"])
TEXTS = st.builds(
    lambda bom, lines, ends, last: bom + "".join(map("".join, zip(lines, ends, strict=False))) + last,
    st.sampled_from(["", "\ufeff"]),
    st.lists(LINES, min_size=1, max_size=12),
    st.lists(st.sampled_from(["\n", "\r\n"]), min_size=12, max_size=12),
    st.sampled_from(["", "}"]),
)


@given(TEXTS, st.integers(1, 13), st.integers(20, 60), st.sampled_from([WARM, TITLE]))
def test_no_other_character_is_changed(text: str, line: int, most: int, wanted: NewAnnotation) -> None:
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST NOT change any other byte of the file, including line endings, a byte order mark and a missing
    ##% final newline.
    try:
        found = insert_annotation("a.rs", text, line, wanted, RUST, most)
    except DuvetError:
        return
    old, new = text.split("\n"), found.text.split("\n")
    count = len(found.lines)
    assert new[: line - 1] + new[line - 1 + count :] == old
    ended = [one.removesuffix("\r") for one in new[line - 1 : line - 1 + count]]
    assert tuple(ended) == found.lines
    above = old[line - 2] if line > 1 and line == len(old) else old[line - 1]
    assert {one.endswith("\r") for one in new[line - 1 : line - 1 + count]} == {above.endswith("\r")}
    before, after = (scan_comments("a.rs", one, RUST)[0] for one in (text, found.text))
    ours = [one for one in after if line <= one.line < line + count]
    assert [(one.target, one.quote) for one in ours] == [(wanted.target, wanted.quote)]
    assert len(after) == len(before) + 1
