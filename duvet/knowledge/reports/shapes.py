"""What the reports have in common."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct

from duvet.knowledge.reports.facts import ProjectFacts
from duvet.store.records import Kind, Run


class Told(Struct, frozen=True, kw_only=True):
    """An answer about what is known."""

    ##= man/spec/knowledge.md#tools
    ##% Every answer of these tools MUST have a `status`, which is `ok` unless the tool says otherwise.
    status: str = "ok"


class RunName(Struct, frozen=True):
    """The run that a report tells of."""

    run_id: str
    profile: str
    repo_head: str


class RemovedArtifact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that the last run has not found any more."""

    path: str
    artifact_type: Kind
    subsystem: str
    digest: str
    status: str
    renamed_to: str = ""


class Past(Struct, frozen=True, kw_only=True):
    """What an earlier report was about."""

    generated_at: float
    generated_at_iso: str
    run: RunName


def run_name(run: Run | None) -> RunName:
    return RunName(run.run_id, run.profile, run.repo_head) if run else RunName("", "", "")


def removed_artifacts(facts: ProjectFacts) -> tuple[RemovedArtifact, ...]:
    return tuple(
        RemovedArtifact(
            path=one.path,
            artifact_type=one.kind,
            subsystem=one.subsystem,
            digest=one.digest,
            status=one.status,
            renamed_to=one.renamed_to,
        )
        for one in (facts.run.removed if facts.run else ())
    )


def iso(seconds: float) -> str:
    """A time as people read it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
