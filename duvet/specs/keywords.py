"""Finds RFC 2119 keywords and the requirements that contain them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from duvet.model import ExtractedSentence, Level, Section
from duvet.text import WHITESPACE, find_line_index, group_equal_texts, line_starts

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

# The look-behind follows the word, because expressions that begin with letters are found fast. A word in front of a
# quotation mark is explained, not used.
_KEYWORD = re.compile(
    "(?:" + "|".join(rf"{word}(?<!\w{word})" + r"(?: NOT\b)?+" * (word in _NEGATED) for word in _WORDS) + r')\b(?!")',
    re.ASCII,
)
_NOT = "NOT "
_DOT_NOT = f".{_NOT}"
_OTHER_WORDS = re.compile("[\u200c\u200d\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]")
"""Characters that belong to words besides letters, marks, digits and connectors."""


class Keyword(Struct, frozen=True):
    start: int
    end: int
    level: Level
    rank: int
    """The index of the keyword: awslabs duvet searches each line for one keyword after the other."""


_MEANINGS = {
    word + suffix: (level, rank) for rank, (word, level) in enumerate(_WORDS.items()) for suffix in ("", " NOT")
}


def find_keywords(text: str) -> Iterator[Keyword]:
    is_plain = text.isascii()
    for found in _KEYWORD.finditer(text):
        start, end = found.span()
        if is_plain or _is_apart(text, start, end):
            # The keyword NOT RECOMMENDED begins earlier, which matters only behind a dot.
            if text.endswith(_DOT_NOT, 0, start):
                start -= len(_NOT)
            level, rank = _MEANINGS[found[0]]
            yield Keyword(start, end, level, rank)


def _is_apart(text: str, start: int, end: int) -> bool:
    """True if no letters of any script touch the keyword."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_is_word(before) or (_is_word(after) and not text.endswith(" NOT", start, end)))


def _is_word(char: str) -> bool:
    if char <= "\x7f":
        return False
    from unicodedata import category

    kind = category(char)
    return kind[0] in "LM" or kind in ("Nd", "Nl", "Pc") or _OTHER_WORDS.match(char) is not None


# A dot in front of white space ends a sentence, any other hides the character behind it.
SENTENCE_END = re.compile(r"[^.]*(?:\.[^ \t\n][^.]*)*\.(?=[ \t\n]|\Z)")
_BLANK = " \t\n"


class SentenceOpenings:
    """Finds the beginnings of sentences in linear time.

    A sentence begins behind the last dot on its line, or on a line before. If that dot ends no sentence, the first one
    on its line that does counts.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._dot = -1
        self._dots_to = 0
        """The last dot, and the end of the text that was searched for it."""
        self._newline = -1
        self._newlines_to = 0
        self._known: dict[int, int] = {}
        """The beginnings of sentences after dots that end none."""
        self._ends: dict[int, int] = {}
        """The end of the first sentence of a line, by the beginning of the line."""

    def before(self, offset: int, floor: int) -> int:
        """The beginning of the sentence at the offset, not before the floor; both rise from call to call."""
        text = self.text
        dot = text.rfind(".", max(floor, self._dots_to), offset)
        self._dots_to = offset
        if dot < 0:
            dot = self._dot
        else:
            self._dot = dot
        if dot < floor:
            return floor
        if dot + 1 == offset or text[dot + 1] in _BLANK:
            return dot + 1
        if dot not in self._known:
            newline = text.rfind("\n", max(floor, self._newlines_to), dot)
            self._newlines_to = dot
            if newline >= 0:
                self._newline = newline
            self._look_back(dot, max(self._newline + 1, floor), floor)
        return self._known[dot]

    def _look_back(self, dot: int, line: int, floor: int) -> None:
        """Find the beginning for a dot that ends no sentence, and for all such dots on the way there."""
        text, known = self.text, self._known
        passed = []
        while dot not in known:
            passed.append(dot)
            found = self._first_end(line, dot)
            if found:
                known[dot] = found
                break
            before = text.rfind(".", floor, line)
            if before < 0 or text[before + 1] in _BLANK:
                known[dot] = before + 1 if before >= 0 else floor
                break
            dot, line = before, max(text.rfind("\n", floor, before) + 1, floor)
        for place in passed:
            known[place] = known[dot]

    def _first_end(self, line: int, dot: int) -> int:
        """The end of the first sentence on a line if a dot cuts it off, or 0."""
        text, ends = self.text, self._ends
        if line not in ends:
            stop = text.find("\n", dot)
            found = SENTENCE_END.match(text, line, stop if stop >= 0 else len(text))
            ends[line] = found.end() if found else len(text)
        if ends[line] < dot:
            return ends[line]
        first = dot
        while first > line and text[first - 1] == ".":
            first -= 1
        # Of two dots in a row, the first hides the second.
        return dot if (dot - first) % 2 else 0


_PARAGRAPH = "\n\n"


class _Sentence(Struct, frozen=True):
    start: int
    pieces: tuple[str, ...]
    keywords: list[Keyword]


def extract_requirements(section: Section) -> tuple[ExtractedSentence, ...]:
    """The requirements of a section in the order of its text, without repetitions."""
    # Sentences end where a list item begins or ends, as at an empty line.
    breaks = [0, *sorted(section.breaks), len(section.lines)]
    text = _PARAGRAPH.join("\n".join(section.lines[start:end]) for start, end in pairwise(breaks))
    found = []
    for group in group_equal_texts(_sentences(text), lambda each: "\n".join(each.pieces)):
        ##= man/spec/trace.md#requirements
        ##% Each sentence, and each item of a Markdown list, with a keyword of RFC 2119 MUST be a requirement with the
        ##% level of its strongest keyword.
        level = max([keyword.level for sentence in group for keyword in sentence.keywords])
        first = group[0] if len(group) == 1 else _first_found(text, group)
        found.append((first.start, level, first.pieces))
    return tuple([ExtractedSentence(level, pieces) for _, level, pieces in sorted(found)])


def _sentences(text: str) -> list[_Sentence]:
    spans: dict[tuple[int, int], list[Keyword]] = {}
    openings = SentenceOpenings(text)
    floor = ceiling = end = -1
    for keyword in find_keywords(text):
        if keyword.start > ceiling:
            before, after = text.rfind(_PARAGRAPH, 0, keyword.start), text.find(_PARAGRAPH, keyword.start)
            floor, ceiling = before + len(_PARAGRAPH) if before >= 0 else 0, after if after >= 0 else len(text)
        if keyword.end > end:
            closing = SENTENCE_END.match(text, keyword.end, ceiling)
            end = closing.end() if closing else ceiling
        spans.setdefault((openings.before(keyword.start, floor), end), []).append(keyword)
    return [
        _Sentence(start, tuple([it for line in text[start:end].split("\n") if (it := line.strip(WHITESPACE))]), held)
        for (start, end), held in spans.items()
    ]


def _first_found(text: str, sentences: list[_Sentence]) -> _Sentence:
    """The sentence that awslabs duvet finds first: it searches each line for one keyword after the other."""
    starts = line_starts(text)

    def found_at(sentence: _Sentence) -> tuple[int, int, int]:
        return min((find_line_index(starts, each.start), each.rank, each.start) for each in sentence.keywords)

    return min(sentences, key=found_at)
