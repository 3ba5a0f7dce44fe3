"""Splits plain text into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

Span = tuple[int, int]

_END = re.compile(
    r"[.!?]+[\"')\]\u201d\u2019\u00bb]*(?=\s|\Z)|[\u3002\uff01\uff1f\uff0e]+[\u300d\u300f\uff09\"')\u201d\u2019]*"
)
_WORD_BEFORE = re.compile(r"(?:^|[\s(\[\"'\u201c\u2018\u2014\u2013/])([^\s(\[\"'\u201c\u2018\u2014\u2013/]{1,20})\Z")
_NEVER_LAST = re.compile(
    r"i\.e|e\.g|ie|eg|cf|vs|viz|figs?|eqs?|sect?|ch|chap|vol|pp|eds?|al|ca|approx|resp|esp|incl|excl|[dmjs]r|mrs|ms|prof|st|"
    r"rev|dept|ext|tab|art|para|seq",
    re.IGNORECASE,
)
"""Abbreviations that are always followed by another word."""
_RARELY_LAST = re.compile(r"etc|inc|ltd|co|corp", re.IGNORECASE)
"""Abbreviations that end a sentence if the next word can begin one."""
_BEFORE_NUMBERS = re.compile(r"nos?|nr|op|p", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]|[A-Z]")
_OPENING = re.compile(
    r"\s*[\"'(\u201c]*(?:The|A|An|It|Its|If|When|While|Where|This|These|That|Those|All|Each|Every|Any|In|On|For|No|As|At|"
    r"By|To|There|They|Then|Otherwise|However|Clients?|Servers?|Users?|System)\b"
)
_CAPITALISED = re.compile(r"\s*[\"'(\u201c]*[A-Z][a-z]")
_NUMBER = re.compile(r"\s*\d")
_LOWER = re.compile(r"\s*[a-z]")
_BRACKETS = {"(": ")", "[": "]", "\u201c": "\u201d", "\u300c": "\u300d", "\u300e": "\u300f", "\uff08": "\uff09"}
_MARKS = re.compile('["()\\[\\]\u201c\u201d\u300c\u300d\u300e\u300f\uff08\uff09]')


def split_sentences(text: str, code: Sequence[Span] = ()) -> Iterator[Span]:
    """Yield the sentences of a paragraph.

    Abbreviations, code, quotation marks and brackets do not end a sentence.
    """
    ##= man/spec/trace.md#markdown
    ##% duvet MUST NOT end a sentence after an abbreviation such as "e.g.", or within code, quotation marks or
    ##% parentheses.
    closed = sorted([*code, *_find_enclosed(text, code)])
    start = index = 0
    inside = 0
    for found in _END.finditer(text):
        while index < len(closed) and closed[index][0] < found.start():
            inside = max(inside, closed[index][1])
            index += 1
        if found.end() < inside or (found.end() == inside and _LOWER.match(text, found.end())):
            continue
        if text[found.start()] == "." and not _is_end(text, start, found.start(), found.end()):
            continue
        while start < found.start() and text[start].isspace():
            start += 1
        yield start, found.end()
        start = found.end()
    while start < len(text) and text[start].isspace():
        start += 1
    if start < len(text):
        yield start, len(text)


def _is_end(text: str, start: int, dot: int, end: int) -> bool:
    """Return True if the full stop at `dot` ends the sentence that begins at `start`."""
    if text.startswith("..", dot):
        return _LOWER.match(text, end) is None
    before = _WORD_BEFORE.search(text, max(start, dot - 22), dot)
    word = before[1] if before else ""
    if not word:
        return True
    if _NEVER_LAST.fullmatch(word):
        return False
    if _RARELY_LAST.fullmatch(word):
        return end == len(text) or _CAPITALISED.match(text, end) is not None
    if _BEFORE_NUMBERS.fullmatch(word):
        return _NUMBER.match(text, end) is None
    if _INITIALS.fullmatch(word):
        return end == len(text) or _OPENING.match(text, end) is not None
    # The number of a list item that Markdown doesn't recognise.
    return not (word.isdigit() and not text[start : dot - len(word)].strip())


def _find_enclosed(text: str, code: Sequence[Span]) -> Iterator[Span]:
    """Yield the outermost quotations and brackets, without unpaired marks."""
    opened: list[tuple[str, int]] = []
    counts: dict[str, int] = {}
    index = 0
    for found in _MARKS.finditer(text):
        mark, at = found[0], found.start()
        while index < len(code) and code[index][1] <= at:
            index += 1
        if index < len(code) and code[index][0] <= at:
            continue
        if mark == '"':
            if counts.get(mark):
                while opened[-1][0] != mark:
                    counts[opened.pop()[0]] -= 1
                counts[mark] = 0
                yield opened.pop()[1], at + 1
            else:
                opened.append((mark, at))
                counts[mark] = 1
        elif mark in _BRACKETS:
            opened.append((_BRACKETS[mark], at))
            counts[_BRACKETS[mark]] = counts.get(_BRACKETS[mark], 0) + 1
        elif counts.get(mark):
            while opened[-1][0] != mark:
                counts[opened.pop()[0]] -= 1
            counts[mark] -= 1
            yield opened.pop()[1], at + 1
