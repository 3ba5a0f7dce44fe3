"""What has changed between two texts, word by word."""

from __future__ import annotations

import pytest

from duvet.trace.nearest import make_word_diff


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("a b c", "a b c", "a b c"),
        ("a b c", "a x y c", "a [-b-]{+x y+} c"),
        ("a b c", "b c", "[-a-] b c"),
        ("a b", "a\n b  c", "a b {+c+}"),
        ("", "", ""),
    ],
)
def test_word_diff(old: str, new: str, shown: str) -> None:
    assert make_word_diff(old, new) == shown
