"""Requirements: the sentences of a section that hold a keyword of RFC 2119."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from msgspec import Struct

from duvet.model import Extracted, Section
from duvet.normalise import normalise
from duvet.specs.keywords import Keyword, keywords
from duvet.text import trim

# A dot in front of white space ends a sentence, any other hides the character behind it.
_END = re.compile(r"[^.]*(?:\.[^ \t\n][^.]*)*\.(?=[ \t\n]|\Z)")
_PARAGRAPH = "\n\n"


class _Sentence(Struct, frozen=True):
    """Where a requirement begins, what it says line by line, and its keywords."""

    start: int
    pieces: tuple[str, ...]
    keywords: list[Keyword]


class _Known(Struct, frozen=True):
    """What need not be looked for twice, by place: where sentences begin, and where the first of a line ends."""

    openings: dict[int, int]
    ends: dict[int, int]


def requirements(section: Section) -> tuple[Extracted, ...]:
    """The requirements of a section in the order of its text, each of them once."""
    text = _text(section)
    found = []
    for group in _equal(_sentences(text)):
        ##= man/spec/trace.md#requirements
        ##% A sentence with a keyword of RFC 2119 MUST become a requirement with the level of its strongest keyword.
        level = max(keyword.level for sentence in group for keyword in sentence.keywords)
        first = min(group, key=lambda each: _found_at(text, each)) if len(group) > 1 else group[0]
        found.append((first.start, level, first.pieces))
    return tuple(Extracted(level, pieces) for _, level, pieces in sorted(found))


def _text(section: Section) -> str:
    """The lines of the section; where a list item begins or ends, sentences do, as at an empty line."""
    ##= man/spec/trace.md#requirements
    ##% An item of a list in Markdown MUST be a sentence of its own.
    if not section.breaks:
        return "\n".join(section.lines)
    breaks = [0, *sorted(section.breaks), len(section.lines)]
    return _PARAGRAPH.join("\n".join(section.lines[start:end]) for start, end in pairwise(breaks))


def _sentences(text: str) -> Iterator[_Sentence]:
    spans: dict[tuple[int, int], list[Keyword]] = {}
    known = _Known({}, {})
    floor = ceiling = end = -1
    for keyword in keywords(text):
        if keyword.start > ceiling:
            floor, ceiling = _paragraph(text, keyword.start)
        if keyword.end > end:
            closing = _END.match(text, keyword.end, ceiling)
            end = closing.end() if closing else ceiling
        start = _opening(text, floor, keyword.start, known)
        spans.setdefault((start, end), []).append(keyword)
    for (start, end), held in spans.items():
        yield _Sentence(start, tuple(filter(None, map(trim, text[start:end].split("\n")))), held)


def _equal(sentences: Iterable[_Sentence]) -> Iterator[list[_Sentence]]:
    """The sentences that differ in nothing but spacing that doesn't count, together."""
    ##= man/spec/trace.md#requirements
    ##% Sentences of one section that differ only in wrapping and in white space around punctuation MUST be one
    ##% requirement.
    for alike in _grouped(sentences, lambda each: "".join("".join(each.pieces).split())):
        yield from [alike] if len(alike) == 1 else _grouped(alike, lambda each: normalise("\n".join(each.pieces)))


def _grouped(sentences: Iterable[_Sentence], key: Callable[[_Sentence], str]) -> Iterable[list[_Sentence]]:
    groups: dict[str, list[_Sentence]] = {}
    for sentence in sentences:
        groups.setdefault(key(sentence), []).append(sentence)
    return groups.values()


def _found_at(text: str, sentence: _Sentence) -> tuple[int, int, int]:
    """When a sentence is found by a search line by line, and in each line keyword by keyword."""
    return min((text.rfind("\n", 0, each.start), each.rank, each.start) for each in sentence.keywords)


def _paragraph(text: str, offset: int) -> tuple[int, int]:
    before = text.rfind(_PARAGRAPH, 0, offset)
    after = text.find(_PARAGRAPH, offset)
    return before + len(_PARAGRAPH) if before >= 0 else 0, after if after >= 0 else len(text)


def _opening(text: str, floor: int, offset: int, known: _Known) -> int:
    """Where the sentence begins that the offset is in: behind the last dot on its line, or on a line before.

    If that dot ends no sentence, the first one on its line that does counts.
    """
    limit, passed = offset, []
    openings = known.openings
    while limit not in openings:
        passed.append(limit)
        dot = text.rfind(".", floor, limit)
        if dot < 0:
            openings[limit] = floor
        elif dot + 1 == limit or text[dot + 1] in " \t\n":
            openings[limit] = dot + 1
        else:
            line = text.rfind("\n", floor, dot) + 1 or floor
            found = _first_end(text, line, dot, known.ends)
            if found > 0:
                openings[limit] = found
            else:
                limit = line
    for place in passed:
        openings[place] = openings[limit]
    return openings[limit]


def _first_end(text: str, line: int, dot: int, ends: dict[int, int]) -> int:
    """Where the first sentence on a line ends that is cut off in front of a dot, or 0."""
    if line not in ends:
        stop = text.find("\n", dot)
        found = _END.match(text, line, stop if stop >= 0 else len(text))
        ends[line] = found.end() if found else len(text)
    if ends[line] < dot:
        return ends[line]
    first = dot
    while first > line and text[first - 1] == ".":
        first -= 1
    # Of two dots in a row, the first hides the second.
    return dot if (dot - first) % 2 else 0
