"""What covers each byte of a specification: the one computation that every report, gate and tool reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

from duvet.model import Level, Section, Specification
from duvet.text import byte_length, parts
from duvet.trace.records import TITLE_LINE, Coverage, Lines, Match, Segment, Tally

_Placed = tuple[int, int, int]
"""Where a piece begins and ends, and the number of its match."""

_NO_LEVEL = Level.AUTO


def cover(specification: Specification, matches: Iterable[Match]) -> Coverage:
    """The segments of each line that is referred to, and what each requirement has got so far."""
    ordered = tuple(matches)
    placed: dict[int, defaultdict[int, list[_Placed]]] = {}
    for number, match in enumerate(ordered):
        lines = placed.setdefault(match.section, defaultdict(list))
        for piece in match.pieces:
            lines[piece.line].append((piece.start, piece.end, number))
    cuts = _Cuts(ordered)
    sections = {index: cuts.lines(specification.sections[index], lines) for index, lines in sorted(placed.items())}
    return Coverage(specification, ordered, sections, cuts.tallies())


class _Cuts:
    """Cuts lines, and keeps the segments that each match is cut into."""

    def __init__(self, matches: Sequence[Match]) -> None:
        self.matches = matches
        self.parts: list[list[Segment]] = [[] for _ in matches]

    def lines(self, section: Section, placed: dict[int, list[_Placed]]) -> Lines:
        """The segments of the lines of a section."""
        cut: Lines = {}
        texts, starts = section.lines, section.starts
        for line, found in sorted(placed.items()):
            if line == TITLE_LINE:
                start, end = section.heading
            else:
                start = starts[line]
                end = start + byte_length(texts[line])
            cut[line] = self._around(start, end, *found[0]) if len(found) == 1 else self._among(start, end, found)
        return cut

    def _around(self, start: int, end: int, low: int, high: int, number: int) -> tuple[Segment, ...]:
        """The segments of a line with one piece; an empty piece only cuts."""
        found: list[Segment] = []
        if start < low:
            found.append(Segment(start, low, (), 0, _NO_LEVEL))
        if low < high:
            match = self.matches[number]
            segment = Segment(low, high, match.ids, match.flags, match.level)
            found.append(segment)
            self.parts[number].append(segment)
        if high < end:
            found.append(Segment(high, end, (), 0, _NO_LEVEL))
        return tuple(found)

    def _among(self, start: int, end: int, placed: list[_Placed]) -> tuple[Segment, ...]:
        """The segments of a line with several pieces, from its beginning to its end."""
        points = {start, end}
        for low, high, _ in placed:
            points.add(low)
            points.add(high)
        found: list[Segment] = []
        waiting = sorted(placed, reverse=True)
        here: list[_Placed] = []
        for low, high in pairwise(sorted(points)):
            while waiting and waiting[-1][0] == low:
                here.append(waiting.pop())
            here = [one for one in here if one[1] > low]
            segment = _segment(low, high, [self.matches[number] for _, _, number in here])
            found.append(segment)
            for _, _, number in here:
                self.parts[number].append(segment)
        return tuple(found)

    def tallies(self) -> dict[int, Tally]:
        """What each requirement has got, by the ids of those who state it."""
        stating = {id for match in self.matches for id in match.stating}
        tallies: dict[int, Tally] = {}
        for match, segments in zip(self.matches, self.parts, strict=True):
            if match.stating:
                tally = _tally(match, segments, stating)
                for id in match.stating:
                    tallies[id] = tally
        return tallies


def _segment(low: int, high: int, matches: list[Match]) -> Segment:
    ##= man/spec/trace.md#coverage
    ##% A byte MUST count as covered by a kind of annotation if any annotation of that kind refers to it.
    if not matches:
        return Segment(low, high, (), 0, _NO_LEVEL)
    if len(matches) == 1:
        match = matches[0]
        return Segment(low, high, match.ids, match.flags, match.level)
    flags = 0
    for match in matches:
        flags |= match.flags
    ids = sorted(chain.from_iterable([match.ids for match in matches]))
    return Segment(low, high, tuple(ids), flags, max([match.level for match in matches]))


def _tally(match: Match, segments: list[Segment], stating: set[int]) -> Tally:
    ##= man/spec/trace.md#coverage
    ##% Every report MUST take its numbers from one computation.
    counts: dict[int, int] = {}
    shared: list[tuple[int, ...]] = []
    for segment in segments:
        counts[segment.flags] = counts.get(segment.flags, 0) + segment.end - segment.start
        if segment.ids is not match.ids:
            shared.append(segment.ids)
    ids = sorted(set(chain.from_iterable(shared))) if shared else match.ids if segments else ()
    return Tally(counts, tuple([id for id in ids if id not in stating]))


def segment_texts(section: Section, line: int, segments: tuple[Segment, ...]) -> list[str]:
    """The text of each segment of a line."""
    text, origin = section.lines[line], section.starts[line]
    if text.isascii():
        return [text[one.start - origin : one.end - origin] for one in segments]
    return parts(text, [*[one.start - origin for one in segments], segments[-1].end - origin])
