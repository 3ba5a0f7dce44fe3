"""Finds the keywords of RFC 2119."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from unicodedata import category

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

# The look-behind follows the word, because a search is faster if the expression begins with letters. A word right
# before a quotation mark is mentioned, not used.
_KEYWORD = re.compile(
    "(?:" + "|".join(rf"{word}(?<!\w{word})" + r"(?: NOT\b)?+" * (word in _NEGATED) for word in _WORDS) + r')\b(?!")',
    re.ASCII,
)
_NOT = "NOT "
_OTHER_WORDS = "[\u200c\u200d\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]"
"""Characters that belong to words, in addition to letters, marks, digits and connectors."""


class Keyword(Struct, frozen=True):
    start: int
    end: int
    level: Level
    rank: int  # The index of the keyword: awslabs duvet searches each line for one keyword after the other.


_MEANINGS = {
    word + suffix: (level, rank) for rank, (word, level) in enumerate(_WORDS.items()) for suffix in ("", " NOT")
}


def find_keywords(text: str) -> Iterator[Keyword]:
    is_plain = text.isascii()
    for found in _KEYWORD.finditer(text):
        start, end = found.span()
        before, after = text[start - 1 : start], text[end : end + 1]
        # A keyword next to a letter of any script is a part of a longer word.
        if is_plain or not (_is_word(before) or (_is_word(after) and not text.endswith(" NOT", start, end))):
            # NOT RECOMMENDED begins with the NOT; this matters only after a dot.
            if text.endswith(f".{_NOT}", 0, start):
                start -= len(_NOT)
            level, rank = _MEANINGS[found[0]]
            yield Keyword(start, end, level, rank)


def _is_word(char: str) -> bool:
    if char <= "\x7f":
        return False

    kind = category(char)
    return kind[0] in "LM" or kind in ("Nd", "Nl", "Pc") or re.match(_OTHER_WORDS, char) is not None


LOWER_CASE = "lower-case keyword"  # Why a sentence is not a requirement.
INTRODUCTION = "introduction"  # The sentence introduces a list, whose items are the requirements.


@cache
def _compile_unspaced() -> re.Pattern[str]:
    """Compile the pattern for Chinese, Japanese and Korean characters, which takes 2 ms.

    No space separates a keyword from such a character.
    """
    return re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


_ANY_CASE = r"(?i)\b(must|shall|should)\b(?![\"-])"


def find_level(text: str, *, any_case: bool = False) -> Level:
    """Return the level of the strongest keyword in text, or AUTO if it contains none.

    With `any_case`, "must", "shall" and "should" count in lower case, too; the other keywords are common words.
    """
    ##= man/spec/trace.md#requirements-in-markdown
    ##% In Chinese, Japanese and Korean text, duvet MUST recognise keywords without spaces around them.
    text = text if max(text, default="") < "\u3000" else _compile_unspaced().sub(" ", text)
    level = max([keyword.level for keyword in find_keywords(text)], default=Level.AUTO)
    ##= man/spec/trace.md#requirements-in-markdown
    ##% With `keywords = "any"`, duvet MUST also recognise `must`, `shall` and `should` in lower case.
    if any_case and level < Level.MUST:
        words = [found[1].upper() for found in re.finditer(_ANY_CASE, text)]
        level = max([level, *(_WORDS[word] for word in words)])
    return level
