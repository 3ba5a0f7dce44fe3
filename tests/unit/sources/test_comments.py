"""Annotations in comments: grouping, quotes and what is cut off."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duvet.model import Annotation, Format, Kind, Level, Place, Problem, Severity, Source
from duvet.sources.comments import SourceStyle, scan_comments


def quotes(text: str, style: SourceStyle = SourceStyle()) -> list[tuple[int, str, str]]:  # noqa: B008 - frozen
    """Line, target and quote of each annotation, where nothing may be wrong."""
    found, problems = scan_comments("a.rs", text, style)
    assert problems == []
    return [(one.line, one.target, one.quote) for one in found]


def problems(text: str) -> list[Problem]:
    return scan_comments("a.rs", text, SourceStyle())[1]


def test_every_field() -> None:
    text = """\
fn main() {
    //= spec.md#pot
    //= type=todo
    //= level=SHOULD
    //= format=markdown
    //= feature=tea pots
    //= tracking-issue=12
    //# The pot MUST
    //# be warm.
}
"""
    assert scan_comments("src/a.rs", text, SourceStyle(blob_link="https://host")) == (
        [
            Annotation(
                path="src/a.rs",
                line=2,
                kind=Kind.TODO,
                target="spec.md#pot",
                quote="The pot MUST be warm.",
                level=Level.SHOULD,
                format=Format.MARKDOWN,
                feature="tea pots",
                tracking_issue="12",
                blob_link="https://host",
                source=Source(20, 31, 20, 183, 154, 183),
            )
        ],
        [],
    )


def test_a_target_alone_refers_to_the_title() -> None:
    ##= man/spec/trace.md#annotations
    ##% An annotation without a type MUST have the type of its source, or else be a citation.
    text = "//= spec.md#pot\n"
    annotation = Annotation("a.rs", 1, Kind.TEST, "spec.md#pot", "", source=Source(4, 15, 4, 15))
    assert scan_comments("a.rs", text, SourceStyle(kind=Kind.TEST)) == ([annotation], [])


def test_a_target_after_text_begins_the_next_annotation() -> None:
    text = "//= a#1\n//# one\n//= a#2\n//= a#3\n//# two"
    found, wrong = scan_comments("a.rs", text.replace("//= a#3", "//= type=test"), SourceStyle())
    assert [(one.line, one.target, one.quote, one.kind) for one in found] == [
        (1, "a#1", "one", Kind.CITATION),
        (3, "a#2", "two", Kind.TEST),
    ]
    assert wrong == []


def test_lines_in_any_order_make_one_annotation() -> None:
    ##= man/spec/trace.md#annotations
    ##% Consecutive lines that start with one of the two prefixes MUST form an annotation, and a target after quoted
    ##% text MUST start the next one.
    assert quotes("//= type=test\n//= a#1\n//#\n//# one\n//#  \n//# two\n") == [(1, "a#1", "one two")]


def test_an_empty_line_of_text_keeps_the_block_together() -> None:
    assert quotes("//= a#1\n//#\n//# one") == [(1, "a#1", "one")]


def test_any_other_line_ends_the_annotation() -> None:
    for gap in ("", "// note", "code();"):
        found, wrong = scan_comments("a.rs", f"//= a#1\n{gap}\n//= a#2\n//# two", SourceStyle())
        assert [(one.line, one.quote) for one in found] == [(1, ""), (3, "two")]
        assert wrong == []


def test_other_styles() -> None:
    assert quotes("/*\n *= a#1\n *# one\n */", SourceStyle("*=", "*#")) == [(2, "a#1", "one")]
    assert quotes("(* a#1\n# one", SourceStyle("(*", "#")) == [(1, "a#1", "one")]


def test_values_keep_what_is_behind_the_first_equals_sign() -> None:
    text = "//= source = https://host/?a=b#c\n//= reason = a = b\n"
    (found,), _ = scan_comments("a.rs", text, SourceStyle())
    assert (found.target, found.reason, found.source.target) == ("https://host/?a=b#c", "a = b", (13, 32))


def test_text_that_is_cut_off_from_its_target() -> None:
    ##= man/spec/trace.md#annotations
    ##% duvet SHOULD warn about quoted text without a target, or with a gap before it.
    assert problems("//= a#1\n\n//# one\n//# two\n") == [
        Problem(
            "DUV028",
            "this text is cut off from its target on line 1, which now quotes nothing",
            "a.rs",
            Place(3, 5, 3),
            "text here",
            "remove the lines between the target and the text",
            Severity.WARNING,
        )
    ]


def test_text_without_a_target() -> None:
    ##= man/spec/trace.md#annotations
    ##% duvet SHOULD warn about quoted text without a target, or with a gap before it.
    stray = Problem(
        "DUV027",
        "this text has no target, so it is ignored",
        "a.rs",
        Place(1, 5, 3),
        "text here",
        "put a line with the target (spec#section) above it, or use another comment prefix",
        Severity.WARNING,
    )
    assert problems("//# one\n") == [stray]
    assert [one.code for one in problems("//= a#1\n\n\n\n//# far away")] == ["DUV027"]
    assert [one.code for one in problems("//= a#1\n//# one\n\n//# two")] == ["DUV027"]
    assert [one.code for one in problems("//# one\n\n//# two")] == ["DUV027", "DUV027"]
    assert problems("//#\n") == []


def test_what_is_wrong_with_one_block_hides_no_other() -> None:
    found, wrong = scan_comments("a.rs", "//= a#1\n//= type=x\n\n//= a#2\n\n//= level=x\n", SourceStyle())
    assert [one.target for one in found] == ["a#2"]
    assert [(one.code, one.place.line) for one in wrong] == [("DUV022", 2), ("DUV023", 6), ("DUV025", 6)]


@given(st.text(st.sampled_from("//=//#\n\n =#ab\u00a0é"), max_size=60))
def test_spans_hold_what_they_say(text: str) -> None:
    for found in scan_comments("a.rs", text, SourceStyle())[0]:
        source = found.source
        if source.target[0]:
            assert text[slice(*source.target)] == found.target
        assert source.text[0] <= source.text[1]
        if found.quote:
            parts = [line.lstrip("/#= \u00a0") for line in text[slice(*source.quote)].split("\n")]
            assert parts[0].startswith(found.quote[:1].lstrip("/#= \u00a0"))
            assert source.quote[1] == source.text[1]
