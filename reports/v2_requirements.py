"""The requirements of upstream's second JSON report, each with what cites its parts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain

from msgspec import Struct

from duvet.reports.v2_cites import LEVEL_NAMES, location, union
from duvet.reports.v2_ids import entity_id
from duvet.reports.v2_records import ByteRange, Ranges, RequirementRecord
from duvet.specs.resolve import displayed
from duvet.trace.finished import Finished
from duvet.trace.records import Coverage

_Ranges = tuple[ByteRange, ...]


def requirement_records(
    report: Finished, files: Sequence[str], targets: dict[int, Ranges], cites: dict[int, str]
) -> dict[str, RequirementRecord]:
    """The records by their id."""
    records: dict[str, RequirementRecord] = {}
    for coverages in _by_name(report):
        referred = tuple(map(_segments, coverages))
        for coverage in coverages:
            for ids in _stated_together(report, coverage, files):
                origin = _origin(ids, targets)
                file, first = files[ids[0]], report.trace.annotations[ids[0]]
                bounds = chain.from_iterable((one.start, one.end) for one in origin.ranges)
                records[entity_id("req", origin.src, *bounds, file, first.line)] = RequirementRecord(
                    source=location(file, first),
                    origin=origin,
                    level=LEVEL_NAMES[first.level],
                    coverage=_coverage(origin.ranges, referred, targets, cites),
                )
    return records


def _by_name(report: Finished) -> Iterator[list[Coverage]]:
    """A specification that is read in several formats is one: what cites it in one covers it in all."""
    names: dict[str, list[Coverage]] = {}
    for coverage in report.trace.coverages:
        names.setdefault(displayed(coverage.specification.locator, report.root), []).append(coverage)
    yield from names.values()


def _stated_together(report: Finished, coverage: Coverage, files: Sequence[str]) -> Iterator[list[int]]:
    """The annotations that state requirements; those on one line state one."""
    lines: dict[tuple[str, int], list[int]] = {}
    for id in sorted(coverage.tallies):
        lines.setdefault((files[id], report.trace.annotations[id].line), []).append(id)
    yield from lines.values()


def _origin(ids: list[int], targets: dict[int, Ranges]) -> Ranges:
    if len(ids) == 1:
        return targets[ids[0]]
    return Ranges(src=targets[ids[0]].src, ranges=union(*(targets[id].ranges for id in ids)))


class _Segments(Struct, frozen=True):
    """The parts of a specification that annotations refer to, in order and apart."""

    starts: list[int]
    ends: list[int]
    ids: list[tuple[int, ...]]

    def overlapping(self, ranges: _Ranges) -> Iterator[tuple[int, ...]]:
        for one in ranges:
            at = bisect_right(self.ends, one.start)
            while at < len(self.starts) and self.starts[at] < one.end:
                yield self.ids[at]
                at += 1


def _segments(coverage: Coverage) -> _Segments:
    found = sorted(
        (segment.start, segment.end, segment.ids)
        for lines in coverage.sections.values()
        for segments in lines.values()
        for segment in segments
        if segment.ids
    )
    return _Segments([one[0] for one in found], [one[1] for one in found], [one[2] for one in found])


def _coverage(
    origin: _Ranges, referred: tuple[_Segments, ...], targets: dict[int, Ranges], cites: dict[int, str]
) -> dict[str, _Ranges]:
    covered: dict[str, _Ranges] = {}
    for id in set(chain.from_iterable(chain.from_iterable(one.overlapping(origin) for one in referred))):
        cite = cites.get(id)
        if cite is not None:
            part = _clamped(targets[id].ranges, origin)
            covered[cite] = union(covered[cite], part) if cite in covered else part
    return dict(sorted(covered.items()))


def _clamped(ranges: _Ranges, origin: _Ranges) -> _Ranges:
    """The parts of the ranges that lie in the origin."""
    if ranges is origin and all(one.start < one.end for one in origin):
        return origin
    return union(
        ByteRange(max(one.start, whole.start), min(one.end, whole.end))
        for whole in origin
        for one in ranges
        if max(one.start, whole.start) < min(one.end, whole.end)
    )
