"""Requirements: the sentences of a section that hold a keyword of RFC 2119."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from msgspec import Struct

from duvet.model import Extracted, Section
from duvet.normalise import normalise, unspaced
from duvet.specs.keywords import Keyword, keywords
from duvet.specs.openings import END, Openings
from duvet.text import WHITESPACE, line_at, line_starts

_PARAGRAPH = "\n\n"


class _Sentence(Struct, frozen=True):
    """Where a requirement begins, what it says line by line, and its keywords."""

    start: int
    pieces: tuple[str, ...]
    keywords: list[Keyword]


def requirements(section: Section) -> tuple[Extracted, ...]:
    """The requirements of a section in the order of its text, each of them once."""
    text = _text(section)
    found = []
    for group in _equal(_sentences(text)):
        ##= man/spec/trace.md#requirements
        ##% A sentence with a keyword of RFC 2119 MUST become a requirement with the level of its strongest keyword.
        level = max([keyword.level for sentence in group for keyword in sentence.keywords])
        first = group[0] if len(group) == 1 else _first_found(text, group)
        found.append((first.start, level, first.pieces))
    return tuple([Extracted(level, pieces) for _, level, pieces in sorted(found)])


def _text(section: Section) -> str:
    """The lines of the section; where a list item begins or ends, sentences do, as at an empty line."""
    ##= man/spec/trace.md#requirements
    ##% An item of a list in Markdown MUST be a sentence of its own.
    if not section.breaks:
        return "\n".join(section.lines)
    breaks = [0, *sorted(section.breaks), len(section.lines)]
    return _PARAGRAPH.join("\n".join(section.lines[start:end]) for start, end in pairwise(breaks))


def _sentences(text: str) -> list[_Sentence]:
    spans: dict[tuple[int, int], list[Keyword]] = {}
    openings = Openings(text)
    floor = ceiling = end = -1
    for keyword in keywords(text):
        if keyword.start > ceiling:
            floor, ceiling = _paragraph(text, keyword.start)
        if keyword.end > end:
            closing = END.match(text, keyword.end, ceiling)
            end = closing.end() if closing else ceiling
        spans.setdefault((openings.before(keyword.start, floor), end), []).append(keyword)
    return [
        _Sentence(start, tuple([it for line in text[start:end].split("\n") if (it := line.strip(WHITESPACE))]), held)
        for (start, end), held in spans.items()
    ]


def _equal(sentences: list[_Sentence]) -> Iterator[list[_Sentence]]:
    """The sentences that differ in nothing but spacing that doesn't count, together."""
    ##= man/spec/trace.md#requirements
    ##% Sentences of one section that differ only in wrapping and in white space around punctuation MUST be one
    ##% requirement.
    for alike in _grouped(sentences, [unspaced("".join(each.pieces)) for each in sentences]):
        if len(alike) == 1:
            yield alike
        else:
            yield from _grouped(alike, [normalise("\n".join(each.pieces)) for each in alike])


def _grouped(sentences: list[_Sentence], keys: list[str]) -> Iterable[list[_Sentence]]:
    groups: dict[str, list[_Sentence]] = {}
    for sentence, key in zip(sentences, keys, strict=True):
        groups.setdefault(key, []).append(sentence)
    return groups.values()


def _first_found(text: str, sentences: list[_Sentence]) -> _Sentence:
    """What a search line by line finds first, which looks in each line for one keyword after the other."""
    starts = line_starts(text)

    def found_at(sentence: _Sentence) -> tuple[int, int, int]:
        return min((line_at(starts, each.start), each.rank, each.start) for each in sentence.keywords)

    return min(sentences, key=found_at)


def _paragraph(text: str, offset: int) -> tuple[int, int]:
    before = text.rfind(_PARAGRAPH, 0, offset)
    after = text.find(_PARAGRAPH, offset)
    return before + len(_PARAGRAPH) if before >= 0 else 0, after if after >= 0 else len(text)
