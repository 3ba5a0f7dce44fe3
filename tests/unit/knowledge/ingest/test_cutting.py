"""Texts are cut so that nothing is lost."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from duvet.knowledge.ingest.chunks import OVERLAP, WINDOW, cut_pieces
from duvet.store.records import TextPiece

LINE = "word " * 15 + "end\n"
TEXTS = st.lists(
    st.sampled_from(["word ", "\n", LINE, "\n\n# Heading\n", "é" * 90, "  \n" * 40, "x" * 700]), max_size=60
).map("".join)


@given(TEXTS)
def test_nothing_is_lost(text: str) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% `duvet ingest` MUST cut a text into chunks of at most 1,000 characters, at headings and line ends, with an
    ##% overlap of up to 200 characters.
    headings = [at for at in range(len(text)) if text.startswith("# Heading", at)]
    found = list(cut_pieces(text, headings))
    held = {at for one in found for at in range(one.start, one.end)}
    assert not {text[at] for at in range(len(text)) if at not in held} - {" ", "\n"}
    for one in found:
        assert 0 < one.end - one.start <= WINDOW
        assert one.line_start == text.count("\n", 0, one.start) + 1
        assert one.line_end == text.count("\n", 0, one.start + len(text[one.start : one.end].rstrip("\n"))) + 1
    for one, other in pairwise(found):
        assert one.start < other.start and one.end < other.end
        assert one.end - other.start <= OVERLAP
        assert other.start not in headings or one.end <= other.start or one.start < other.start


def test_where_cuts_are_made() -> None:
    text = LINE * 30
    cut = list(cut_pieces(text))
    assert {text[one.start - 1 : one.start] for one in cut[1:]} == {"\n"} == {text[one.end - 1] for one in cut}
    assert [(one.line_start, one.line_end) for one in cut] == [(1, 12), (11, 22), (21, 30)]
    assert all(one.end - next_one.start <= OVERLAP for one, next_one in pairwise(cut))


def test_a_heading_begins_a_piece_and_repeats_nothing() -> None:
    text = LINE * 8 + "# Heading\n" + LINE * 3
    first, second = cut_pieces(text, [len(LINE) * 8], lambda start, end: f"{start}-{end}")
    assert first.end == second.start == len(LINE) * 8
    assert second == TextPiece(start=632, end=len(text), line_start=9, line_end=12, title=f"632-{len(text)}")


def test_one_long_line_is_cut_between_words() -> None:
    cut = list(cut_pieces("word " * 500))
    assert [(one.start, one.end) for one in cut[:3]] == [(0, 1000), (800, 1800), (1600, 2500)]
    assert [(one.start, one.end) for one in cut_pieces("x" * 1500)] == [(0, 1000), (800, 1500)]


def test_blank_texts_have_no_pieces() -> None:
    assert [*cut_pieces(""), *cut_pieces("\n \n" * 1000)] == []
