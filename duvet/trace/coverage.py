"""What covers each byte of a specification: the one computation that every report, gate and tool reads."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from duvet.model import Annotation, Kind, Level, Section, Specification
from duvet.text import byte_length
from duvet.trace.records import SPEC, TITLE_LINE, Coverage, Lines, Match, Piece, Segment, Tally

_Placed = tuple[Piece, Match]


def cover(specification: Specification, matches: Iterable[Match], annotations: tuple[Annotation, ...]) -> Coverage:
    """The segments of each line that is referred to, and what each requirement has got so far."""
    ordered = tuple(matches)
    placed: dict[int, dict[int, list[_Placed]]] = {}
    for match in ordered:
        lines = placed.setdefault(match.section, {})
        for piece in match.pieces:
            lines.setdefault(piece.line, []).append((piece, match))
    sections = {index: _cut_lines(specification, index, lines) for index, lines in sorted(placed.items())}
    tallies: dict[int, Tally] = {}
    for match in ordered:
        if match.flags & SPEC:
            tally = _tally(match, sections[match.section], annotations)
            tallies.update((id, tally) for id in match.ids if annotations[id].kind is Kind.SPEC)
    return Coverage(specification, ordered, sections, tallies)


def _cut_lines(specification: Specification, index: int, placed: dict[int, list[_Placed]]) -> Lines:
    section = specification.sections[index]
    cut: Lines = {}
    for line, found in sorted(placed.items()):
        if line == TITLE_LINE:
            start, end = section.heading
        else:
            start = section.starts[line]
            end = start + byte_length(section.lines[line])
        cut[line] = _segments(start, end, found)
    return cut


def _segments(start: int, end: int, placed: list[_Placed]) -> tuple[Segment, ...]:
    if len(placed) == 1:
        return _around(start, end, *placed[0])
    points = {start, end}
    for piece, _ in placed:
        points.add(piece.start)
        points.add(piece.end)
    return tuple(_segment(low, high, placed) for low, high in pairwise(sorted(points)))


def _around(start: int, end: int, piece: Piece, match: Match) -> tuple[Segment, ...]:
    """The segments of a line with one piece; an empty piece only cuts."""
    whole = Segment(piece.start, piece.end, match.ids, match.flags, match.level)
    found = [Segment(start, piece.start, (), 0, Level.AUTO), whole, Segment(piece.end, end, (), 0, Level.AUTO)]
    return tuple([one for one in found if one.start < one.end])


def _segment(low: int, high: int, placed: list[_Placed]) -> Segment:
    ##= man/spec/trace.md#coverage
    ##% A byte MUST count as covered by a kind of annotation if any annotation of that kind refers to it.
    here = [match for piece, match in placed if piece.start <= low and piece.end >= high]
    if not here:
        return Segment(low, high, (), 0, Level.AUTO)
    if len(here) == 1:
        match = here[0]
        return Segment(low, high, match.ids, match.flags, match.level)
    flags = 0
    for match in here:
        flags |= match.flags
    ids = sorted(id for match in here for id in match.ids)
    return Segment(low, high, tuple(ids), flags, max(match.level for match in here))


def segment_texts(section: Section, line: int, segments: tuple[Segment, ...]) -> list[str]:
    """The text of each segment of a line."""
    text, origin = section.lines[line], section.starts[line]
    if text.isascii():
        return [text[segment.start - origin : segment.end - origin] for segment in segments]
    data = text.encode()
    return [data[one.start - origin : one.end - origin].decode(errors="replace") for one in segments]


def _tally(match: Match, lines: Lines, annotations: tuple[Annotation, ...]) -> Tally:
    ##= man/spec/trace.md#coverage
    ##% Every report MUST take its numbers from one computation.
    counts: dict[int, int] = {}
    ids: set[int] = set()
    for piece in match.pieces:
        for segment in lines[piece.line]:
            if piece.start <= segment.start and segment.end <= piece.end:
                counts[segment.flags] = counts.get(segment.flags, 0) + segment.end - segment.start
                ids.update(segment.ids)
    related = sorted(id for id in ids if annotations[id].kind is not Kind.SPEC)
    return Tally(counts, tuple(related))
