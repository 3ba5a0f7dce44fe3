"""The keywords of RFC 2119 in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from duvet.model import Level

_NEGATED = ("MUST", "SHALL", "SHOULD")
_WORDS = {
    "MUST": Level.MUST,
    "SHALL": Level.MUST,
    "REQUIRED": Level.MUST,
    "SHOULD": Level.SHOULD,
    "RECOMMENDED": Level.SHOULD,
    "MAY": Level.MAY,
    "OPTIONAL": Level.MAY,
}

# What may not stand before a word is looked at behind it: an expression that begins with letters is found fast.
# A word in front of a quotation mark is explained, not used.
_KEYWORD = re.compile(
    "(?:" + "|".join(rf"{word}(?<!\w{word})" + r"(?: NOT\b)?+" * (word in _NEGATED) for word in _WORDS) + r')\b(?!")',
    re.ASCII,
)
_NOT = "NOT "
_DOT_NOT = f".{_NOT}"
_OTHER_WORDS = re.compile("[\u200c\u200d\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]")
"""What counts as part of a word besides letters, marks, digits and connectors."""


class Keyword(Struct, frozen=True):
    """An occurrence of a keyword."""

    start: int
    end: int
    level: Level
    rank: int
    """Which of the keywords this is: in one line, all occurrences of one count before those of the next."""


_MEANINGS = {
    word + suffix: (level, rank) for rank, (word, level) in enumerate(_WORDS.items()) for suffix in ("", " NOT")
}


def keywords(text: str) -> Iterator[Keyword]:
    """The keywords of a text in its order."""
    is_plain = text.isascii()
    for found in _KEYWORD.finditer(text):
        start, end = found.span()
        if is_plain or _is_apart(text, start, end):
            # The keyword NOT RECOMMENDED begins earlier, which matters behind a dot alone.
            if text.endswith(_DOT_NOT, 0, start):
                start -= len(_NOT)
            level, rank = _MEANINGS[found[0]]
            yield Keyword(start, end, level, rank)


def _is_apart(text: str, start: int, end: int) -> bool:
    """Whether the keyword is a word of its own, where letters of all scripts count."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_is_word(before) or (_is_word(after) and not text.endswith(" NOT", start, end)))


def _is_word(char: str) -> bool:
    if char <= "\x7f":
        return False
    from unicodedata import category

    kind = category(char)
    return kind[0] in "LM" or kind in ("Nd", "Nl", "Pc") or _OTHER_WORDS.match(char) is not None
