"""JSON v2, awslabs duvet's second report format."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import BinaryIO, NamedTuple, cast

from fnv_c import fnv1a_64  # type: ignore[import-untyped]
from msgspec import Struct
from msgspec.structs import replace

from duvet.model import Annotation, Kind, Level, Locator, Specification
from duvet.reports.json_v2_records import (
    ByteRange,
    CiteRecord,
    InlineSource,
    KindName,
    LevelName,
    LinkedSource,
    NotApplicableRecord,
    RepositoryRecord,
    RequirementRecord,
    SectionRecord,
    SourceLocation,
    SourceRanges,
    SourceSpan,
    SpecificationRecord,
    V2Annotations,
    V2Report,
    V2Sources,
    encode_v2_report,
)
from duvet.specs.locator import format_locator
from duvet.text import byte_length
from duvet.trace.records import Coverage, Finished, NotApplicable


def render_json_v2(report: Finished, out: BinaryIO) -> None:
    # Hashing is loaded for this report alone.
    out.write(encode_v2_report(build_v2_report(report)))


def make_bytes_id(prefix: str, data: bytes) -> str:
    """The id of an entity that is these bytes."""
    return f"{prefix}-{fnv1a_64(data):016x}"


def make_entity_id(prefix: str, *fields: str | int) -> str:
    """The id of an entity that has these fields."""
    return make_bytes_id(prefix, "\0".join(map(str, fields)).encode())


_LEVEL_NAMES = {level: cast("LevelName", level.name) for level in Level}
_KIND_NAMES = {kind: cast("KindName", kind.name) for kind in Kind if kind is not Kind.SPEC}


def group_targets(coverages: Sequence[Coverage], texts: Sequence[str]) -> dict[int, SourceRanges]:
    """Return the requirement ids of each annotation; annotations with one quote share them."""
    return {
        id: target
        for coverage, text in zip(coverages, texts, strict=True)
        for match in coverage.matches
        for target in (
            SourceRanges(src=text, ranges=tuple([ByteRange(piece.start, piece.end) for piece in match.pieces])),
        )
        for id in match.ids
    }


def merge_ranges(*parts: Iterable[ByteRange]) -> tuple[ByteRange, ...]:
    """All ranges, sorted, each once."""
    return tuple(sorted({one for part in parts for one in part}))


def make_cite_records(
    annotations: Sequence[Annotation], files: Sequence[str], targets: dict[int, SourceRanges]
) -> tuple[dict[str, CiteRecord], dict[int, str]]:
    """The records by their id, and that id by the id of the annotation."""
    records: dict[str, CiteRecord] = {}
    ids: dict[int, str] = {}
    for index, annotation in enumerate(annotations):
        target = targets.get(index)
        if target is None or annotation.kind is Kind.SPEC:
            continue
        file = files[index]
        id = ids[index] = make_entity_id("cite", file, annotation.line, target.src)
        known = records.get(id)
        if known is None:
            records[id] = CiteRecord(
                source=make_location(file, annotation),
                target=target,
                type=_KIND_NAMES[annotation.kind],
                level=_LEVEL_NAMES[annotation.level],
                comment=annotation.reason or None,
                feature=annotation.feature or None,
                tracking_issue=annotation.tracking_issue or None,
                tags=annotation.tags,
            )
        else:
            # Several annotations on one line have one id; the first one speaks for all.
            ranges = merge_ranges(known.target.ranges, target.ranges)
            records[id] = replace(known, target=replace(known.target, ranges=ranges))
    return records, ids


def make_location(file: str, annotation: Annotation) -> SourceLocation:
    return SourceLocation(src=file, line=annotation.line or None)


def make_not_applicable_records(entries: Iterable[NotApplicable]) -> dict[str, NotApplicableRecord]:
    ##= man/spec/gates.md#not-applicable
    ##% The summary, the report, both versions of JSON and the snapshot MUST list every entry with its target, reason,
    ##% owner, expiry date and number of requirements.
    return {
        make_entity_id("not", one.target, one.quote, one.reason, one.owner, str(one.expiry or "")): NotApplicableRecord(
            one.target, one.reason, one.requirements, one.quote or None, one.owner or None, one.expiry
        )
        for one in entries
    }


_Ranges = tuple[ByteRange, ...]


def make_requirement_records(
    report: Finished, files: Sequence[str], targets: dict[int, SourceRanges], cites: dict[int, str]
) -> dict[str, RequirementRecord]:
    records: dict[str, RequirementRecord] = {}
    for coverages in _by_name(report):
        referred = tuple(map(_segments, coverages))
        for coverage in coverages:
            for ids in _stated_together(report, coverage, files):
                origin = targets[ids[0]]
                if len(ids) > 1:
                    origin = replace(origin, ranges=merge_ranges(*(targets[id].ranges for id in ids)))
                file, first = files[ids[0]], report.trace.annotations[ids[0]]
                bounds = chain.from_iterable((one.start, one.end) for one in origin.ranges)
                records[make_entity_id("req", origin.src, *bounds, file, first.line)] = RequirementRecord(
                    source=make_location(file, first),
                    origin=origin,
                    level=_LEVEL_NAMES[first.level],
                    coverage=_coverage(origin.ranges, referred, targets, cites),
                )
    return records


def _by_name(report: Finished) -> Iterator[list[Coverage]]:
    """A specification that is read in several formats is one: what cites it in one covers it in all."""
    names: dict[str, list[Coverage]] = {}
    for coverage in report.trace.coverages:
        names.setdefault(format_locator(coverage.specification.locator, report.root), []).append(coverage)
    yield from names.values()


def _stated_together(report: Finished, coverage: Coverage, files: Sequence[str]) -> Iterator[list[int]]:
    """The annotations that state requirements; those on one line state one."""
    lines: dict[tuple[str, int], list[int]] = {}
    for id in sorted(coverage.tallies):
        lines.setdefault((files[id], report.trace.annotations[id].line), []).append(id)
    yield from lines.values()


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
    origin: _Ranges, referred: tuple[_Segments, ...], targets: dict[int, SourceRanges], cites: dict[int, str]
) -> dict[str, _Ranges]:
    covered: dict[str, _Ranges] = {}
    for id in set(chain.from_iterable(chain.from_iterable(one.overlapping(origin) for one in referred))):
        cite = cites.get(id)
        if cite is not None:
            # The parts of the ranges that lie in the origin.
            ranges = targets[id].ranges
            if ranges is origin and all(one.start < one.end for one in origin):
                part = origin
            else:
                part = merge_ranges(
                    ByteRange(max(one.start, whole.start), min(one.end, whole.end))
                    for whole in origin
                    for one in ranges
                    if max(one.start, whole.start) < min(one.end, whole.end)
                )
            covered[cite] = merge_ranges(covered[cite], part) if cite in covered else part
    return dict(sorted(covered.items()))


class LinkedSources(NamedTuple):
    """The files with annotations, and for each annotation the id of its file."""

    repositories: dict[str, RepositoryRecord]
    sources: dict[str, LinkedSource]
    ids: list[str]


class InlineSources(NamedTuple):
    """The specifications with their sections, and for each coverage the id of its specification's text."""

    sources: dict[str, InlineSource]
    specifications: dict[str, SpecificationRecord]
    sections: dict[str, SectionRecord]
    ids: list[str]


