"""From a finished trace to the records of upstream's second JSON report."""

from __future__ import annotations

from duvet.reports.v2_cites import cite_records, targets_of
from duvet.reports.v2_not_applicable import not_applicable_records
from duvet.reports.v2_records import Annotations, Report, Sources
from duvet.reports.v2_requirements import requirement_records
from duvet.reports.v2_sources import inline, linked
from duvet.trace.finished import Finished


def build(report: Finished) -> Report:
    """The records of a report."""
    files, texts = linked(report), inline(report)
    targets = targets_of(report.trace.coverages, texts.ids)
    cites, cite_ids = cite_records(report.trace.annotations, files.ids, targets)
    return Report(
        () if report.issue_link is None else (report.issue_link,),
        files.repositories,
        Sources(texts.sources, files.sources),
        Annotations(
            texts.specifications,
            texts.sections,
            requirement_records(report, files.ids, targets, cite_ids),
            cites,
            not_applicable_records(report.not_applicable),
        ),
    )
