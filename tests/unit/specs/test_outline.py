"""Breaks between the lines of Markdown, quirk by quirk: no sentence crosses them."""

from __future__ import annotations

from tests.unit.specs.shown import lines, sections


def test_breaks_stand_around_items() -> None:
    ##= man/spec/trace.md#requirements
    ##% Each sentence, and each item of a Markdown list, with a keyword of RFC 2119 MUST be a requirement with the level
    ##% of its strongest keyword.
    assert lines("# A\nlead:\n- one\n  more\n- two\n\n  three\n\nend\n") == [
        "lead:", None, "- one", "  more", None, "- two", "", "  three", None, "", "end",
    ]  # fmt: skip


def test_breaks_stand_around_nested_items() -> None:
    assert lines("# A\nx\n1. one\n   - sub\n     lazy\nlazier\n2. two\n") == [
        "x", None, "1. one", None, "   - sub", "     lazy", "lazier", None, "2. two",
    ]  # fmt: skip


def test_empty_items_have_breaks() -> None:
    assert lines("# A\nx\n\n-\n- a\n\n*\n\ny\n") == [
        "x", "", None, "-", None, "- a", None, "", None, "*", None, "", "y",
    ]  # fmt: skip


def test_a_break_at_the_edge_of_a_section_is_none() -> None:
    assert lines("# A\n\n- one\n- two\n\n") == ["- one", None, "- two"]


def test_an_item_ends_after_the_line_on_which_its_last_event_begins() -> None:
    text = "# A\nx\n- ```\n  a\n\n  ```\n- b\\\n  *c\n  d*\ny\n"
    assert lines(text) == ["x", None, "- ```", "  a", None, "", "  ```", None, "- b\\", "  *c", "  d*", "y"]


def test_an_event_at_a_line_end_counts_for_the_next_line() -> None:
    assert lines("# A\nx\n- ```\n\n\ny\n") == ["x", None, "- ```", "", "", None, "y"]


def test_the_break_after_an_item_with_a_heading_comes_a_line_later() -> None:
    assert sections("# A\nx\n- # B\nc\nd\n") == [("a", "A", 2, 3, ["x"]), ("b", "B", 10, 11, ["c", None, "d"])]


def test_an_item_with_a_heading_cuts_the_heading_after_it() -> None:
    assert sections("- # A\none\ntwo\nthree\n===\nx\n") == [
        ("a", "A", 4, 5, ["two"]),
        ("three", "three", 14, 19, ["x"]),
    ]
