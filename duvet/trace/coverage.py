"""Computes coverage for all reports, gates and tools."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise

from duvet.model import Annotation, Kind, Level, Section, Specification
from duvet.text import byte_length, split_bytes
from duvet.trace import records
from duvet.trace.catalogue import MissingWords, State
from duvet.trace.records import Coverage, Match, Segment, Tally

_Placed = tuple[int, int, int]  # The start and the end of a piece, and the index of its match.


def cover_specification(specification: Specification, matches: Iterable[Match]) -> Coverage:
    ordered = tuple(matches)
    placed: dict[int, defaultdict[int, list[_Placed]]] = {}
    for number, match in enumerate(ordered):
        lines = placed.setdefault(match.section, defaultdict(list))
        for piece in match.pieces:
            lines[piece.line].append((piece.start, piece.end, number))
    parts: list[list[Segment]] = [[] for _ in ordered]
    sections: dict[int, records.SegmentsByLine] = {}
    for index, lines in sorted(placed.items()):
        section = specification.sections[index]
        cut = sections[index] = {}
        for line, found in sorted(lines.items()):
            if line == records.TITLE_LINE:
                start, end = section.heading
            else:
                start = section.starts[line]
                end = start + byte_length(section.lines[line])
            cut[line] = _cut_line(start, end, found, ordered, parts)
    data = b"" if specification.form is None else specification.data
    stating = {id for match in ordered for id in match.stating}
    tallies: dict[int, Tally] = {}
    for match, segments in zip(ordered, parts, strict=True):
        if match.stating:
            tallies.update(dict.fromkeys(match.stating, _tally(match, segments, stating, data)))
    return Coverage(specification, ordered, sections, tallies)


def _cut_line(
    start: int, end: int, placed: list[_Placed], matches: Sequence[Match], parts: list[list[Segment]]
) -> tuple[Segment, ...]:
    ##= man/spec/trace.md#coverage
    ##% An annotation MUST cover exactly the bytes that it quotes.
    found: list[Segment] = []
    if len(placed) == 1:
        ((low, high, number),) = placed
        if start < low:
            found.append(Segment(start, low, (), 0, Level.AUTO))
        # An empty quote splits the line, but covers nothing.
        if low < high:
            match = matches[number]
            segment = Segment(low, high, match.ids, match.flags, match.level)
            found.append(segment)
            parts[number].append(segment)
        if high < end:
            found.append(Segment(high, end, (), 0, Level.AUTO))
        return tuple(found)
    waiting = sorted(placed, reverse=True)
    here: list[_Placed] = []
    for low, high in pairwise(sorted({start, end, *chain.from_iterable([one[:2] for one in placed])})):
        while waiting and waiting[-1][0] == low:
            here.append(waiting.pop())
        here = [one for one in here if one[1] > low]
        members = [matches[number] for _, _, number in here]
        ids, flags = members[0].ids if members else (), 0
        for match in members:
            flags |= match.flags
        if len(members) > 1:
            ids = tuple(sorted(chain.from_iterable([match.ids for match in members])))
        segment = Segment(low, high, ids, flags, max([match.level for match in members], default=Level.AUTO))
        found.append(segment)
        for _, _, number in here:
            parts[number].append(segment)
    return tuple(found)


_BULLET = re.compile(rb"\s*(?:[o*+-]|\xe2\x80\xa2)?\s*")


def _tally(match: Match, segments: list[Segment], stating: set[int], data: bytes) -> Tally:
    ##= man/spec/trace.md#coverage
    ##% Commands, reports and tools MUST show the same numbers for the same project.
    counts: dict[int, int] = {}
    shared: list[tuple[int, ...]] = []
    for segment in segments:
        counts[segment.flags] = counts.get(segment.flags, 0) + segment.end - segment.start
        if segment.ids is not match.ids:
            shared.append(segment.ids)
    ids = sorted(set(chain.from_iterable(shared))) if shared else match.ids if segments else ()
    related = tuple([id for id in ids if id not in stating])
    if not data or len(counts) == 1:
        return Tally(counts, related)
    ##= man/spec/trace.md#coverage
    ##% With its own schema, duvet MUST count a requirement as completely quoted if annotations quote all of its words.
    wordless = set(counts)
    for index, segment in enumerate(segments):
        text = data[segment.start : segment.end]
        if not (text.isspace() if index else _BULLET.fullmatch(text)):
            wordless.discard(segment.flags)
    return Tally(counts, related, frozenset(wordless))


_INSTEAD = {
    Kind.CITATION: records.CITATION | records.IMPLICATION | records.EXCEPTION,
    Kind.TEST: records.TEST | records.IMPLICATION | records.EXCEPTION,
    Kind.IMPLICATION: records.IMPLICATION | records.CITATION | records.EXCEPTION,
    Kind.EXCEPTION: records.CITATION | records.TEST | records.IMPLICATION | records.EXCEPTION,
    Kind.TODO: records.TODO | records.CITATION | records.TEST | records.IMPLICATION | records.EXCEPTION,
}
"""For each type, the flags of a byte that needs no annotation of that type."""


def find_partial_quotes(
    coverages: Iterable[Coverage], requirements: Iterable[records.Requirement], annotations: Sequence[Annotation]
) -> Iterator[tuple[records.Requirement, Kind, list[int], list[str]]]:
    by_specification = {coverage.specification.locator: coverage for coverage in coverages}
    parts: list[tuple[records.Requirement, Match, Coverage]] = []
    whole: set[int] = set()  # The annotations that quote at least one whole requirement.
    for requirement in requirements:
        coverage = by_specification[requirement.specification.locator]
        for match in requirement.matches:
            tally = coverage.tallies[match.stating[0]]
            counts: Counter[int] = Counter()
            for segment in _list_segments(coverage, match):
                counts.update(dict.fromkeys(segment.ids, segment.end - segment.start))
            whole.update(id for id, count in counts.items() if count == tally.total)
            if requirement.state is not State.NOT_APPLICABLE:
                parts.append((requirement, match, coverage))
    for requirement, match, coverage in parts:
        tally = coverage.tallies[match.stating[0]]
        for kind, flags in _INSTEAD.items():
            if not tally.covered(records.KIND_FLAGS[kind]) or tally.covered(flags) == tally.total:
                continue
            ids = [id for id in tally.related if annotations[id].kind is kind and id not in whole]
            missing = list(_list_missing_words(coverage, match, flags)) if ids else []
            if missing:
                yield requirement, kind, ids, missing


def find_missing_words(coverage: Coverage, requirement: records.Requirement) -> MissingWords | None:
    """Return the words that need code and those that need tests; None if the state applies to the whole requirement."""
    code, test = _INSTEAD[Kind.CITATION], _INSTEAD[Kind.TEST]
    lacking = {State.NEEDS_CODE: code, State.NEEDS_TESTS: test}.get(requirement.state, records.SPEC)
    if not any(coverage.tallies[match.stating[0]].covered(lacking) for match in requirement.matches):
        return None
    code_words, test_words = (
        {words: None for match in requirement.matches for words in _list_missing_words(coverage, match, flags)}
        for flags in (code, test)
    )
    return tuple(code_words), tuple(test_words)


def _list_segments(coverage: Coverage, match: Match) -> Iterator[Segment]:
    lines = coverage.sections[match.section]
    for piece in match.pieces:
        segments = lines[piece.line]
        first = bisect_right(segments, piece.start, key=lambda one: one.end)
        yield from segments[first : bisect_left(segments, piece.end, key=lambda one: one.start)]


def _list_missing_words(coverage: Coverage, match: Match, flags: int) -> Iterator[str]:
    section, data = coverage.specification.sections[match.section], coverage.specification.data
    wordless = coverage.tallies[match.stating[0]].wordless
    found = (one for one in _list_segments(coverage, match) if one.flags not in wordless)
    for is_covered, segments in groupby(found, lambda one: bool(one.flags & flags)):
        if not is_covered:
            parts = [(one.start, one.end) for one in segments]
            texts = (
                section.plain.words_between(low, high) if section.plain else data[low:high].decode(errors="replace")
                for low, high in parts
            )
            # The signs between the cells of a row are no words.
            if words := " ".join(" ".join(texts).split()).strip("| "):
                yield words


def find_quotes_outside_requirements(coverage: Coverage) -> tuple[int, ...]:
    if not any(match.stating for match in coverage.matches):
        return ()
    found: set[int] = set()
    for lines in coverage.sections.values():
        for segment in chain.from_iterable(lines.values()):
            if segment.flags & records.SPEC:
                found.update(segment.ids)
    quoted = (match for match in coverage.matches if match.fit is not records.Fit.TITLE)
    return tuple(sorted(id for match in quoted for id in match.ids if id not in found))


def segment_texts(section: Section, line: int, segments: tuple[Segment, ...]) -> list[str]:
    text, origin = section.lines[line], section.starts[line]
    if text.isascii():
        return [text[one.start - origin : one.end - origin] for one in segments]
    return split_bytes(text, [*[one.start - origin for one in segments], segments[-1].end - origin])
