"""Annotations of the usual form, compared with what comes out line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.model import Annotation, Kind, Level, Problem, Source
from duvet.sources.comments import (
    LineRun,
    SourceStyle,
    find_runs,
    make_finder,
    parse_block,
    parse_usual_run,
    split_blocks,
    tokenize_run,
)

STYLES = [
    SourceStyle(),
    SourceStyle("*=", "*#", Kind.TEST, "https://host"),
    SourceStyle("-- =", "-- #"),
    SourceStyle("#= ", "#% "),
    SourceStyle("é", "e"),
    SourceStyle("//", "//="),
    SourceStyle("//=", "//"),
    SourceStyle("=", "=#="),
    SourceStyle("", "#"),
    SourceStyle("=", ""),
    SourceStyle(" *=", "*#"),
    SourceStyle("*=", "\u3000*#"),
]
WORDS = st.sampled_from(["a.md#b", "two  words", "é", "type=test", "level = MAY", "reason=x", "type=x", "source=a", ""])
BLANKS = st.sampled_from(["", "", "", " ", "\t", "\r", "\u00a0", "\x85", "\x1c"])


def in_usual_form(text: str, style: SourceStyle) -> list[Annotation | None]:
    finder = make_finder(style.meta, style.content)
    return [parse_usual_run("a.rs", run, style, finder) for run in find_runs(text, finder)]


def line_by_line(run: LineRun, style: SourceStyle) -> tuple[list[Annotation], list[Problem]]:
    found: list[Annotation] = []
    problems: list[Problem] = []
    for block in split_blocks(tokenize_run(run, style.meta, style.content)):
        found += parse_block("a.rs", run.found.string, block, style, problems)
    return found, problems


@st.composite
def sources(draw: st.DrawFn) -> tuple[str, SourceStyle]:
    """A few annotations, and what may go wrong around them."""
    style = draw(st.sampled_from(STYLES))
    lines = []
    for _ in range(draw(st.integers(1, 9))):
        first = draw(st.sampled_from([style.meta, style.content, style.content, "x = 1; " + style.meta, ""]))
        lines.append("".join([draw(BLANKS), first, draw(BLANKS), draw(WORDS), draw(BLANKS)]))
    usual = f" {style.meta} a.md#b\n {style.meta} type=test\n {style.content} one\n{style.content} two"
    lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from([usual, f"\n{usual}\n", ""])))
    return "\n".join(lines), style


@given(sources())
def test_equals_what_comes_out_line_by_line(source: tuple[str, SourceStyle]) -> None:
    text, style = source
    finder = make_finder(style.meta, style.content)
    for run in find_runs(text, finder):
        annotation = parse_usual_run("a.rs", run, style, finder)
        if annotation is not None:
            assert ([annotation], []) == line_by_line(run, style)


def test_target_fields_and_text() -> None:
    text = "x\n  *= a.md#b \r\n  *= type=todo\r\n  *= level = SHOULD\r\n  *# one  two\r\n\t*#\r\n\u00a0*#three \r\n"
    source = Source(7, 13, 7, len(text) - 3, text.index("one"), len(text) - 3)
    assert in_usual_form(text, SourceStyle("*=", "*#", blob_link="https://host")) == [
        Annotation(
            "a.rs",
            2,
            Kind.TODO,
            "a.md#b",
            "one  two three",
            Level.SHOULD,
            blob_link="https://host",
            source=source,
        )
    ]


@pytest.mark.parametrize(
    "text",
    [
        "//= a#1",
        "//= a#1\n//= type=test",
        "//# one",
        "//= a=1\n//# one",
        "//= a#1\n//= b#2\n//# one",
        "//= a#1\n//= type=x\n//# one",
        "//= type=test\n//= a#1\n//# one",
        "//= a#1\n//# one\n//= b#2\n//# two",
        "//=\n//# one",
        "//= a#1\n//#\n//# one",
        "//= a#1\n//# one\n//# ",
        "x //= a#1\n//# one",
    ],
)
def test_any_other_form(text: str) -> None:
    assert in_usual_form(text, SourceStyle()) == [None]


@pytest.mark.parametrize("style", STYLES[5:])
def test_prefixes_that_are_hard_to_tell_apart(style: SourceStyle) -> None:
    found = in_usual_form(f"{style.meta} a#1\n{style.content} one\n", style)
    assert found and set(found) == {None}
