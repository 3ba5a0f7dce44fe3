"""Annotations that are written into a text, and mended there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.model import Annotation, Edit, Kind
from duvet.sources.comments import SourceStyle, scan_comments
from duvet.sources.editor import (
    apply_edits,
    find_indentation,
    find_line_end,
    format_annotation,
    make_comment_quote_edits,
    make_comment_target_edit,
    make_insertion_edit,
)

STYLES = (
    SourceStyle(),
    SourceStyle("*=", "*#"),
    SourceStyle("##=", "##%"),
    SourceStyle("-- =", "-- #"),
    SourceStyle("!=", "!#", Kind.TEST),
)
WORDS = st.text("aZé.,-日\"'", min_size=1, max_size=9)
QUOTES = st.lists(WORDS, min_size=1, max_size=25)


def only(text: str, style: SourceStyle = SourceStyle()) -> Annotation:  # noqa: B008 - frozen
    """The one annotation of a text."""
    found, problems = scan_comments("a.rs", text, style)
    assert problems == []
    (annotation,) = found
    return annotation


def test_of_edits_that_meet_the_first_is_made() -> None:
    edits = [Edit(1, 3, 1, 6, "Y"), Edit(1, 2, 1, 4, "X"), Edit(1, 4, 1, 4, "Z"), Edit(1, 2, 1, 4, "X")]
    assert apply_edits("abcdefg\n", edits) == "aXZdefg\n"


def mended(text: str, quote: str, style: SourceStyle = SourceStyle()) -> str:  # noqa: B008 - frozen
    return apply_edits(text, make_comment_quote_edits(text, only(text, style), style, quote))


def test_a_new_annotation() -> None:
    quote = "The kettle MUST stop heating when the water boils, and it MUST NOT start again before it is asked to."
    fields = {
        "reason": "A speaker costs more than the kettle, says the one who has to pay for both of them in the end."
    }
    assert format_annotation(SourceStyle(), "    ", "a.md#b=c", quote, kind=Kind.EXCEPTION, fields=fields, most=60) == [
        "    //= source=a.md#b=c",
        "    //= type=exception",
        "    //= reason=A speaker costs more than the kettle, says",
        "    //= reason=the one who has to pay for both of them in",
        "    //= reason=the end.",
        "    //# The kettle MUST stop heating when the water boils,",
        "    //# and it MUST NOT start again before it is asked to.",
    ]


def test_the_type_of_the_source_is_not_written() -> None:
    tests = SourceStyle("##=", "##%", Kind.TEST)
    assert format_annotation(tests, "", "a#b", "Boil.", kind=Kind.TEST) == ["##= a#b", "##% Boil."]
    assert format_annotation(tests, "", "a#b", "") == ["##= a#b", "##= type=implementation"]


@pytest.mark.parametrize(
    ("text", "line", "result"),
    [
        ("a\nb\n", 2, "a\nx\ny\nb\n"),
        ("a\r\nb\r\n", 1, "x\r\ny\r\na\r\nb\r\n"),
        ("a\nb", 3, "a\nb\nx\ny\n"),
        ("a\nb\n", 3, "a\nb\nx\ny\n"),
        ("", 1, "x\ny\n"),
    ],
)
def test_lines_are_put_above_a_line(text: str, line: int, result: str) -> None:
    assert apply_edits(text, [make_insertion_edit(text, line, ["x", "y"])]) == result


def test_the_indentation_and_the_end_of_lines() -> None:
    assert [find_indentation("a\n \t b\n\n  ", line) for line in (1, 2, 3, 4)] == ["", " \t ", "", "  "]
    assert [find_line_end(text, 1) for text in ("", "a", "\n", "a\n\r\n", "a\r\n")] == ["\n", "\n", "\n", "\n", "\r\n"]
    assert [find_line_end("a\r\n\nb\r\nc", line) for line in (1, 2, 3, 4)] == ["\r\n", "\n", "\r\n", "\r\n"]


def test_a_target_is_replaced_and_nothing_else() -> None:
    text = "\ufeffx\r\n\t//=  a.md#b \r\n\t//# Boil.\r\n"
    assert make_comment_target_edit(text, only(text), "a.md#c") == Edit(2, 7, 2, 13, "a.md#c")
    assert apply_edits(text, [make_comment_target_edit(text, only(text), "a.md#c")]) == text.replace("a.md#b", "a.md#c")


BEFORE = """\
fn f() {
    //= a.md#b
    //# The kettle MUST stop heating
    //#   when the water boils, and
    //#
    //# then it SHOULD beep.
    let x = 1;
"""


@pytest.mark.parametrize(
    ("quote", "lines"),
    [
        # A word on one line leaves the others as they are, with their blanks.
        (
            "The pot MUST stop heating when the water boils, and then it SHOULD beep.",
            ["//# The pot MUST stop heating", "//#   when the water boils, and", "//#", "//# then it SHOULD beep."],
        ),
        # A line that nothing is left for goes.
        (
            "The kettle MUST stop heating then it SHOULD beep.",
            ["//# The kettle MUST stop heating", "//#", "//# then it SHOULD beep."],
        ),
        ("then it SHOULD beep.", ["//#", "//# then it SHOULD beep."]),
        # What gets wider than the comment was flows.
        (
            "The kettle MUST stop heating itself when the water boils, and then it SHOULD beep.",
            [
                "//# The kettle MUST stop heating",
                "//#   itself when the water",
                "//# boils, and then it SHOULD",
                "//# beep.",
            ],
        ),
        (
            "The kettle MUST stop heating when the water boils, and then it SHOULD beep twice.",
            [
                "//# The kettle MUST stop heating",
                "//#   when the water boils, and",
                "//#",
                "//# then it SHOULD beep twice.",
            ],
        ),
    ],
)
def test_a_mended_quote(quote: str, lines: list[str]) -> None:
    head, tail = "fn f() {\n    //= a.md#b\n", "    let x = 1;\n"
    assert mended(BEFORE, quote) == head + "".join(f"    {line}\n" for line in lines) + tail
    windows = "\ufeff" + BEFORE.replace("\n", "\r\n")
    assert mended(windows, quote) == "\ufeff" + (head + "".join(f"    {line}\n" for line in lines) + tail).replace(
        "\n", "\r\n"
    )


def test_a_quote_on_one_line_may_get_wider() -> None:
    text = "//= a#b\n//# Boil."
    assert mended(text, "Boil " + "more " * 20 + "water.") == f"//= a#b\n//# Boil {'more ' * 20}water."
    assert mended(text, "Boil " + "more " * 30 + "water.") == (
        f"//= a#b\n//# Boil {('more ' * 22).strip()}\n//# {'more ' * 8}water."
    )


@given(st.sampled_from(STYLES), st.sampled_from(Kind), st.sampled_from(["", "  ", "\t"]), QUOTES, st.integers(1, 90))
def test_what_is_written_is_read_again(
    style: SourceStyle, kind: Kind, indent: str, quote: list[str], most: int
) -> None:
    fields = {"reason": "so be it"} if kind is Kind.EXCEPTION else {}
    lines = format_annotation(style, indent, "a.md#b", " ".join(quote), kind=kind, fields=fields, most=most)
    found = only("".join(f"{line}\n" for line in lines), style)
    assert (found.kind, found.target, found.quote) == (kind, "a.md#b", " ".join(quote))
    assert found.reason == fields.get("reason", "")


@given(
    style=st.sampled_from(STYLES),
    lines=st.lists(st.lists(WORDS, max_size=6), min_size=1, max_size=6).filter(lambda lines: bool(lines[0])),
    quote=QUOTES,
    end=st.sampled_from(["\n", "\r\n"]),
    keep=st.booleans(),
)
def test_a_mended_quote_is_read_again(
    style: SourceStyle, lines: list[list[str]], quote: list[str], end: str, keep: bool
) -> None:
    """Whatever stood there and whatever is to stand there; all else keeps its bytes."""
    old = [word for line in lines for word in line]
    wanted = [*old[: len(old) // 2], *quote, *old[len(old) // 2 :]] if keep else quote
    head, tail = f"x{end}{style.meta} a#b{end}", f"{end}  y{end}"
    text = head + end.join(f"\t{style.content} {' '.join(line)}".rstrip() for line in lines) + tail
    new = mended(text, " ".join(wanted), style)
    assert only(new, style).quote == " ".join(wanted)
    assert new.startswith(head) and new.endswith(tail)
    assert mended(new, " ".join(wanted), style) == new
