"""What becomes of two records of one id that differ, but not in what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from msgspec.structs import replace

from duvet.reports.v2_records import (
    ByteRange,
    CiteRecord,
    NotApplicableRecord,
    Record,
    Report,
    RequirementRecord,
    SpecificationRecord,
)

_Coverage = dict[str, tuple[ByteRange, ...]]
_TEXTS = ("comment", "feature", "tracking_issue")
T = TypeVar("T", bound=Record)


def drift(earlier: Record, later: Record) -> Iterator[str]:
    """The fields of a citation that differ and don't matter."""
    if isinstance(earlier, CiteRecord):
        yield from (name for name in (*_TEXTS, "tags") if getattr(earlier, name) != getattr(later, name))


def joined(earlier: T, later: T) -> T:
    """Both records in one; the earlier one where they conflict."""
    ##= man/spec/trace.md#reports
    ##% The result of `duvet merge` MUST NOT depend on the order of its inputs.
    match earlier, later:
        case SpecificationRecord(), SpecificationRecord():
            return replace(earlier, url=earlier.url or later.url)
        case RequirementRecord(), RequirementRecord():
            return replace(earlier, coverage=_united(earlier.coverage, later.coverage))
        case CiteRecord(), CiteRecord():
            texts = {name: _first(getattr(earlier, name), getattr(later, name)) for name in _TEXTS}
            return replace(earlier, tags=tuple(sorted({*earlier.tags, *later.tags})), **texts)
        case NotApplicableRecord(), NotApplicableRecord():
            return replace(earlier, requirements=max(earlier.requirements, later.requirements))
    return earlier


def _first(one: str | None, other: str | None) -> str | None:
    """The text that sorts first; any text before none."""
    return min((text for text in (one, other) if text is not None), default=None)


def _united(one: _Coverage, other: _Coverage) -> _Coverage:
    return {cite: one.get(cite, ()) + other.get(cite, ()) for cite in {**one, **other}}


def tidy(report: Report) -> Report:
    """The report with sorted coverage, each range once."""
    requirements = {
        id: replace(record, coverage=_sorted(record.coverage)) if record.coverage else record
        for id, record in report.annotations.requirement.items()
    }
    return replace(report, annotations=replace(report.annotations, requirement=requirements))


def _sorted(coverage: _Coverage) -> _Coverage:
    return {cite: tuple(sorted(set(ranges))) for cite, ranges in sorted(coverage.items())}
