"""Reports of earlier ingest runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from msgspec import DecodeError, Struct, ValidationError, json

from duvet.knowledge.reports.coverage import PastCoverage, make_coverage_report
from duvet.knowledge.reports.facts import PastReport, ProjectFacts
from duvet.knowledge.reports.lifecycle import PastLifecycle, make_lifecycle_report
from duvet.store.protocol import Store, StoreWriter
from duvet.store.records import IngestRun

COVERAGE_NAME, LIFECYCLE_NAME = "coverage", "lifecycle"
_KEPT = {COVERAGE_NAME: 5, LIFECYCLE_NAME: 10}
"""How many reports there are of each kind."""


PastReportType = TypeVar("PastReportType", PastCoverage, PastLifecycle)


def save_reports(writing: StoreWriter, facts: ProjectFacts, now: float) -> None:
    """Keep what the reports come to at the end of a run."""
    ##= man/spec/knowledge.md#reports
    ##% Each run MUST record the results of these reports: the last 5 of coverage and the last 10 of the lifecycle.
    covered, living = make_coverage_report(facts, now), make_lifecycle_report(facts, now)
    kept: dict[str, PastReport] = {
        COVERAGE_NAME: PastCoverage(
            generated_at=now, generated_at_iso=covered.generated_at_iso, run=covered.run, summary=covered.summary
        ),
        LIFECYCLE_NAME: PastLifecycle(
            generated_at=now, generated_at_iso=living.generated_at_iso, run=living.run, summary=living.summary
        ),
    }
    for name, then in kept.items():
        writing.put_report(name, then.run.run_id, json.encode(then), keep=_KEPT[name])


def read_report_history(store: Store, name: str, kind: type[PastReportType], limit: int) -> Sequence[PastReportType]:
    """The last ones, the newest first; what another version has kept in another shape is left out."""
    found = (_decoded(data, kind) for data in (store.reports(name, limit) if limit else ()))
    return [one for one in found if one is not None]


def _decoded(data: bytes, kind: type[PastReportType]) -> PastReportType | None:
    try:
        return json.decode(data, type=kind)
    except (DecodeError, ValidationError):
        return None


class RunRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run, without the files that it has not found any more."""

    run_id: str
    profile: str
    started_at: float
    duration_seconds: float
    success: bool
    artifact_counts: dict[str, int]
    chunk_count: int
    changed: int
    removed: int
    repo_head: str = ""
    error: str = ""


def make_run_row(run: IngestRun) -> RunRow:
    return RunRow(
        run_id=run.run_id,
        profile=run.profile,
        started_at=run.started_at,
        duration_seconds=run.duration_seconds,
        success=run.success,
        artifact_counts=run.artifact_counts,
        chunk_count=run.chunk_count,
        changed=run.changed,
        removed=len(run.removed),
        repo_head=run.repo_head,
        error=run.error,
    )
