"""The citations of upstream's second JSON report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from duvet.model import Annotation, Kind, Level
from duvet.reports.v2_ids import entity_id
from duvet.reports.v2_records import ByteRange, CiteRecord, KindName, LevelName, Location, Ranges
from duvet.trace.records import Coverage, Match

LEVEL_NAMES: dict[Level, LevelName] = {
    Level.AUTO: "AUTO",
    Level.MAY: "MAY",
    Level.SHOULD: "SHOULD",
    Level.MUST: "MUST",
}
_KIND_NAMES: dict[Kind, KindName] = {
    Kind.CITATION: "CITATION",
    Kind.TEST: "TEST",
    Kind.IMPLICATION: "IMPLICATION",
    Kind.EXCEPTION: "EXCEPTION",
    Kind.TODO: "TODO",
}


def targets_of(coverages: Sequence[Coverage], texts: Sequence[str]) -> dict[int, Ranges]:
    """What each annotation refers to, by its id; those with one quote share it."""
    return {
        id: target
        for coverage, text in zip(coverages, texts, strict=True)
        for match in coverage.matches
        for target in (_target(match, text),)
        for id in match.ids
    }


def _target(match: Match, text: str) -> Ranges:
    return Ranges(src=text, ranges=tuple([ByteRange(piece.start, piece.end) for piece in match.pieces]))


def union(*parts: Iterable[ByteRange]) -> tuple[ByteRange, ...]:
    """All ranges, sorted, each once."""
    return tuple(sorted({one for part in parts for one in part}))


def cite_records(
    annotations: Sequence[Annotation], files: Sequence[str], targets: dict[int, Ranges]
) -> tuple[dict[str, CiteRecord], dict[int, str]]:
    """The records by their id, and that id by the id of the annotation."""
    records: dict[str, CiteRecord] = {}
    ids: dict[int, str] = {}
    for index, annotation in enumerate(annotations):
        target = targets.get(index)
        if target is None or annotation.kind is Kind.SPEC:
            continue
        file = files[index]
        id = ids[index] = entity_id("cite", file, annotation.line, target.src)
        known = records.get(id)
        records[id] = _record(annotation, file, target) if known is None else _widened(known, target)
    return records, ids


def _record(annotation: Annotation, file: str, target: Ranges) -> CiteRecord:
    return CiteRecord(
        source=location(file, annotation),
        target=target,
        type=_KIND_NAMES[annotation.kind],
        level=LEVEL_NAMES[annotation.level],
        comment=annotation.reason or None,
        feature=annotation.feature or None,
        tracking_issue=annotation.tracking_issue or None,
        tags=annotation.tags,
    )


def _widened(record: CiteRecord, target: Ranges) -> CiteRecord:
    """Several annotations on one line have one id; the first one speaks for all."""
    return replace(record, target=replace(target, ranges=union(record.target.ranges, target.ranges)))


def location(file: str, annotation: Annotation) -> Location:
    """Where an annotation stands."""
    return Location(src=file, line=annotation.line or None)
