"""What the regular expressions take for white space."""

from __future__ import annotations

from duvet.sources.comments import make_finder
from duvet.text import WHITESPACE


def test_white_space_is_that_of_unicode() -> None:
    texts = [f"{char}a{char}" for char in map(chr, range(0x10000)) if char != "\n"]
    lines = "\n".join(f"//#{text}" for text in texts)
    assert make_finder("//=", "//#").texts(lines) == [text.strip(WHITESPACE) for text in texts]
