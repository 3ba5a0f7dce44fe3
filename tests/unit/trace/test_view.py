"""A section as one line of bytes, and the way back to its file."""

from __future__ import annotations

import pytest

from duvet.trace.match import SectionView, cut_view, make_section_view
from duvet.trace.records import Piece
from tests.unit.trace.sections import section_of

SECTION = section_of("  ab \n\n\u00a0\t\ncé\u2003 d\u00a0\n\tx")


def test_lines_are_trimmed_and_joined() -> None:
    data = "ab cé\u2003 d x".encode()
    assert make_section_view(SECTION) == SectionView(SECTION, data, [0, 3, 4], [0, 3, 12, 14])


def test_nothing_to_see() -> None:
    section = section_of("\n \n")
    assert (make_section_view(section), cut_view(make_section_view(section), 0, 0)) == (
        SectionView(section, b"", [], [0]),
        (),
    )


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 2, (Piece(0, 6, 8),)),
        (0, 3, (Piece(0, 6, 8),)),
        (2, 3, ()),
        (1, 4, (Piece(0, 7, 7), Piece(3, 15, 15))),
        (0, 13, (Piece(0, 6, 8), Piece(3, 15, 23), Piece(4, 27, 27))),
        (4, 9, (Piece(3, 16, 21),)),
        (12, 13, (Piece(4, 27, 27),)),
        (5, 5, ()),
    ],
)
def test_pieces(start: int, end: int, expected: tuple[Piece, ...]) -> None:
    assert cut_view(make_section_view(SECTION), start, end) == expected
