"""Numbered titles, and which of them may follow which."""

from __future__ import annotations

import pytest

from duvet.specs.numbering import LETTER_A, Heading, follows, heading_of, may_stand


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("1.  Intro", Heading("section-1", (1,), "Intro", 4)),
        ("1 Intro", Heading("section-1", (1,), "Intro", 2)),
        ("2.1.3. A  b ", Heading("section-2.1.3", (2, 1, 3), "A  b", 7)),
        ("1:  First", Heading("section-1", (1,), "First", 4)),
        ("01.  Zero before", Heading("section-01", (1,), "Zero before", 5)),
        ("1.0 Zero behind", Heading("section-1.0", (1, 0), "Zero behind", 4)),
        ("199.  Last", Heading("section-199", (199,), "Last", 6)),
        ("3\u00a0Wide", Heading("section-3", (3,), "Wide", 2)),
        ("1.", Heading("section-1", (1,), "", 1)),
        ("2.1..", Heading("section-2.1", (2, 1), "", 3)),
        ("2.  ", Heading("section-2", (2,), "", 4)),
        ("A.  Letter", Heading("appendix-A", (LETTER_A,), "Letter", 4)),
        ("A.1  Part", Heading("appendix-A.1", (LETTER_A, 1), "Part", 5)),
        ("B2.  Part", Heading("appendix-B2", (LETTER_A + 1, 2), "Part", 5)),
        ("C.1", Heading("appendix-C.1", (LETTER_A + 2, 1), "", 3)),
    ],
)
def test_numbers(line: str, heading: Heading) -> None:
    assert heading_of(line) == heading


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
    assert heading_of(line) == Heading("appendix-B", (LETTER_A + 1,), title, column)


def test_numbered_appendixes() -> None:
    assert heading_of("Appendix A.1. Title") == Heading("appendix-A.1", (LETTER_A, 1), "Title", 14)
    assert heading_of("Appendix 3 Title") == Heading("appendix-3", (3,), "Title", 11)


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
    assert heading_of(line) is None


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
    before, after = heading_of(f"{last}. x"), heading_of(f"{number}. x")
    assert before and after
    assert follows(after.numbers, before.numbers) is expected


def test_a_line_after_a_break_needs_no_order() -> None:
    heading = Heading("section-7", (7,), "Seven", 4)
    assert may_stand(heading, (1,), after_break=True)
    assert may_stand(heading, None, after_break=True)
    assert not may_stand(heading, (1,), after_break=False)
    assert may_stand(heading, (6,), after_break=False)


def test_only_one_begins_without_a_break() -> None:
    lines = ["1 a", "1.0 a", "01 a", "1.1 a", "2 a"]
    headings = [heading_of(line) for line in lines]
    assert [bool(each and may_stand(each, None, after_break=False)) for each in headings] == [True, True] + [False] * 3


def test_a_bar_inside_the_title_asks_for_order() -> None:
    assert not may_stand(Heading("section-5", (5,), "x | y", 4), (1,), after_break=True)
    assert may_stand(Heading("section-2", (2,), "x | y", 4), (1,), after_break=True)
    assert may_stand(Heading("section-5", (5,), "|x|", 4), (1,), after_break=True)
