"""awslabs duvet's first JSON report: specifications by line, and numbered annotations and statuses."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, BinaryIO

import msgspec

from duvet.model import Format, Kind, Level
from duvet.specs.locator import format_locator, locate_specification
from duvet.trace import records
from duvet.trace.coverage import segment_texts

Json = dict[str, Any]

_REFERENCE_FLAGS = {
    "spec": records.SPEC,
    "citation": records.CITATION,
    "implication": records.IMPLICATION,
    "test": records.TEST,
    "exception": records.EXCEPTION,
    "todo": records.TODO,
}
_ALL_FLAGS = records.SPEC | records.CITATION | records.IMPLICATION | records.TEST | records.EXCEPTION | records.TODO
_LEVEL_SHIFT = 6


def render_json_v1(report: records.Finished, out: BinaryIO) -> None:
    ##= man/spec/trace.md#reports
    ##% With awslabs duvet's schema, the snapshot, LCOV and both versions of the JSON report MUST equal the files
    ##% that awslabs duvet writes, except for known defects of awslabs duvet.
    links = {"blob_link": report.blob_link, "issue_link": report.issue_link}
    formats: dict[str, Format] = {}
    specifications: Json = {}
    statuses: dict[str, _Status] = {}
    for coverage in report.trace.coverages:
        locator = coverage.specification.locator
        name = format_locator(locator, report.root)
        # A file read in two formats gets two keys. As in awslabs duvet's report, two paths that look alike get one key,
        # with the value of the last one.
        if locator.format is not formats.setdefault(name, locator.format):
            name = f"{name}?format={locator.format.name.lower()}"
        specifications[name] = _build_specification(coverage)
        statuses.update((str(id), _build_status(tally)) for id, tally in sorted(coverage.tallies.items()))
    document = {
        **{key: link for key, link in links.items() if link is not None},
        "specifications": dict(sorted(specifications.items())),
        "annotations": _build_annotations(report),
        "statuses": statuses,
        "refs": [
            {name: True for name, flag in _REFERENCE_FLAGS.items() if index & flag}
            | ({"level": Level(index >> _LEVEL_SHIFT).name} if index >> _LEVEL_SHIFT else {})
            for index in range(256)
        ],
        **({"not_applicable": report.not_applicable} if report.not_applicable else {}),
    }
    out.write(msgspec.json.encode(document))


def _build_specification(coverage: records.Coverage) -> Json:
    specification = coverage.specification
    found: Json = {"title": specification.title} if specification.title else {}
    found["format"] = "markdown" if specification.format is Format.MARKDOWN else "ietf"
    by_section: dict[int, list[int]] = {}
    for match in coverage.matches:
        # Quotes of titles and of single bytes cover no text.
        if match.flags & records.SPEC and any(
            piece.line != records.TITLE_LINE and piece.start < piece.end for piece in match.pieces
        ):
            by_section.setdefault(match.section, []).extend(id for id in match.ids if id in coverage.tallies)
    stated = {section: sorted(ids) for section, ids in by_section.items() if ids}
    found["requirements"] = sorted(coverage.tallies)
    sections: list[Json] = []
    for index, section in enumerate(specification.sections):
        shown: list[Any] = list(section.lines)
        for line, segments in coverage.sections.get(index, {}).items():
            if line != records.TITLE_LINE:
                texts = [section.lines[line]] if len(segments) == 1 else segment_texts(section, line, segments)
                shown[line] = [
                    (segment.ids, segment.flags & _ALL_FLAGS | segment.level << _LEVEL_SHIFT, text)
                    for segment, text in zip(segments, texts, strict=True)
                ]
        sections.append({"id": section.id, "title": section.title, "lines": shown})
        if index in stated:
            sections[-1]["requirements"] = stated[index]
    return {**found, "sections": sections}


@lru_cache(maxsize=256)
def _is_same_path(one: str, other: str) -> bool:
    return locate_specification(one) == locate_specification(other)


class _Annotation(msgspec.Struct, omit_defaults=True):
    source: str
    target_path: str
    target_section: str | None = None
    line: int = 0
    type: str = ""
    level: str = ""
    comment: str = ""
    feature: str = ""
    tracking_issue: str = ""
    blob_link: str | None = None
    tags: tuple[str, ...] = ()


_TYPES = tuple("" if kind is Kind.CITATION else kind.name for kind in Kind)
_LEVELS = tuple(level.name if level else "" for level in Level)


def _build_annotations(report: records.Finished) -> list[_Annotation]:
    # The path at which each annotation's target was found; None for URLs and invalid targets.
    paths: list[str | None] = [None] * len(report.trace.annotations)
    for coverage in report.trace.coverages:
        locator = coverage.specification.locator
        if not locator.is_url:
            for match in coverage.matches:
                for id in match.ids:
                    paths[id] = locator.written or locator.name
    return [
        _Annotation(
            report.spelled.get(one.path, one.path),
            path if found is None or path == found or _is_same_path(path, found) else found,
            section if hash_sign else None,
            one.line,
            _TYPES[one.kind],
            _LEVELS[one.level],
            one.reason,
            one.feature,
            one.tracking_issue,
            one.blob_link,
            one.tags,
        )
        for one, found in zip(report.trace.annotations, paths, strict=True)
        for path, hash_sign, section in (one.target.partition("#"),)
    ]


class _Status(msgspec.Struct, omit_defaults=True):
    spec: int = 0
    incomplete: int = 0
    citation: int = 0
    implication: int = 0
    test: int = 0
    exception: int = 0
    todo: int = 0
    related: tuple[int, ...] = ()


def _build_status(tally: records.Tally) -> _Status:
    completing = records.EXCEPTION | records.IMPLICATION | records.CITATION | records.TEST
    spec = incomplete = citation = implication = test = exception = todo = 0
    for flags, count in tally.bytes_by_flags.items():
        spec += count
        incomplete += 0 if flags & completing else count
        citation += count if flags & records.CITATION else 0
        implication += count if flags & records.IMPLICATION else 0
        test += count if flags & records.TEST else 0
        exception += count if flags & records.EXCEPTION else 0
        todo += count if flags & records.TODO else 0
    return _Status(spec, incomplete, citation, implication, test, exception, todo, tally.related)
