"""Numbered titles, and which of them may follow which."""

from __future__ import annotations

import pytest

from duvet.specs.ietf import LETTER_A, NumberedHeading, can_be_heading, is_successor, parse_heading


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("1.  Intro", NumberedHeading("section-1", (1,), "Intro", 4)),
        ("1 Intro", NumberedHeading("section-1", (1,), "Intro", 2)),
        ("2.1.3. A  b ", NumberedHeading("section-2.1.3", (2, 1, 3), "A  b", 7)),
        ("1:  First", NumberedHeading("section-1", (1,), "First", 4)),
        ("01.  Zero before", NumberedHeading("section-01", (1,), "Zero before", 5)),
        ("1.0 Zero behind", NumberedHeading("section-1.0", (1, 0), "Zero behind", 4)),
        ("199.  Last", NumberedHeading("section-199", (199,), "Last", 6)),
        ("3\u00a0Wide", NumberedHeading("section-3", (3,), "Wide", 2)),
        ("1.", NumberedHeading("section-1", (1,), "", 1)),
        ("2.1..", NumberedHeading("section-2.1", (2, 1), "", 3)),
        ("2.  ", NumberedHeading("section-2", (2,), "", 4)),
        ("A.  Letter", NumberedHeading("appendix-A", (LETTER_A,), "Letter", 4)),
        ("A.1  Part", NumberedHeading("appendix-A.1", (LETTER_A, 1), "Part", 5)),
        ("B2.  Part", NumberedHeading("appendix-B2", (LETTER_A + 1, 2), "Part", 5)),
        ("C.1", NumberedHeading("appendix-C.1", (LETTER_A + 2, 1), "", 3)),
    ],
)
def test_numbers(line: str, heading: NumberedHeading) -> None:
    assert parse_heading(line) == heading


@pytest.mark.parametrize(
    ("line", "title", "column"),
    [
        ("Appendix B", "", 10),
        ("Appendix B.", "", 10),
        ("Appendix B. Title", "Title", 12),
        ("Appendix B: Title", "Title", 12),
        ("APPENDIX B : Title", "Title", 13),
        ("Appendix B - Title", "Title", 13),
        ("Annex B -- Title", "Title", 11),
        ("Annex B Title", "Title", 8),
        ("Annex B -Title", "-Title", 8),
        ("Annex B :", ":", 8),
    ],
)
def test_appendixes(line: str, title: str, column: int) -> None:
    assert parse_heading(line) == NumberedHeading("appendix-B", (LETTER_A + 1,), title, column)


def test_numbered_appendixes() -> None:
    assert parse_heading("Appendix A.1. Title") == NumberedHeading("appendix-A.1", (LETTER_A, 1), "Title", 14)
    assert parse_heading("Appendix 3 Title") == NumberedHeading("appendix-3", (3,), "Title", 11)


@pytest.mark.parametrize(
    "line",
    [
        "",
        " 1. Indented",
        "Title",
        "1.Title",
        "1) Title",
        "A Title",
        "A1",
        "A.",
        "AB. Title",
        "Appendix  A",
        "Appendix AB",
        "Appendix a. Title",
        "appendix A",
        "0. Zero",
        "A.0 Zero",
        "200. Large",
        "1.200 Large",
        "99999999999999999999 Large",
        "1..2 Gap",
        ". Nothing",
        ".1 Nothing",
        "1. Intro ..... 3",
        "1. Intro . . . 3",
        "1. Intro  . .  3",
        "1. wide     gap",
        "1. ; comment",
        "1. struct {",
        "1. call(",
        "1. list[",
        "1. statement;",
    ],
)
def test_no_headings(line: str) -> None:
    assert parse_heading(line) is None


@pytest.mark.parametrize(
    ("last", "number", "expected"),
    [
        ("1", "2", True),
        ("1", "1", False),
        ("1", "3", False),
        ("2", "1", False),
        ("1", "1.1", True),
        ("1", "1.7", True),
        ("1.1", "1.2", True),
        ("1.1", "1.3", False),
        ("1.9", "2.5", True),
        ("1.2", "1", True),
        ("7", "A", True),
        ("7", "B", False),
        ("7.1", "A.4", True),
        ("A", "B", True),
        ("A", "C", False),
        ("A.1", "A.2", True),
        ("A", "1", False),
        ("Z", "A", False),
    ],
)
def test_order_of_numbers(last: str, number: str, expected: bool) -> None:
    before, after = parse_heading(f"{last}. x"), parse_heading(f"{number}. x")
    assert before and after
    assert is_successor(after.numbers, before.numbers) is expected


def test_a_line_after_a_break_needs_no_order() -> None:
    heading = NumberedHeading("section-7", (7,), "Seven", 4)
    assert can_be_heading(heading, (1,), after_break=True)
    assert can_be_heading(heading, None, after_break=True)
    assert not can_be_heading(heading, (1,), after_break=False)
    assert can_be_heading(heading, (6,), after_break=False)


def test_only_one_begins_without_a_break() -> None:
    lines = ["1 a", "1.0 a", "01 a", "1.1 a", "2 a"]
    headings = [parse_heading(line) for line in lines]
    assert [bool(each and can_be_heading(each, None, after_break=False)) for each in headings] == [True, True] + [
        False
    ] * 3


def test_a_bar_inside_the_title_asks_for_order() -> None:
    assert not can_be_heading(NumberedHeading("section-5", (5,), "x | y", 4), (1,), after_break=True)
    assert can_be_heading(NumberedHeading("section-2", (2,), "x | y", 4), (1,), after_break=True)
    assert can_be_heading(NumberedHeading("section-5", (5,), "|x|", 4), (1,), after_break=True)