def _repository(blob_link: str | None, known: dict[str, RepositoryRecord]) -> str | None:
    if blob_link is None:
        return None
    id = make_entity_id("repo", blob_link)
    known[id] = RepositoryRecord(blob_link=blob_link)
    return id


def make_inline_sources(report: Finished) -> InlineSources:
    """The specifications; of several names for one text the first counts."""
    found = InlineSources({}, {}, {}, [])
    for coverage in report.trace.coverages:
        specification = coverage.specification
        src = make_bytes_id("src", specification.data)
        found.ids.append(src)
        if src not in found.sources:
            name = format_locator(Locator(specification.path), report.root)
            found.sources[src] = InlineSource(file_name=name, contents=specification.data.decode())
        span = SourceSpan(src=src, start=0, end=len(specification.data))
        found.specifications.setdefault(_span_id("spc", span), _specification(specification, span))
        for section in specification.sections:
            start, end = section.heading
            if section.lines:
                end = section.starts[-1] + byte_length(section.lines[-1])
            span = SourceSpan(src=src, start=start, end=end)
            record = SectionRecord(source=span, short_name=section.id, long_name=section.title)
            found.sections.setdefault(_span_id("sec", span), record)
    return found


def _span_id(prefix: str, span: SourceSpan) -> str:
    return make_entity_id(prefix, span.src, span.start, span.end)


def _specification(specification: Specification, span: SourceSpan) -> SpecificationRecord:
    return SpecificationRecord(
        source=span,
        title=specification.title or None,
        format=specification.format.name.lower(),
        url=specification.url if specification.locator.is_url else None,
    )


def build_v2_report(report: Finished) -> V2Report:
    repositories: dict[str, RepositoryRecord] = {}
    sources: dict[str, LinkedSource] = {}
    found: dict[tuple[str, str | None], str] = {}
    ids: list[str] = []
    for annotation in report.trace.annotations:
        key = (annotation.path, annotation.blob_link)
        if key not in found:
            repository = _repository(report.blob_link if key[1] is None else key[1], repositories)
            found[key] = make_entity_id("lnk", annotation.path, repository or "")
            sources[found[key]] = LinkedSource(file_name=annotation.path, repository=repository)
        ids.append(found[key])
    _repository(report.blob_link, repositories)
    files, texts = LinkedSources(repositories, sources, ids), make_inline_sources(report)
    targets = group_targets(report.trace.coverages, texts.ids)
    cites, cite_ids = make_cite_records(report.trace.annotations, files.ids, targets)
    return V2Report(
        () if report.issue_link is None else (report.issue_link,),
        files.repositories,
        V2Sources(texts.sources, files.sources),
        V2Annotations(
            texts.specifications,
            texts.sections,
            make_requirement_records(report, files.ids, targets, cite_ids),
            cites,
            make_not_applicable_records(report.not_applicable),
        ),
    )
