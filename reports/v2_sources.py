"""The sources of upstream's second JSON report: the files with annotations, and the specifications."""

from __future__ import annotations

from typing import NamedTuple

from duvet.model import Locator, Section, Specification
from duvet.reports.v2_ids import bytes_id, entity_id
from duvet.reports.v2_records import InlineSource, LinkedSource, Repository, SectionRecord, Span, SpecificationRecord
from duvet.specs.resolve import displayed
from duvet.text import byte_length
from duvet.trace.finished import Finished


class Linked(NamedTuple):
    """The files with annotations, and for each annotation the id of its file."""

    repositories: dict[str, Repository]
    sources: dict[str, LinkedSource]
    ids: list[str]


class Inline(NamedTuple):
    """The specifications with their sections, and for each coverage the id of its specification's text."""

    sources: dict[str, InlineSource]
    specifications: dict[str, SpecificationRecord]
    sections: dict[str, SectionRecord]
    ids: list[str]


def linked(report: Finished) -> Linked:
    """The files with annotations."""
    repositories: dict[str, Repository] = {}
    sources: dict[str, LinkedSource] = {}
    found: dict[tuple[str, str | None], str] = {}
    ids: list[str] = []
    for annotation in report.trace.annotations:
        key = (annotation.path, annotation.blob_link)
        if key not in found:
            repository = _repository(report.blob_link if key[1] is None else key[1], repositories)
            found[key] = entity_id("lnk", annotation.path, repository or "")
            sources[found[key]] = LinkedSource(file_name=annotation.path, repository=repository)
        ids.append(found[key])
    _repository(report.blob_link, repositories)
    return Linked(repositories, sources, ids)


def _repository(blob_link: str | None, known: dict[str, Repository]) -> str | None:
    if blob_link is None:
        return None
    id = entity_id("repo", blob_link)
    known[id] = Repository(blob_link=blob_link)
    return id


def inline(report: Finished) -> Inline:
    """The specifications; of several names for one text the first counts."""
    found = Inline({}, {}, {}, [])
    for coverage in report.trace.coverages:
        specification = coverage.specification
        src = bytes_id("src", specification.data)
        found.ids.append(src)
        if src not in found.sources:
            name = displayed(Locator(specification.path), report.root)
            found.sources[src] = InlineSource(file_name=name, contents=specification.data.decode())
        span = Span(src=src, start=0, end=len(specification.data))
        found.specifications.setdefault(_span_id("spc", span), _specification(specification, span))
        for section in specification.sections:
            span = _section_span(src, section)
            record = SectionRecord(source=span, short_name=section.id, long_name=section.title)
            found.sections.setdefault(_span_id("sec", span), record)
    return found


def _span_id(prefix: str, span: Span) -> str:
    return entity_id(prefix, span.src, span.start, span.end)


def _specification(specification: Specification, span: Span) -> SpecificationRecord:
    return SpecificationRecord(
        source=span,
        title=specification.title or None,
        format=specification.format.name.lower(),
        url=specification.url if specification.locator.is_url else None,
    )


def _section_span(src: str, section: Section) -> Span:
    start, end = section.heading
    if section.lines:
        end = section.starts[-1] + byte_length(section.lines[-1])
    return Span(src=src, start=start, end=end)
