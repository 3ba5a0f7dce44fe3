"""Words of others, made harmless."""

from __future__ import annotations

from duvet.text import one_line

MOST = 200
"""So many characters of what somebody says are shown."""


def plain(text: str) -> str:
    """The text without characters that can't be seen, but for line ends and tabs."""
    if text.isprintable():
        return text
    return "".join(char for char in text if char.isprintable() or char in "\n\t")


def said(text: str, most: int = MOST) -> str:
    """The beginning of a text on one line."""
    words = one_line(plain(text))
    return words if len(words) <= most else f"{words[: most - 1]}…"
