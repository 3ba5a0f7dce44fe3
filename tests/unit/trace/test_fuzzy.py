"""Quotes that differ by one byte, compared with the edit distance of textbooks."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duvet.trace.match import SearchText, find_one_edit

TEXTS = st.text(st.sampled_from("ab "), max_size=14) | st.text(st.sampled_from("aé斩🩸"), max_size=5)


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        (b"warm", b"the warn pot", (4, 8)),
        (b"warm", b"the wrm pot", (4, 7)),
        (b"warm", b"the waarm pot", (4, 9)),
        (b"warm", b"the arm", (3, 7)),
        (b"warm", b"arm", (0, 3)),
        (b"warm", b"war", (0, 3)),
        (b"warm", b"warp xarm", (0, 4)),
        (b"warm", b"the wram pot", None),
        (b"warm", b"cold", None),
        (b"x", b"abc", (0, 1)),
        (b"x", b"", (0, 0)),
        (b"ab", b"", None),
    ],
)
def test_the_first_stretch(quote: bytes, text: bytes, found: tuple[int, int] | None) -> None:
    assert find_one_edit(quote, SearchText(text)) == found


def best_stretches(quote: bytes, text: bytes) -> list[tuple[int, int, int]]:
    """For each end in the text the least number of edits, and of the stretches with so few the start of the longest."""
    row = [(0, start) for start in range(len(text) + 1)]
    for taken, wanted in enumerate(quote, 1):
        above, row = row, [(taken, 0)]
        for end, byte in enumerate(text, 1):
            (kept, kept_start), (skipped, skipped_start), (added, added_start) = above[end - 1], above[end], row[-1]
            row.append(
                min((kept + (byte != wanted), kept_start), (skipped + 1, skipped_start), (added + 1, added_start))
            )
    return [(edits, start, end) for end, (edits, start) in enumerate(row)]


def plain_find(quote: bytes, text: bytes) -> tuple[int, int] | None:
    kept: list[tuple[int, int]] = []
    for edits, start, end in best_stretches(quote, text):
        if edits <= 1:
            if kept and start <= kept[-1][0]:
                kept.pop()
            kept.append((start, end))
    return kept[0] if kept else None


@given(TEXTS.filter(bool), TEXTS)
@example("é", "🩸")
@example("ab", "bab")
def test_equals_the_textbook(quote: str, text: str) -> None:
    if quote not in text:
        assert find_one_edit(quote.encode(), SearchText(text.encode())) == plain_find(quote.encode(), text.encode())


@given(st.text(st.sampled_from("abc def"), min_size=1, max_size=30), st.data())
def test_any_one_edit_is_found(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text) - 1))
    edit = data.draw(st.sampled_from(["", "x", "xx"]))
    quote = text[:at] + edit[:1] + text[at + (len(edit) < 2) :]
    if quote and quote not in text:
        assert (
            find_one_edit(quote.encode(), SearchText(text.encode()))
            == plain_find(quote.encode(), text.encode())
            is not None
        )
