"""What is told of runs."""

from __future__ import annotations

from msgspec import Struct

from duvet.store.records import Run


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


def row(run: Run) -> RunRow:
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
