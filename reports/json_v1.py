"""Upstream's first JSON report: specifications line by line, annotations and statuses by number."""

from __future__ import annotations

from typing import Any, BinaryIO

import msgspec

from duvet.model import Annotation, Format, Kind, Level, Section
from duvet.specs.resolve import displayed
from duvet.text import byte_slice
from duvet.trace.finished import Finished
from duvet.trace.records import (
    CITATION,
    EXCEPTION,
    IMPLICATION,
    SPEC,
    TEST,
    TITLE_LINE,
    TODO,
    Coverage,
    Lines,
    Segment,
    Tally,
)

Json = dict[str, Any]

_REFERENCE_FLAGS = {
    "spec": SPEC,
    "citation": CITATION,
    "implication": IMPLICATION,
    "test": TEST,
    "exception": EXCEPTION,
    "todo": TODO,
}
_ALL_FLAGS = SPEC | CITATION | IMPLICATION | TEST | EXCEPTION | TODO
_LEVEL_SHIFT = 6


def render(report: Finished, out: BinaryIO) -> None:
    """Write the report."""
    out.write(msgspec.json.encode(document(report)))


def document(report: Finished) -> Json:
    """The report as plain data, with the keys in upstream's order."""
    links = {"blob_link": report.blob_link, "issue_link": report.issue_link}
    trace = report.trace
    specifications = dict(zip(names_of(report), map(_specification, trace.coverages), strict=True))
    return {
        **{key: link for key, link in links.items() if link is not None},
        "specifications": dict(sorted(specifications.items())),
        "annotations": list(map(_annotation, trace.annotations, _target_paths(report))),
        "statuses": {
            str(id): _status(tally)
            for id, tally in sorted(pair for one in trace.coverages for pair in one.tallies.items())
        },
        "refs": [_reference(index) for index in range(256)],
    }


def names_of(report: Finished) -> list[str]:
    """The key of each specification. One file read in two formats gets two keys, where upstream repeats one.

    One file under two paths that show alike has one key, whose last value counts, as in upstream's report.
    """
    formats: dict[str, Format] = {}
    names: list[str] = []
    for coverage in report.trace.coverages:
        locator = coverage.specification.locator
        name = displayed(locator, report.root)
        first = formats.setdefault(name, locator.format)
        names.append(name if locator.format is first else f"{name}?format={locator.format.name.lower()}")
    return names


def _specification(coverage: Coverage) -> Json:
    specification = coverage.specification
    found: Json = {"title": specification.title} if specification.title else {}
    found["format"] = "markdown" if specification.format is Format.MARKDOWN else "ietf"
    stated = _stated_by_section(coverage)
    found["requirements"] = sorted(coverage.tallies)
    found["sections"] = [
        _section(section, coverage.sections.get(index, {}), stated.get(index))
        for index, section in enumerate(specification.sections)
    ]
    return found


def _stated_by_section(coverage: Coverage) -> dict[int, list[int]]:
    stated: dict[int, list[int]] = {}
    for match in coverage.matches:
        # A requirement that only names the section's title stands in no line of it.
        if match.flags & SPEC and match.pieces[0].line != TITLE_LINE:
            stated.setdefault(match.section, []).extend(id for id in match.ids if id in coverage.tallies)
    return {section: sorted(ids) for section, ids in stated.items()}


def _section(section: Section, lines: Lines, stated: list[int] | None) -> Json:
    shown: Any = section.lines
    if lines:
        shown = list(section.lines)
        for index, segments in lines.items():
            if index != TITLE_LINE:
                shown[index] = [_segment(section, index, segment) for segment in segments]
    found: Json = {"id": section.id, "title": section.title, "lines": shown}
    if stated:
        found["requirements"] = stated
    return found


def _segment(section: Section, line: int, segment: Segment) -> tuple[tuple[int, ...], int, str]:
    origin = section.starts[line]
    text = byte_slice(section.lines[line], segment.start - origin, segment.end - origin)
    return segment.ids, segment.flags & _ALL_FLAGS | segment.level << _LEVEL_SHIFT, text


def _target_paths(report: Finished) -> list[str | None]:
    """Files are named as they were found, by annotation id; URLs stay as they are written."""
    paths: list[str | None] = [None] * len(report.trace.annotations)
    for coverage in report.trace.coverages:
        locator = coverage.specification.locator
        if not locator.is_url:
            for match in coverage.matches:
                for id in match.ids:
                    paths[id] = locator.name
    return paths


def _annotation(annotation: Annotation, target_path: str | None) -> Json:
    path, hash_sign, section = annotation.target.partition("#")
    fields = {
        "source": annotation.path,
        "target_path": target_path if target_path is not None else path,
        "target_section": section,
        "line": annotation.line,
        "type": "" if annotation.kind is Kind.CITATION else annotation.kind.name,
        "level": annotation.level.name if annotation.level else "",
        "comment": annotation.reason,
        "feature": annotation.feature,
        "tracking_issue": annotation.tracking_issue,
        "blob_link": annotation.blob_link,
        "tags": annotation.tags,
    }
    found = {key: value for key, value in fields.items() if value}
    return {**found, "target_section": section} if hash_sign else found


def _status(tally: Tally) -> Json:
    fields: Json = {
        "spec": tally.total,
        "incomplete": tally.total - tally.covered(EXCEPTION | IMPLICATION | CITATION | TEST),
        "citation": tally.covered(CITATION),
        "implication": tally.covered(IMPLICATION),
        "test": tally.covered(TEST),
        "exception": tally.covered(EXCEPTION),
        "todo": tally.covered(TODO),
        "related": tally.related,
    }
    return {key: value for key, value in fields.items() if value}


def _reference(index: int) -> Json:
    found: Json = {name: True for name, flag in _REFERENCE_FLAGS.items() if index & flag}
    level = Level(index >> _LEVEL_SHIFT)
    return {**found, "level": level.name} if level else found
