"""How things stand with what was taken in, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.store.errors import StoreError
from duvet.tools.desk import Desk
from duvet.tools.services import KNOWLEDGE

if TYPE_CHECKING:
    from duvet.knowledge.knowledge import Knowledge, OpenStore

_MOST = 100
"""Reports that are counted."""


class Standing(Struct, frozen=True, kw_only=True):
    """What the last run has left, as each metric has it, without the `km_` before it."""

    ingest_duration_seconds: float = 0
    ingest_artifacts_total: int = 0
    ingest_chunks_total: int = 0
    ingest_last_run_status: bool = False
    ingest_last_run_timestamp: float = 0
    ingest_skips_total: int = 0
    ingest_stale_resolved_total: int = 0
    coverage_last_run_status: bool = False
    coverage_last_run_timestamp: float = 0
    coverage_missing_artifacts_total: int = 0
    coverage_stale_artifacts_total: int = 0
    coverage_history_snapshots: int = 0
    lifecycle_last_run_status: bool = False
    lifecycle_last_run_timestamp: float = 0
    lifecycle_stale_docs_total: int = 0
    lifecycle_isolated_nodes_total: int = 0
    lifecycle_missing_test_subsystems_total: int = 0
    lifecycle_removed_artifacts_total: int = 0
    lifecycle_history_snapshots: int = 0


NOTHING = Standing()


async def standing(desk: Desk) -> Standing | None:
    """How things stand now; None where nobody can ask what is known."""
    from anyio import to_thread

    knowledge: Knowledge | None = desk.house.services.get(KNOWLEDGE)
    if knowledge is None:
        return None
    try:
        return await to_thread.run_sync(knowledge.ask, _found)
    except StoreError:
        ##= man/spec/gateway.md#telemetry
        ##% `/metrics` MUST tell what is known now of the last run, of the files that were taken in and of what has become
        ##% of them, as `km_ingest_`, `km_coverage_` and `km_lifecycle_` gauges, and MUST answer where the store can't be
        ##% read.
        return NOTHING


def _found(known: OpenStore) -> Standing:
    from duvet.knowledge.reports.coverage import CoverageThen
    from duvet.knowledge.reports.history import COVERAGE, LIFECYCLE, history
    from duvet.knowledge.reports.lifecycle import LifecycleThen

    runs = known.store.runs(limit=1)
    if not runs:
        return NOTHING
    run = runs[0]
    files = sum(run.artifact_counts.values())
    covered = history(known.store, COVERAGE, CoverageThen, _MOST)
    living = history(known.store, LIFECYCLE, LifecycleThen, _MOST)
    gone, stood = (covered[0].summary if covered else None), (living[0].summary if living else None)
    return Standing(
        ingest_duration_seconds=run.duration_seconds,
        ingest_artifacts_total=files,
        ingest_chunks_total=run.chunk_count,
        ingest_last_run_status=run.success,
        ingest_last_run_timestamp=run.started_at,
        ingest_skips_total=max(files - run.changed, 0),
        ingest_stale_resolved_total=len(run.removed),
        coverage_last_run_status=bool(covered) and covered[0].run.run_id == run.run_id,
        coverage_last_run_timestamp=covered[0].generated_at if covered else 0,
        coverage_missing_artifacts_total=gone.missing_artifacts if gone else 0,
        coverage_stale_artifacts_total=gone.removed_artifacts if gone else 0,
        coverage_history_snapshots=len(covered),
        lifecycle_last_run_status=bool(living) and living[0].run.run_id == run.run_id,
        lifecycle_last_run_timestamp=living[0].generated_at if living else 0,
        lifecycle_stale_docs_total=stood.stale_docs if stood else 0,
        lifecycle_isolated_nodes_total=stood.isolated_nodes if stood else 0,
        lifecycle_missing_test_subsystems_total=stood.subsystems_missing_tests if stood else 0,
        lifecycle_removed_artifacts_total=stood.removed_artifacts if stood else 0,
        lifecycle_history_snapshots=len(living),
    )
