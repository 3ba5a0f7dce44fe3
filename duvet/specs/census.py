"""Counts the sentences of a specification that contain a keyword, and explains why some are not requirements."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from msgspec import Struct

from duvet.model import Format, PlainText, Specification
from duvet.specs.extraction import find_sentences
from duvet.text import (
    LineNumbers,
    byte_length,
    find_line_index,
    format_count,
    group_equal_texts,
    join_names,
    line_starts,
)

_MOST_LINES = 3
_LOWER = "in lower case"

_ANY_KEYWORD = re.compile(
    rb"\b(?:(?:(?:MUST|SHALL|SHOULD)(?: NOT\b)?|REQUIRED|RECOMMENDED|MAY|OPTIONAL)\b|(?i:must|shall|should)\b(?![\"-]))"
)
_REGIONS = {
    "CodeBlock": "in a code block",
    "MetadataBlock": "in front matter",
    "Heading": "in a heading",
    "Image": "in the description of an image",
    "TableHead": "in a table header",
}
_TAG = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|pre|textarea)\b.*?(?:</\1\s*>|\Z)|</?[a-z][\w-]*+[^<>]*+>|<[!?][^<>]*+>",
    re.DOTALL | re.IGNORECASE,
)


class CensusReason(Struct, frozen=True):
    words: str  # Such as `in a code block`.
    lines: tuple[int, ...]

    @property
    def description(self) -> str:
        lines = list(dict.fromkeys(self.lines))
        noun = "line" if len(lines) == 1 else "lines"
        return f"{len(self.lines)} {self.words} ({noun} {join_names(list(map(str, lines)), _MOST_LINES)})"


class Census(Struct, frozen=True):
    sentences: int
    requirements: int
    derived: int  # The requirements without their own keyword, such as those of a list below "The pot MUST:".
    reasons: tuple[CensusReason, ...]  # Why the other sentences are not requirements.
    lost: tuple[int, ...]  # The lines of the sentences without a known reason, which is a defect of duvet.

    @property
    def description(self) -> str:
        own = f", {self.derived} of them without a keyword" if self.derived else ""
        sentences = "1 sentence" if self.sentences == 1 else f"{self.sentences:,} sentences"
        return f"{sentences} with a keyword, {format_count(self.requirements, 'requirement')}{own}"


class _Stretch(NamedTuple):
    start: int
    end: int
    reason: str  # Empty for a requirement.
    text: str = ""


def take_census(specification: Specification) -> Census:
    if specification.format is Format.MARKDOWN:
        stretches = list(_list_markdown_stretches(specification))
    else:
        stretches = list(_list_text_stretches(specification))
    # Requirements take precedence, and then the smallest range.
    stretches.sort(key=lambda one: (bool(one.reason), one.end - one.start))
    bounds = sorted({bound for one in stretches for bound in (one.start, one.end)})
    owners = _find_owners(stretches, bounds)
    first = min((section.heading[0] for section in specification.sections), default=len(specification.data))
    numbers, found, lost = LineNumbers(), dict[str, list[int]](), list[int]()
    counted: set[object] = set()
    for keyword in _ANY_KEYWORD.finditer(specification.data):
        at = keyword.start()
        # Before the first boundary, this is the last entry, which is None.
        stretch = owners[bisect_right(bounds, at) - 1]
        line = numbers.of(specification.data, at)
        if stretch is not None and not stretch.reason:
            counted.add(stretch.text)
            continue
        if stretch is not None and stretch.reason == _LOWER and keyword[0].isupper():
            stretch = None
        reason = stretch.reason if stretch else _explain(specification, keyword, first)
        lines = found.setdefault(reason, []) if reason else lost
        key = (reason, stretch.start if stretch else line)
        if key not in counted:
            counted.add(key)
            lines.append(line)
    own = sum(isinstance(one, str) for one in counted)
    requirements = len({one.text for one in stretches if not one.reason})
    reasons = tuple([CensusReason(words, tuple(lines)) for words, lines in found.items()])
    sentences = own + len(lost) + sum(len(one.lines) for one in reasons)
    return Census(sentences, requirements, requirements - own, reasons, tuple(lost))


def _explain(specification: Specification, keyword: re.Match[bytes], first: int) -> str:
    if keyword.start() < first:
        return "above the first heading"
    if specification.data[keyword.end() : keyword.end() + 1] == b'"':
        return "in quotation marks"
    form = specification.form
    is_any_case = form is not None and form.any_case and specification.format is Format.MARKDOWN
    if not keyword[0].isupper() and not is_any_case:
        return _LOWER
    # A keyword may touch another word with only markup in between, as in `[a](x)MUST`.
    at, data = keyword.start(), specification.data
    plain = [
        one.plain for one in specification.sections if one.plain and one.plain.starts and one.plain.starts[0] <= at
    ]
    text, first = (plain[-1].text, _find_character(plain[-1], at, data)) if plain else ("", 0)
    around = text[max(first - 1, 0) : first] + text[first + len(keyword[0]) :][:1]
    return "in a longer word" if any(char.isalnum() or char == "_" for char in around) else ""


def _find_owners(stretches: Sequence[_Stretch], bounds: Sequence[int]) -> list[_Stretch | None]:
    coming = sorted(range(len(stretches)), key=lambda index: stretches[index].start, reverse=True)
    owners: list[_Stretch | None] = []
    around: list[int] = []
    for bound in bounds:
        while coming and stretches[coming[-1]].start == bound:
            heappush(around, coming.pop())
        while around and stretches[around[0]].end <= bound:
            heappop(around)
        owners.append(stretches[around[0]] if around else None)
    return owners or [None]


def _list_markdown_stretches(specification: Specification) -> Iterator[_Stretch]:
    from duvet.specs.markdown import CONTAINER

    data, known = specification.data, list[int]()
    for section in specification.sections:
        plain, seen = section.plain or PlainText("", (), (), ()), set[str]()
        for statement in plain.statements:
            text = f"{section.id}\0{' '.join(statement.text.split())}"
            reason = "repeated in the same section" if text in seen else ""
            seen.add(text)
            for low, high in statement.ranges:
                known.append(plain.byte_at(low))
                yield _Stretch(known[-1], plain.byte_at(high), reason, text)
        for one in plain.uncounted:
            known.append(one.start)
            end = plain.byte_at(_find_character(plain, one.start, data) + len(one.text))
            yield _Stretch(one.start, end, _REASONS.get(one.reason, f"in text that {one.reason}"))
    yield from _list_regions(data, sorted(known))
    for line in re.finditer(rb"^" + CONTAINER.pattern, data, re.MULTILINE):
        yield _Stretch(*line.span(), "in the title of a note or warning")


_REASONS = {
    "lower-case keyword": _LOWER,
    "no id": "without an id",
    "introduction": "in the introduction of a list",
    "keyword without other words": "without other words",
}


def _find_character(plain: PlainText, byte: int, data: bytes) -> int:
    index = max(bisect_right(plain.starts, byte) - 1, 0)
    first, start = plain.offsets[index], plain.starts[index]
    last = plain.offsets[index + 1] if index + 1 < len(plain.offsets) else len(plain.text)
    # After the last run of a block there is a line end, which is in no run.
    if plain.text.isascii() and last - first - 1 <= plain.ends[index] - start <= last - first:
        return first + byte - start
    return first + len(data[start:byte].decode(errors="replace"))


def _list_regions(data: bytes, known: Sequence[int]) -> Iterator[_Stretch]:
    from duvet.specs.markdown import list_extended_events

    last = 0
    for kind, tag, _, start, end in list_extended_events(data.decode()):
        if kind == "Start":
            if tag in _REGIONS:
                yield _Stretch(start, end, _REGIONS[tag])
            elif tag == "HtmlBlock":
                yield from _list_tags(data, start, end)
            elif tag == "TableRow" and bisect_left(known, start) < bisect_left(known, end):
                # Priorities, states and the like are not part of the row's requirement.
                yield _Stretch(start, end, "in a table cell outside the requirement")
            continue
        if kind in ("Text", "Code", "Html", "InlineHtml"):
            # Link targets, bullets and other markup are between the texts.
            if start > last:
                yield _Stretch(last, start, "in a link or other markup")
            last = max(last, end)
        if kind == "Code":
            yield _Stretch(start, end, "in code")
        elif kind == "InlineHtml":
            yield from _list_tags(data, start, end)
    yield _Stretch(last, len(data), "in a link or other markup")


def _list_tags(data: bytes, start: int, end: int) -> Iterator[_Stretch]:
    for tag in _TAG.finditer(data, start, end):
        yield _Stretch(*tag.span(), "in an HTML comment" if tag[0].startswith(b"<!--") else "in an HTML tag")


def _list_text_stretches(specification: Specification) -> Iterator[_Stretch]:
    lines: list[tuple[int, int]] = []
    for section in specification.sections:
        yield _Stretch(*section.heading, "in a heading")
        text = "\n".join(section.lines)
        firsts = line_starts(text)
        lines += [(start, start + byte_length(line)) for start, line in zip(section.starts, section.lines, strict=True)]
        sentences = find_sentences(text)
        for group in group_equal_texts(sentences, ["\n".join(one.pieces) for one in sentences]):
            for number, sentence in enumerate(group):
                for keyword in sentence.keywords:
                    row = find_line_index(firsts, keyword.start)
                    line = section.lines[row]
                    low, high = (
                        section.starts[row] + byte_length(line[: at - firsts[row]])
                        for at in (keyword.start, keyword.end)
                    )
                    reason = "repeated in the same section" if number else ""
                    yield _Stretch(low, high, reason, f"{section.id}\0{group[0].start}")
    last = min((section.heading[0] for section in specification.sections), default=len(specification.data))
    for start, end in sorted(lines):
        if start > last:
            yield _Stretch(last, start, "in a page header or footer")
        last = max(last, end)
