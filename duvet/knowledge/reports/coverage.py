"""The coverage report: indexed files, and files that can't be searched."""

from __future__ import annotations

from collections import Counter

from msgspec import UNSET, Struct, UnsetType

from duvet.knowledge.reports.facts import (
    KnowledgeAnswer,
    PastReport,
    ProjectFacts,
    RemovedArtifact,
    RunReference,
    format_iso_time,
    list_removed_artifacts,
    make_run_reference,
)
from duvet.store.records import Artifact, FileKind


class ArtifactRow(Struct, frozen=True, kw_only=True):
    """A file."""

    path: str
    artifact_type: FileKind
    subsystem: str
    subsystem_criticality: str
    chunk_count: int
    coverage_ratio: float
    git_commit: str
    git_timestamp: float | None
    content_digest: str
    skipped: str


class Freshness(Struct, frozen=True, kw_only=True):
    """How old what is known is."""

    ingested_at: float | None
    """When the run began."""
    newest_change: float | None
    oldest_change: float | None
    without_timestamp: int


class CoverageSummary(Struct, frozen=True, kw_only=True):
    """How much there is."""

    artifact_total: int
    artifact_breakdown: dict[str, int]
    chunk_count: int
    missing_artifacts: int
    removed_artifacts: int
    freshness: Freshness


class PastCoverage(PastReport, frozen=True, kw_only=True):
    """What an earlier report has come to."""

    summary: CoverageSummary


class CoverageReport(KnowledgeAnswer, frozen=True, kw_only=True):
    """The whole report."""

    generated_at: float
    generated_at_iso: str
    run: RunReference
    include_patterns: tuple[str, ...]
    summary: CoverageSummary
    artifacts: tuple[ArtifactRow, ...]
    missing_artifacts: tuple[ArtifactRow, ...]
    """Those without a piece that could be found."""
    removed_artifacts: tuple[RemovedArtifact, ...]
    history: tuple[PastCoverage, ...] | UnsetType = UNSET


def make_coverage_report(facts: ProjectFacts, now: float) -> CoverageReport:
    """What these facts come to at that time."""
    ##= man/spec/knowledge.md#reports
    ##% `km-coverage-summary` MUST list every indexed file with the reason why it has no chunks, and its totals MUST
    ##% match its lists.
    rows = tuple(_row(facts.artifacts[path]) for path in sorted(facts.artifacts))
    missing = tuple(row for row in rows if not row.chunk_count)
    removed = list_removed_artifacts(facts)
    return CoverageReport(
        generated_at=now,
        generated_at_iso=format_iso_time(now),
        run=make_run_reference(facts.run),
        include_patterns=facts.rule.include,
        summary=CoverageSummary(
            artifact_total=len(rows),
            artifact_breakdown=dict(sorted(Counter(row.artifact_type.value for row in rows).items())),
            chunk_count=sum(row.chunk_count for row in rows),
            missing_artifacts=len(missing),
            removed_artifacts=len(removed),
            freshness=_freshness(facts, rows),
        ),
        artifacts=rows,
        missing_artifacts=missing,
        removed_artifacts=removed,
    )


def _row(one: Artifact) -> ArtifactRow:
    return ArtifactRow(
        path=one.path,
        artifact_type=one.kind,
        subsystem=one.subsystem,
        subsystem_criticality=one.criticality,
        chunk_count=one.chunk_count,
        coverage_ratio=one.coverage_ratio,
        git_commit=one.git_commit,
        git_timestamp=one.git_timestamp,
        content_digest=one.digest,
        skipped=one.skipped,
    )


def _freshness(facts: ProjectFacts, rows: tuple[ArtifactRow, ...]) -> Freshness:
    times = [row.git_timestamp for row in rows if row.git_timestamp is not None]
    return Freshness(
        ingested_at=facts.run.started_at if facts.run else None,
        newest_change=max(times, default=None),
        oldest_change=min(times, default=None),
        without_timestamp=len(rows) - len(times),
    )
